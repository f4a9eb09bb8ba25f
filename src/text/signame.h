/* SPDX-License-Identifier: Apache-2.0 */
/* signame.h - signals by name or number: TERM, SIGUSR1, 9. */
#pragma once
#include "base/cleanup.h"

NODISCARD int signame_parse(const char *text, int *ret); /* -EINVAL */
const char *signame_print(int signo);                    /* "TERM"; "?" when unknown */

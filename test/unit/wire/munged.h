/* SPDX-License-Identifier: Apache-2.0 */
/* munged.h - a munged of the test's own, in a temporary directory with its own key. */
#pragma once
#include <sys/types.h>

struct munged {
	char dir[64], socket[96];
	pid_t pid;
};

/* NULL when it runs, else why it does not. */
const char *munged_start(struct munged *m);
void munged_stop(struct munged *m);

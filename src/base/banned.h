/* SPDX-License-Identifier: Apache-2.0 */
/* banned.h - turns functions that are easy to misuse into compile errors.
 *
 * Force-included for every source file by the build, after the system headers below so that their
 * own declarations stay untouched. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* clang's fortified headers make macros of these two, and a macro cannot be poisoned. */
#undef sprintf
#undef vsprintf
#pragma GCC poison strcpy strcat sprintf vsprintf strtok gmtime localtime ctime asctime atoi atol
#pragma GCC poison srand gets strncpy strncat
#ifndef BANNED_KEEP_RAND /* for the one file that includes a library header with this name in it */
#pragma GCC poison rand
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* scancel, the program; what it does is in cmd/scancel.c. */
#include "cmd/ask.h"

int main(int argc, char **argv)
{
	return ask_main("scancel", scancel_run, argc, argv);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* sinfo, the program; what it does is in cmd/sinfo.c. */
#include "cmd/ask.h"

int main(int argc, char **argv)
{
	return ask_main("sinfo", sinfo_run, argc, argv);
}

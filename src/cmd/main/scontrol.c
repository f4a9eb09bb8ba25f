/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol, the program; what it does is in cmd/scontrol.c. */
#include "cmd/ask.h"

int main(int argc, char **argv)
{
	return ask_main("scontrol", scontrol_run, argc, argv);
}

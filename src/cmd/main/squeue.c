/* SPDX-License-Identifier: Apache-2.0 */
/* squeue, the program; what it does is in cmd/squeue.c. */
#include "cmd/ask.h"

int main(int argc, char **argv)
{
	return ask_main("squeue", squeue_run, argc, argv);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* --pty: our terminal becomes a wire to the one on the node.
 *
 * In raw mode every key goes to the task, Ctrl-C included; what the task's terminal answers is
 * written as it comes. */
#include "cmd/srun.h"

#include <unistd.h>

void pty_enter(struct srun *s)
{
	struct termios raw;
	if (!s->o.at.pty || !isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &s->saved_tty) < 0)
		return;
	raw = s->saved_tty;
	cfmakeraw(&raw);
	s->has_saved_tty = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

void pty_leave(struct srun *s)
{
	if (s->has_saved_tty)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &s->saved_tty);
	s->has_saved_tty = false;
}

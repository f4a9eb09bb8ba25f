/* SPDX-License-Identifier: Apache-2.0 */
/* host/process.h: programs are played by somebody whom the world knows. */
#include "host/process.h"

#include "sim/world.h"

#include <errno.h>

int process_spawn(struct loop *l, const struct spawn *s, exited_fn exited, void *arg, pid_t *ret_pid,
		  struct error *err)
{
	(void)exited;
	(void)arg;
	(void)err;
	*ret_pid = (pid_t)world_key(the_world);
	return the_world->spawn ? the_world->spawn(the_world->spawn_arg, l, s) : -ENOENT;
}

int process_signal(pid_t pid, int signo)
{
	(void)pid;
	(void)signo;
	return 0;
}

size_t process_signal_marked(const char *const *marks, int signo)
{
	(void)marks;
	(void)signo;
	return 0; /* tasks die with their step daemon here */
}

/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - slurmstepd: started by slurmd for one step, with a socket to it as descriptor 3.
 *
 *	slurmstepd -s SPOOL [-b CPUS] [-L LOG] [-l LEVEL]
 *
 * It outlives slurmd and leaves when its report has been taken note of. */
#include "base/arena.h"
#include "base/log.h"
#include "base/str.h"
#include "slurmstepd/stepd.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONTROL_FD = 3 };

static int take_options(struct stepd *s, int argc, char **argv)
{
	enum log_level level = LOG_INFO;
	int c;

	log_start("slurmstepd", level);
	while ((c = getopt(argc, argv, "s:b:L:l:V")) != -1) {
		if (c == 's') {
			s->spool = optarg;
		} else if (c == 'b') {
			s->cpus = optarg;
		} else if (c == 'l') {
			if (log_level_parse(optarg, &level) == 0)
				log_set_level(level);
		} else if (c == 'L') {
			if (log_to_file(optarg) < 0)
				log_error("cannot open the log file '%s'", optarg);
		} else if (c == 'V') {
			printf("slurm %s\n", MUSTER_VERSION);
			exit(0);
		} else {
			return -EINVAL;
		}
	}
	return s->spool ? 0 : -EINVAL;
}

/* Signals arrive as input of the loop; children that nobody else waits for are ours. */
static void take_signals(struct stepd *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int main(int argc, char **argv)
{
	struct stepd s = { .listen_fd = -1, .srun.fd = -1, .err_fd = -1 };
	int type;
	socklen_t len = sizeof(type);

	if (take_options(&s, argc, argv) < 0 ||
	    getsockopt(CONTROL_FD, SOL_SOCKET, SO_TYPE, &type, &len) < 0) {
		fprintf(stderr,
			"slurmstepd: slurmd starts this program; it is not for use by hand\n");
		return 1;
	}
	s.arena = arena_new();
	talk_init(&s.control, CONTROL_FD);
	take_signals(&s);
	stepd_loop(&s);
	if (s.listen_fd >= 0)
		unlink(arena_printf(s.arena, "%s/%s.sock", s.spool, s.name));
	return 0;
}

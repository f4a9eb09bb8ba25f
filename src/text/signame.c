/* SPDX-License-Identifier: Apache-2.0 */
/* The signals a user may name; any other goes by its number. */
#include "text/signame.h"

#include "base/str.h"

#include <errno.h>
#include <signal.h>

static const struct {
	int number;
	const char *name;
} signals[] = {
	{ SIGHUP, "HUP" },   { SIGINT, "INT" },       { SIGQUIT, "QUIT" }, { SIGILL, "ILL" },
	{ SIGTRAP, "TRAP" }, { SIGABRT, "ABRT" },     { SIGBUS, "BUS" },   { SIGFPE, "FPE" },
	{ SIGKILL, "KILL" }, { SIGUSR1, "USR1" },     { SIGSEGV, "SEGV" }, { SIGUSR2, "USR2" },
	{ SIGPIPE, "PIPE" }, { SIGALRM, "ALRM" },     { SIGTERM, "TERM" }, { SIGCHLD, "CHLD" },
	{ SIGCONT, "CONT" }, { SIGSTOP, "STOP" },     { SIGTSTP, "TSTP" }, { SIGTTIN, "TTIN" },
	{ SIGTTOU, "TTOU" }, { SIGURG, "URG" },       { SIGXCPU, "XCPU" }, { SIGXFSZ, "XFSZ" },
	{ SIGPROF, "PROF" }, { SIGVTALRM, "VTALRM" }, { SIGPWR, "PWR" },   { SIGWINCH, "WINCH" },
	{ SIGIO, "IO" },     { SIGSYS, "SYS" },
};

enum { NUMBER_MAX = 64 };

int signame_parse(const char *text, int *ret)
{
	uint32_t number;
	if (str_to_u32(text, &number) == 0) {
		if (number < 1 || number > NUMBER_MAX)
			return -EINVAL;
		*ret = (int)number;
		return 0;
	}
	if (str_istarts(text, "SIG"))
		text += 3;
	for (size_t i = 0; i < ARRAY_COUNT(signals); i++) {
		if (str_ieq(text, signals[i].name)) {
			*ret = signals[i].number;
			return 0;
		}
	}
	return -EINVAL;
}

const char *signame_print(int signo)
{
	for (size_t i = 0; i < ARRAY_COUNT(signals); i++)
		if (signals[i].number == signo)
			return signals[i].name;
	return "?";
}

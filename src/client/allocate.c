/* SPDX-License-Identifier: Apache-2.0 */
/* An allocation from the command's point of view. */
#include "client/allocate.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "client/connect.h"
#include "client/options.h"
#include "client/submit.h"
#include "schema/errors.h"
#include "wire/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* A grant that comes within this time was not worth announcing as pending. */
static const usec_t AT_ONCE = 300 * USEC_PER_MSEC;
static const usec_t RETRY = 2 * USEC_PER_SEC;
enum { RELEASE_PAUSE_MAX = 32 }; /* seconds; about a minute in all */

static usec_t clock_now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * USEC_PER_SEC + ts.tv_nsec / 1000;
}

static void watched_signals(sigset_t *ret)
{
	static const int list[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD };
	sigemptyset(ret);
	for (size_t i = 0; i < ARRAY_COUNT(list); i++)
		sigaddset(ret, list[i]);
}

int alloc_block_signals(void)
{
	sigset_t set;
	watched_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void alloc_unblock_signals(void)
{
	sigset_t set;
	watched_signals(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int alloc_ask(struct allocation *al, uint16_t kind, const void *body, struct error *err)
{
	int r = al->c->session ? session_send(al->c->session, kind, body, err)
			       : -E_CONTROLLER_CONNECT;
	if (!connect_is_lost(r))
		return r;
	r = connect_again(al->c, err);
	return r < 0 ? r : session_send(al->c->session, kind, body, err);
}

/* The answer when it is complete; ALLOC_TIMEOUT when only a part is there. */
static enum alloc_event try_receive(struct allocation *al, uint16_t kind, void *reply,
				    struct error *err)
{
	int r = session_receive(al->c->session, kind, al->arena, reply, USEC_PER_MSEC, err);
	return r == 0 ? ALLOC_ANSWER : r == -E_SOCKET_TIMEOUT ? ALLOC_TIMEOUT : ALLOC_LOST;
}

enum alloc_event alloc_wait(struct allocation *al, uint16_t kind, void *reply, usec_t timeout,
			    int *ret_signo, struct error *err)
{
	usec_t end = clock_now() + timeout;
	for (;;) {
		usec_t left = timeout < 0 ? -1 : end - clock_now();
		struct pollfd fds[] = { { .fd = al->signal_fd, .events = POLLIN },
					{ .fd = al->c->session ? session_fd(al->c->session) : -1,
					  .events = POLLIN } };
		if (timeout >= 0 && left <= 0)
			return ALLOC_TIMEOUT;
		int n = poll(fds, 2, left < 0 ? -1 : (int)(left / USEC_PER_MSEC) + 1);
		if (n < 0 && errno != EINTR)
			return error_set(err, -errno, "poll: %s", strerror(errno)), ALLOC_LOST;
		struct signalfd_siginfo info;
		if (n > 0 && fds[0].revents &&
		    read(al->signal_fd, &info, sizeof(info)) == sizeof(info)) {
			*ret_signo = (int)info.ssi_signo;
			return ALLOC_SIGNAL;
		}
		if (n > 0 && fds[1].revents) {
			enum alloc_event e = try_receive(al, kind, reply, err);
			if (e != ALLOC_TIMEOUT)
				return e;
		}
	}
}

/* A controller that is being restarted is waited for: nobody else would end the job. */
void alloc_release(struct allocation *al, int exit_code)
{
	struct job_release body = { .job_id = al->job_id, .exit_code = (uint32_t)exit_code };
	struct empty reply;
	struct error err = {};
	int r = connect_call(al->c, MSG_JOB_RELEASE, &body, al->arena, &reply, 0, &err);
	for (unsigned pause = 1; connect_is_lost(r) && pause <= RELEASE_PAUSE_MAX; pause *= 2) {
		sleep(pause);
		r = connect_call(al->c, MSG_JOB_RELEASE, &body, al->arena, &reply, 0, &err);
	}
	if (r < 0 && r != -E_INVALID_JOB_ID)
		log_error("cannot give job %u back: %s", al->job_id, err.text);
}

/* ---- waiting for the start --------------------------------------------------------------------- */

static bool is_salloc(const struct allocation *al)
{
	return str_eq(al->program, "salloc");
}

static void say_pending(const struct allocation *al)
{
	if (is_salloc(al))
		log_info("Pending job allocation %u", al->job_id);
	log_info("job %u queued and waiting for resources", al->job_id);
}

static int give_up(struct allocation *al, int code, int *ret_code)
{
	alloc_release(al, 1);
	*ret_code = code;
	return -ECANCELED;
}

static int exit_immediate(void)
{
	const char *text = getenv("SLURM_EXIT_IMMEDIATE");
	uint32_t code;
	return text && str_to_u32(text, &code) == 0 && code < 256 ? (int)code
								  : connect_exit_error();
}

static int on_answer(struct allocation *al, bool announced, int *ret_code)
{
	if (al->job.state == JOB_STATE_RUNNING) {
		if (announced)
			log_info("job %u has been allocated resources", al->job_id);
		return 0;
	}
	log_error("job %u ended before it started: %s", al->job_id,
		  enum_text(&job_state_enum, (int)al->job.state));
	*ret_code = connect_exit_error();
	return -ECANCELED;
}

/* How long to wait next: until it is worth a message, until --immediate is over, or for ever. */
static usec_t next_timeout(const struct options *o, usec_t waited, bool announced)
{
	usec_t immediate = o->at.has_immediate_sec ? o->at.immediate_sec * USEC_PER_SEC - waited
						   : -1;
	if (o->at.has_immediate_sec && immediate < 0)
		immediate = 0;
	if (announced)
		return immediate;
	return immediate >= 0 && immediate < AT_ONCE ? immediate : AT_ONCE;
}

static int wait_for_start(struct allocation *al, const struct options *o, int *ret_code)
{
	usec_t start = clock_now();
	bool announced = false, asked = false;
	for (;;) {
		struct job_wait ask = { .job_id = al->job_id, .for_start = true };
		struct job_wait_reply reply = {};
		struct error err = {};
		int signo = 0, r = asked ? 0 : alloc_ask(al, MSG_JOB_WAIT, &ask, &err);
		asked = r == 0;
		usec_t timeout = asked ? next_timeout(o, clock_now() - start, announced) : RETRY;
		enum alloc_event e = alloc_wait(al, MSG_JOB_WAIT, &reply, timeout, &signo, &err);
		al->waited = clock_now() - start;
		if (e == ALLOC_ANSWER) {
			al->job = reply.job;
			return on_answer(al, announced, ret_code);
		}
		if (e == ALLOC_SIGNAL && signo != SIGCHLD) {
			log_info("Job allocation %u has been revoked.", al->job_id);
			return give_up(al, connect_exit_error(), ret_code);
		}
		if (e == ALLOC_TIMEOUT && asked && o->at.has_immediate_sec &&
		    al->waited >= o->at.immediate_sec * USEC_PER_SEC) {
			log_error("Unable to allocate resources: %s",
				  enum_text(&error_code_enum, E_NODES_BUSY));
			return give_up(al, exit_immediate(), ret_code);
		}
		if (e == ALLOC_LOST && !connect_is_lost(err.code)) {
			log_error("Unable to allocate resources: %s", err.text);
			*ret_code = connect_exit_error();
			return -ECANCELED;
		}
		if (e == ALLOC_LOST)
			asked = false;
		if (e == ALLOC_TIMEOUT && !announced) {
			announced = true;
			say_pending(al);
		}
	}
}

int alloc_get(struct allocation *al, const struct options *o, const struct submit_request *q,
	      int *ret_code)
{
	struct submit_reply reply = {};
	struct error err = {};
	int r = submit_send(al->c, q, al->arena, &reply, &err);
	if (r < 0) {
		if (o->at.test_only)
			fprintf(stderr, "allocation failure: %s\n", err.text);
		else
			log_error("Unable to allocate resources: %s", err.text);
		*ret_code = connect_exit_error();
		return r;
	}
	if (o->at.test_only) {
		submit_print_test(al->c, o, &reply);
		*ret_code = 0;
		return -ECANCELED;
	}
	al->job_id = reply.job_id;
	return wait_for_start(al, o, ret_code);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Is the step still there?
 *
 * Step daemons tell everything while they live.  When one never calls, or its whole node is gone,
 * only the controller knows: so it is asked in a thread, at first soon (a launch may have failed),
 * then ever more seldom.  A peer whose part has ended for the controller and that has not reported
 * at the next look either is lost.  A controller that does not answer changes nothing. */
#include "base/arena.h"
#include "base/bitset.h"
#include "base/error.h"
#include "base/log.h"
#include "cmd/srun.h"
#include "host/loop.h"
#include "schema/errors.h"

static const usec_t FIRST_LOOK = 3 * USEC_PER_SEC;
static const usec_t LONGEST_LOOK = USEC_PER_MIN;

static void next_look(struct srun *s, bool soon)
{
	usec_t pause = FIRST_LOOK << (s->watch_count < 8 ? s->watch_count : 8);
	s->watch_count++;
	if (pause > LONGEST_LOOK)
		pause = LONGEST_LOOK;
	timer_start(s->watch_timer, soon ? FIRST_LOOK : pause, 0);
}

/* In a thread: touches only the watch_ members. */
static void ask(void *arg)
{
	struct srun *s = arg;
	struct job_query query = { .filter = {
					   .ids = &s->al.job_id, .n_ids = 1, .all_states = true } };
	s->watch_list = (struct job_list) {};
	s->watch_result = connect_call(&s->watch_conn, MSG_JOB_QUERY, &query, s->watch_arena,
				       &s->watch_list, 0, NULL);
	connect_hang_up(&s->watch_conn);
}

static const struct step *find_step(const struct srun *s, const struct job **ret_job)
{
	*ret_job = NULL;
	for (uint32_t i = 0; i < s->watch_list.n_jobs; i++) {
		const struct job *j = &s->watch_list.jobs[i];
		if (j->id != s->al.job_id)
			continue;
		*ret_job = j;
		for (uint32_t k = 0; k < j->n_steps; k++)
			if (j->steps[k].id == s->step.id)
				return &j->steps[k];
	}
	return NULL;
}

/* Peers that the controller counts as ended and that have not said so themselves. */
static unsigned count_missing(const struct srun *s, const struct step *st, bool over)
{
	unsigned missing = 0;
	for (uint32_t i = 0; i < s->peer_count; i++)
		missing += !s->peers[i].done && (over || (st && bitset_has(&st->ended, i)));
	return missing;
}

static void give_up_missing(struct srun *s, const struct step *st, bool over, const struct job *j)
{
	const char *why = !over ? "its part of the step has ended, and nothing was heard from it"
			  : j   ? enum_text(&job_state_enum, (int)j->state)
				: "the job is gone";
	if (over && j && j->state == JOB_STATE_RUNNING)
		why = "the step has ended, and nothing was heard from it";
	for (uint32_t i = 0; i < s->peer_count; i++) {
		struct peer *p = &s->peers[i];
		if (p->done || !(over || (st && bitset_has(&st->ended, i))))
			continue;
		if (!p->called)
			log_error("Task launch for StepId=%u.%u failed on node %s: %s",
				  s->al.job_id, s->step.id, p->name, why);
		io_peer_lost(s, p, why);
	}
}

static void answered(void *arg)
{
	struct srun *s = arg;
	const struct job *j;
	const struct step *st = find_step(s, &j);
	bool known = s->watch_result == 0 || s->watch_result == -E_INVALID_JOB_ID;
	bool over = known && !st;
	s->watching = false;
	unsigned missing = known ? count_missing(s, st, over) : 0;
	if (missing && s->missing_count++)
		give_up_missing(s, st, over, j);
	else if (!missing)
		s->missing_count = 0;
	arena_clear(s->watch_arena);
	next_look(s, missing > 0);
}

static void look(void *arg)
{
	struct srun *s = arg;
	s->watching = true;
	loop_work(s->loop, ask, answered, s);
}

void watch_start(struct srun *s)
{
	s->watch_conn = (struct connection) { .program = s->c.program, .conf = s->c.conf };
	s->watch_arena = arena_new();
	s->watch_timer = timer_new(s->loop, look, s);
	next_look(s, true);
}

void watch_stop(struct srun *s)
{
	timer_stop(s->watch_timer);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* How tasks end: the exit code, the words about it, -K and -W.
 *
 * Exits arrive in small groups; a short pause gathers those of a node that ended alike into one
 * line, as in "node6: tasks 0-1: Exited with exit code 1". */
#include "base/buf.h"
#include "base/log.h"
#include "cmd/srun.h"
#include "host/loop.h"
#include "text/idset.h"

#include <signal.h>
#include <string.h>

enum { EXIT_OUT_OF_MEMORY = 253 };

static const usec_t GATHER = 50 * USEC_PER_MSEC;

static bool alike(const struct task *a, const struct task *b)
{
	return a->peer == b->peer && a->exit_code == b->exit_code &&
	       a->exit_signal == b->exit_signal && a->out_of_memory == b->out_of_memory;
}

static bool is_bad(const struct task *t)
{
	return t->exit_code || t->exit_signal || t->out_of_memory;
}

static void report_group(const struct srun *s, const struct idset_range *ranges, uint32_t count,
			 uint32_t total, const struct task *t)
{
	AUTO_BUF struct buf ids = {};
	const char *node = s->peers[t->peer].name, *word = total > 1 ? "tasks" : "task";
	idset_print(ranges, count, 0, &ids);
	if (t->out_of_memory)
		log_error("%s: %s %s: Out Of Memory", node, word, buf_text(&ids));
	else if (t->exit_signal)
		log_error("%s: %s %s: %s", node, word, buf_text(&ids),
			  strsignal((int)t->exit_signal));
	else
		log_error("%s: %s %s: Exited with exit code %u", node, word, buf_text(&ids),
			  t->exit_code);
}

/* The tasks of `first`'s node that ended like it, in one line. */
static void report_like(struct srun *s, uint32_t first)
{
	VEC(struct idset_range) ranges = {};
	uint32_t total = 0;
	for (uint32_t i = first; i < s->step.ntasks; i++) {
		struct task *t = &s->tasks[i];
		if (!t->ended || t->reported || !alike(t, &s->tasks[first]))
			continue;
		if (i != first)
			t->reported = true;
		total++;
		if (ranges.count && ranges.at[ranges.count - 1].last + 1 == i)
			ranges.at[ranges.count - 1].last = i;
		else
			vec_push(&ranges, (struct idset_range) { i, i });
	}
	s->tasks[first].reported = true;
	report_group(s, ranges.at, (uint32_t)ranges.count, total, &s->tasks[first]);
	vec_done(&ranges);
}

void exit_report(void *arg)
{
	struct srun *s = arg;
	for (uint32_t i = 0; i < s->step.ntasks; i++) {
		if (!s->tasks[i].ended || s->tasks[i].reported)
			continue;
		if (is_bad(&s->tasks[i]) && !s->reader_gone)
			report_like(s, i);
		s->tasks[i].reported = true;
	}
}

static void report_soon(struct srun *s)
{
	if (s->report_timer)
		return;
	s->report_timer = timer_new(s->loop, exit_report, s);
	timer_start(s->report_timer, GATHER, GATHER);
}

/* ---- -W and -K --------------------------------------------------------------------------------- */

static void first_exit_over(void *arg)
{
	struct srun *s = arg;
	log_info("Terminating StepId=%u.%u", s->al.job_id, s->step.id);
	step_abort(s, SIGTERM);
}

static bool others_run(const struct srun *s)
{
	for (uint32_t i = 0; i < s->step.ntasks; i++)
		if (!s->tasks[i].ended)
			return true;
	return false;
}

static void on_first_exit(struct srun *s)
{
	if (s->first_exit_seen || !others_run(s))
		return;
	s->first_exit_seen = true;
	if (!s->o.at.has_wait_sec || s->o.at.wait_sec == 0)
		return;
	log_info("First task exited. Terminating job in %us", s->o.at.wait_sec);
	s->first_exit_timer = timer_new(s->loop, first_exit_over, s);
	timer_start(s->first_exit_timer, s->o.at.wait_sec * USEC_PER_SEC, 0);
}

/* The step daemon of the failed task has said so and ends the tasks of its own node. */
static void on_bad_exit(struct srun *s)
{
	if (s->aborting || !s->o.at.has_kill_on_bad_exit || !s->o.at.kill_on_bad_exit ||
	    !others_run(s))
		return;
	step_abort(s, SIGTERM);
}

/* ---- what is told ------------------------------------------------------------------------------ */

static int code_of(const struct task *t)
{
	if (t->out_of_memory)
		return EXIT_OUT_OF_MEMORY;
	return t->exit_signal ? 128 + (int)t->exit_signal : (int)t->exit_code;
}

void exit_note(struct srun *s, const struct peer *p, const struct io_exit *e)
{
	bool bad = false;
	if (e->error && e->error[0])
		log_error("%s: %s", p->name, e->error);
	for (uint32_t i = 0; i < e->n_tasks; i++) {
		struct task *t = e->tasks[i] < s->step.ntasks ? &s->tasks[e->tasks[i]] : NULL;
		if (!t || t->ended)
			continue;
		t->peer = p->node_pos;
		t->known = t->ended = true;
		t->exit_code = e->exit_code;
		t->exit_signal = e->exit_signal;
		t->out_of_memory = e->out_of_memory;
		bad |= is_bad(t);
		s->exit_code = code_of(t) > s->exit_code ? code_of(t) : s->exit_code;
	}
	report_soon(s);
	on_first_exit(s);
	if (bad)
		on_bad_exit(s);
}

/* What is not known of a lost node is a failure, once for all its tasks. */
void exit_note_lost(struct srun *s, const struct peer *p)
{
	for (uint32_t i = 0; i < s->step.ntasks; i++) {
		struct task *t = &s->tasks[i];
		if (t->known && t->peer == p->node_pos && !t->ended)
			t->ended = t->reported = true;
	}
	s->exit_code = s->exit_code > 1 ? s->exit_code : 1;
	on_bad_exit(s);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Decide, journal, apply, sync, answer: the order that makes an answer a promise.
 *
 * Memory may run ahead of the disk; answers, effects and notifications may not.  They queue in `after`
 * with the position they depend on and leave in order when the journal has reached it.  All commits
 * of one turn of the loop share one write and one sync. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "host/loop.h"
#include "schema/errors.h"
#include "slurmctld/ctld.h"
#include "store/journal.h"

#include <string.h>

static void run_after(struct ctld *s, uint64_t position)
{
	while (s->after_head < s->after.count && s->after.at[s->after_head].position <= position) {
		struct after a = s->after.at[s->after_head++];
		a.fn(a.arg); /* may queue more behind */
	}
	if (s->after_head == s->after.count) {
		vec_clear(&s->after);
		s->after_head = 0;
	}
}

static void on_disk(void *arg, uint64_t position, int status)
{
	struct ctld *s = arg;
	if (status < 0) {
		/* Nothing more may be promised.  Stop at once: what was acknowledged is safe. */
		log_fatal("the journal cannot be written (%s): stopping", strerror(-status));
		s->journal_failed = true;
		if (!s->stopping && s->on_stop)
			s->on_stop(s->on_stop_arg);
		ctld_check_stopped(s);
		return;
	}
	run_after(s, position);
	if (journal_synced(s->journal) < journal_position(s->journal))
		journal_commit(s->journal);
	persist_maybe_snapshot(s);
	ctld_check_stopped(s);
}

static void restore(void *arg, const struct event *ev)
{
	struct ctld *s = arg;
	apply(&s->cluster, ev);
}

int ctld_open_journal(struct ctld *s, struct error *err)
{
	struct journal_stats stats = {};
	int e = journal_open(s->disk, s->loop, restore, s, &s->journal, &stats, err);
	if (e < 0)
		return e;
	journal_on_commit(s->journal, on_disk, s);
	if (stats.bytes_cut)
		log_info("journal: cut %llu bytes of an unfinished write at the end",
			 (unsigned long long)stats.bytes_cut);
	log_info("restored %llu events: %zu jobs, %zu of them pending",
		 (unsigned long long)stats.events_restored, s->cluster.jobs.count, s->cluster.pending.count);
	return 0;
}

static void flush(void *arg)
{
	struct ctld *s = arg;
	s->flush_asked = false;
	journal_commit(s->journal);
}

struct effect_call {
	struct ctld *s;
	struct effect effect;
};

static void act(void *arg)
{
	struct effect_call *call = arg;
	if (!call->s->stopping)
		ctld_act(call->s, &call->effect);
	free(call);
}

/* Which jobs the event concerns, for those who wait for them. */
static uint32_t job_of(const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_JOB_STARTED:
		return ev->job_started.job_id;
	case EVENT_JOB_ENDING:
		return ev->job_ending.job_id;
	case EVENT_JOB_NODE_CLEAN:
		return ev->job_node_clean.job_id;
	case EVENT_JOB_REQUEUED:
		return ev->job_requeued.job_id;
	case EVENT_STEP_NODE_ENDED:
		return ev->step_node_ended.job_id;
	case EVENT_JOB_PURGED:
		return ev->job_purged.job_id;
	case EVENT_COUNTERS:
	case EVENT_BLOB_ADDED:
	case EVENT_NODE_CONFIGURED:
	case EVENT_NODE_REMOVED:
	case EVENT_PARTITION_CONFIGURED:
	case EVENT_PARTITION_REMOVED:
	case EVENT_JOB_SUBMITTED:
	case EVENT_JOB_CHANGED:
	case EVENT_JOB_SPLIT:
	case EVENT_STEP_CREATED:
	case EVENT_NODE_REGISTERED:
	case EVENT_NODE_CHANGED:
	case EVENT_KIND_COUNT:
		break;
	}
	return 0;
}

/* Could anything start because of this, or need a reason for waiting? */
static bool concerns_planner(const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_JOB_SUBMITTED:
		return ev->job_submitted.job.hold == HOLD_KIND_NONE; /* a held one has its reason already */
	case EVENT_COUNTERS:
	case EVENT_BLOB_ADDED:
	case EVENT_JOB_PURGED:
	case EVENT_STEP_CREATED:
	case EVENT_STEP_NODE_ENDED:
		return false;
	case EVENT_NODE_CONFIGURED:
	case EVENT_NODE_REMOVED:
	case EVENT_PARTITION_CONFIGURED:
	case EVENT_PARTITION_REMOVED:
	case EVENT_JOB_STARTED:
	case EVENT_JOB_ENDING:
	case EVENT_JOB_NODE_CLEAN:
	case EVENT_JOB_CHANGED:
	case EVENT_JOB_REQUEUED:
	case EVENT_JOB_SPLIT:
	case EVENT_NODE_REGISTERED:
	case EVENT_NODE_CHANGED:
	case EVENT_KIND_COUNT:
		break;
	}
	return true;
}

void ctld_commit(struct ctld *s, struct decision *d)
{
	bool wake = false;
	for (size_t i = 0; i < d->events.count; i++) {
		const struct event *ev = &d->events.at[i];
		wake |= concerns_planner(ev);
		journal_append(s->journal, ev);
		apply(&s->cluster, ev);
		if (s->after_apply)
			s->after_apply(s->after_apply_arg, ev);
	}
	for (size_t i = 0; i < d->effects.count; i++) {
		struct effect_call *call = NEW(struct effect_call);
		*call = (struct effect_call){ s, d->effects.at[i] };
		ctld_after(s, act, free, call);
	}
	for (size_t i = 0; i < d->events.count; i++) {
		uint32_t job = job_of(&d->events.at[i]);
		if (job)
			waits_job_changed(s, job);
	}
	if (wake)
		planner_wake(s);
	if (d->events.count && !s->flush_asked) {
		s->flush_asked = true;
		loop_defer(s->loop, flush, s);
	}
	decision_done(d);
	*d = (struct decision){ .arena = d->arena };
}

void ctld_drop_after(struct ctld *s)
{
	for (; s->after_head < s->after.count; s->after_head++)
		s->after.at[s->after_head].drop(s->after.at[s->after_head].arg);
	vec_done(&s->after);
}

void ctld_after(struct ctld *s, void (*fn)(void *arg), void (*drop)(void *arg), void *arg)
{
	uint64_t position = journal_position(s->journal);
	if (s->after_head == s->after.count && journal_synced(s->journal) >= position) {
		fn(arg);
		return;
	}
	vec_push(&s->after, (struct after){ position, fn, drop, arg });
}

struct reply_call {
	struct request *request;
	struct buf body;
};

static void send_reply(void *arg)
{
	struct reply_call *call = arg;
	request_reply_encoded(call->request, &call->body);
	buf_done(&call->body);
	free(call);
}

static void drop_reply(void *arg)
{
	struct reply_call *call = arg;
	request_fail(call->request, &(struct error){ .code = -E_SHUTTING_DOWN });
	buf_done(&call->body);
	free(call);
}

void ctld_reply_encoded(struct ctld *s, struct request *r, struct buf *take_body)
{
	struct reply_call *call = NEW(struct reply_call);
	call->request = r;
	call->body = *take_body;
	*take_body = (struct buf){};
	ctld_after(s, send_reply, drop_reply, call);
}

void ctld_reply(struct ctld *s, struct request *r, const void *reply)
{
	struct buf body = {};
	record_encode(message_descs[r->kind].reply, reply, &body);
	ctld_reply_encoded(s, r, &body);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots keep restarts short: one is written in a worker whenever the journal behind the last one
 * has grown past a limit that itself grows with the state, so that the work stays a small fraction. */
#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "host/loop.h"
#include "slurmctld/ctld.h"
#include "store/journal.h"

#include <string.h>

enum { SNAPSHOT_MIN_BYTES = 32 << 20, BYTES_PER_JOB = 2048 };

struct snapshot {
	struct ctld *s;
	struct view *view;
	uint64_t position;
};

static void emit(void *arg, const struct event *ev)
{
	snapshot_emit(arg, ev);
}

static void write_view(void *arg, struct snapshot_writer *w)
{
	struct snapshot *snap = arg;
	view_events(snap->view, emit, w);
}

static void written(void *arg, int status)
{
	struct snapshot *snap = arg;
	struct ctld *s = snap->s;
	if (status < 0)
		log_error("snapshot not written: %s", strerror(-status));
	else
		log_debug("snapshot written at position %llu", (unsigned long long)snap->position);
	s->snapshot_running = false;
	cluster_view_release(&s->cluster, snap->view);
	free(snap);
	ctld_check_stopped(s);
}

void persist_maybe_snapshot(struct ctld *s)
{
	uint64_t limit = SNAPSHOT_MIN_BYTES + (uint64_t)s->cluster.jobs.count * BYTES_PER_JOB;
	if (s->snapshot_running || s->stopping || journal_size(s->journal) < limit)
		return;
	if (journal_synced(s->journal) != journal_position(s->journal))
		return; /* a snapshot shows only what is on disk; the next commit tries again */
	struct snapshot *snap = NEW(struct snapshot);
	snap->s = s;
	snap->view = cluster_view(&s->cluster, VIEW_JOBS | VIEW_BLOBS, loop_now(s->loop));
	snap->position = journal_position(s->journal);
	s->snapshot_running = true;
	journal_snapshot(s->journal, snap->position, write_view, written, snap);
}

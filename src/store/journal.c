/* SPDX-License-Identifier: Apache-2.0 */
/* journal.c - appending events and committing them in groups.
 *
 * There are two batches: `open` collects what is appended now, `flight` is being written and synced by
 * a worker.  journal_commit turns the first into the second when no batch is under way, and otherwise
 * remembers the wish, so that the next batch starts as soon as this one is on disk.  While a sync takes
 * its milliseconds, everything that arrives shares the next one.
 *
 * After the first failure nothing is written again: a failed sync may have dropped pages that a second
 * one would call clean, and a record behind a gap could not be read.
 *
 * A new segment begins with the first batch after a snapshot was asked for, so that the segments before
 * it can go when the snapshot is there.  restore.c reads all this back. */
#include "store/journal_impl.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "host/disk.h"
#include "host/loop.h"
#include "schema/events.h"
#include "store/entry.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

void store_name(char name[STORE_NAME_MAX], const char *prefix, uint64_t position)
{
	snprintf(name, STORE_NAME_MAX, "%s%020" PRIu64, prefix, position);
}

/* ---- open and close ----------------------------------------------------------------------------- */

int journal_open(struct disk *d, struct loop *l, journal_restore_fn restore, void *arg,
		 struct journal **ret, struct journal_stats *stats, struct error *err)
{
	int r = disk_lock(d, LOCK_NAME);
	if (r == -EWOULDBLOCK)
		return error_set(err, r, "another process uses the state in '%s'", disk_root(d));
	if (r < 0)
		return error_set(err, r, "cannot lock '%s/%s': %s", disk_root(d), LOCK_NAME,
				 strerror(-r));

	struct journal *j = NEW(struct journal);
	j->disk = d;
	j->loop = l;
	j->arena = arena_new();
	struct journal_stats seen = {};
	r = journal_restore(j, restore, arg, &seen, err);
	if (r < 0) {
		journal_close(j);
		return r;
	}
	if (stats)
		*stats = seen;
	*ret = j;
	return 0;
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	assert(!j->in_flight && !j->snapshot);
	disk_file_close(j->file);
	buf_done(&j->open);
	buf_done(&j->flight);
	vec_done(&j->segments);
	vec_done(&j->snapshots);
	arena_free(j->arena);
	free(j);
}

void journal_on_commit(struct journal *j, journal_done_fn done, void *arg)
{
	j->done = done;
	j->done_arg = arg;
}

/* ---- appending ---------------------------------------------------------------------------------- */

/* What was just encoded must be readable, or the next start would refuse the whole journal: an event
 * that breaks a limit of its schema is a programming error that must not reach the disk. */
static void must_decode(struct journal *j, size_t start)
{
	struct entry e;
	struct error err = {};
	arena_clear(j->arena);
	struct event *ev = ARENA_NEW(j->arena, struct event);
	if (!entry_get(j->open.data + start, j->open.len - start, &e) ||
	    entry_decode(&e, ev, j->arena, &err) < 0) {
		log_fatal("journal: an event of kind %u does not fit its own schema: %s", ev->kind,
			  err.text);
		abort();
	}
}

uint64_t journal_append(struct journal *j, const struct event *ev)
{
	size_t start = j->open.len;
	entry_put(&j->open, ++j->position, ev);
	must_decode(j, start);
	j->size += j->open.len - start;
	return j->position;
}

uint64_t journal_position(const struct journal *j)
{
	return j->position;
}

uint64_t journal_synced(const struct journal *j)
{
	return j->synced;
}

uint64_t journal_size(const struct journal *j)
{
	return j->size;
}

/* ---- committing --------------------------------------------------------------------------------- */

static int open_next_segment(struct journal *j)
{
	char name[STORE_NAME_MAX];
	/* `synced` does not move while a batch is in flight. */
	store_name(name, SEGMENT_PREFIX, j->synced + 1);
	struct disk_file *next = NULL;
	int r = disk_append_open(j->disk, name, &next, NULL);
	if (r < 0)
		return r;
	disk_file_close(j->file);
	j->file = next;
	return 0;
}

/* On a worker. */
static void write_batch(void *arg)
{
	struct journal *j = arg;
	int r = j->flight_rotates ? open_next_segment(j) : 0;
	if (r == 0 && j->flight.len > 0) {
		r = disk_append(j->file, j->flight.data, j->flight.len);
		if (r == 0)
			r = disk_sync(j->file);
	}
	j->flight_status = r;
}

static void batch_written(void *arg)
{
	struct journal *j = arg;
	bool had_events = j->flight_last > j->synced;
	if (j->flight_status == 0 && j->flight_rotates)
		vec_push(&j->segments, j->synced + 1);
	if (j->flight_status == 0)
		j->synced = j->flight_last;
	else
		j->failed = j->flight_status;
	j->in_flight = false;
	buf_clear(&j->flight);
	if (j->flight.cap > (1 << 20))
		buf_done(&j->flight); /* one large batch does not stay for ever */
	if (j->done && (had_events || j->failed))
		j->done(j->done_arg, j->synced, j->failed);
	if (!j->in_flight && !j->failed && (j->rotate || (j->commit_wanted && j->open.len > 0)))
		journal_start_batch(j);
	snapshot_check(j);
}

void journal_start_batch(struct journal *j)
{
	assert(!j->in_flight && !j->failed);
	struct buf spare = j->flight;
	j->flight = j->open;
	j->open = spare;
	j->flight_last = j->position;
	/* A segment that has nothing yet serves as the new one. */
	j->flight_rotates = j->rotate && j->segments.at[j->segments.count - 1] != j->synced + 1;
	j->rotate = false;
	j->commit_wanted = false;
	j->in_flight = true;
	loop_work(j->loop, write_batch, batch_written, j);
}

void journal_commit(struct journal *j)
{
	if (j->failed || j->open.len == 0)
		return;
	if (j->in_flight)
		j->commit_wanted = true;
	else
		journal_start_batch(j);
}

size_t segments_obsolete(const struct journal *j, uint64_t position)
{
	size_t n = 0;
	while (n + 1 < j->segments.count && j->segments.at[n + 1] <= position + 1)
		n++;
	return n;
}

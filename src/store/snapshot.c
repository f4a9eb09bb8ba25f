/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - writing the state as a shorter list of events.
 *
 * The events are encoded one by one into a buffer of CHUNK bytes that goes to a file beside the final
 * one, so memory does not grow with the state.  They are numbered from 1, and a last record of kind 0
 * names the position of the snapshot: a file without it is not whole.
 *
 * Stages, each safe to die in:
 *	WRITING   worker: FILE.tmp is written and synced        crash: the leftover is removed at open
 *	WAITING   until the journal on disk has reached the position and a new segment has begun: the
 *	          journal never ends before its snapshot, which restore.c relies on
 *	PLACING   worker: renamed; older snapshots and segments are removed, oldest first
 *	                                                        crash: what is left over goes at open */
#include "store/journal_impl.h"

#include "base/log.h"
#include "host/disk.h"
#include "host/loop.h"
#include "schema/events.h"
#include "store/entry.h"

#include <assert.h>
#include <errno.h>

#define CHUNK ((size_t)1 << 20)

struct snapshot_writer {
	struct disk_file *file;
	struct buf out;
	uint64_t count;
	int status;
};

enum snapshot_stage { SNAPSHOT_WRITING, SNAPSHOT_WAITING, SNAPSHOT_PLACING };

struct snapshot {
	struct journal *journal;
	enum snapshot_stage stage;
	uint64_t position;
	uint64_t size_covered; /* bytes of journal that it replaces */
	snapshot_write_fn write;
	snapshot_done_fn done;
	void *arg;
	int status;
	struct disk *disk; /* this and the lists are for the workers */
	struct position_list old_segments, old_snapshots;
};

static void flush(struct snapshot_writer *w)
{
	if (w->status == 0)
		w->status = disk_append(w->file, w->out.data, w->out.len);
	buf_clear(&w->out);
}

void snapshot_emit(struct snapshot_writer *w, const struct event *ev)
{
	entry_put(&w->out, ++w->count, ev);
	if (w->out.len >= CHUNK)
		flush(w);
}

static void tmp_name(char name[STORE_NAME_MAX], uint64_t position)
{
	store_name(name, SNAPSHOT_PREFIX, position);
	size_t len = strlen(name);
	snprintf(name + len, STORE_NAME_MAX - len, TMP_SUFFIX);
}

/* On a worker. */
static void write_file(void *arg)
{
	struct snapshot *s = arg;
	struct snapshot_writer w = {};
	char name[STORE_NAME_MAX];
	tmp_name(name, s->position);
	w.status = disk_append_open(s->disk, name, &w.file, NULL);
	if (w.status == 0 && disk_size(w.file) > 0)
		w.status = disk_truncate(w.file, 0);
	if (w.status == 0) {
		buf_reserve(&w.out, CHUNK + CHUNK / 4);
		s->write(s->arg, &w);
		entry_put_end(&w.out, w.count + 1, s->position);
		flush(&w);
	}
	if (w.status == 0)
		w.status = disk_sync(w.file);
	disk_file_close(w.file);
	buf_done(&w.out);
	if (w.status < 0 && disk_remove(s->disk, name) < 0)
		log_debug("snapshot: '%s' is left over until the next start", name);
	s->status = w.status;
}

static void remove_listed(struct disk *d, const char *prefix, const struct position_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		char name[STORE_NAME_MAX];
		store_name(name, prefix, list->at[i]);
		if (disk_remove(d, name) < 0) {
			log_debug("snapshot: '%s' is left over until the next start", name);
			return; /* a later one without this would look like a gap */
		}
	}
}

/* On a worker. */
static void place_file(void *arg)
{
	struct snapshot *s = arg;
	char tmp[STORE_NAME_MAX], name[STORE_NAME_MAX];
	tmp_name(tmp, s->position);
	store_name(name, SNAPSHOT_PREFIX, s->position);
	s->status = disk_rename(s->disk, tmp, name);
	if (s->status < 0)
		return;
	remove_listed(s->disk, SNAPSHOT_PREFIX, &s->old_snapshots);
	remove_listed(s->disk, SEGMENT_PREFIX, &s->old_segments);
}

static void snapshot_end(struct snapshot *s)
{
	struct snapshot copy = *s;
	s->journal->snapshot = NULL;
	vec_done(&s->old_segments);
	vec_done(&s->old_snapshots);
	free(s);
	if (copy.done)
		copy.done(copy.arg, copy.status);
}

static void file_placed(void *arg)
{
	struct snapshot *s = arg;
	struct journal *j = s->journal;
	if (s->status == 0) {
		size_t gone = s->old_segments.count;
		memmove(j->segments.at, j->segments.at + gone,
			(j->segments.count - gone) * sizeof(*j->segments.at));
		j->segments.count -= gone;
		j->snapshots.count = 0;
		vec_push(&j->snapshots, s->position);
		j->size -= s->size_covered;
	}
	snapshot_end(s);
}

void snapshot_check(struct journal *j)
{
	struct snapshot *s = j->snapshot;
	if (!s || s->stage != SNAPSHOT_WAITING)
		return;
	if (j->failed) {
		s->status = j->failed;
		snapshot_end(s); /* the file beside is removed at the next start */
		return;
	}
	if (j->synced < s->position) {
		journal_commit(j); /* nobody may have asked for it yet */
		return;
	}
	if (j->rotate || (j->in_flight && j->flight_rotates))
		return;
	size_t gone = segments_obsolete(j, s->position);
	for (size_t i = 0; i < gone; i++)
		vec_push(&s->old_segments, j->segments.at[i]);
	for (size_t i = 0; i < j->snapshots.count; i++)
		if (j->snapshots.at[i] != s->position)
			vec_push(&s->old_snapshots, j->snapshots.at[i]);
	s->stage = SNAPSHOT_PLACING;
	loop_work(j->loop, place_file, file_placed, s);
}

static void file_written(void *arg)
{
	struct snapshot *s = arg;
	if (s->status < 0) {
		snapshot_end(s);
		return;
	}
	s->stage = SNAPSHOT_WAITING;
	snapshot_check(s->journal);
}

void journal_snapshot(struct journal *j, uint64_t position, snapshot_write_fn write,
		      snapshot_done_fn done, void *arg)
{
	assert(!j->snapshot && position <= j->position);
	struct snapshot *s = NEW(struct snapshot);
	*s = (struct snapshot) { .journal = j,
				 .position = position,
				 .size_covered = j->size,
				 .write = write,
				 .done = done,
				 .arg = arg,
				 .disk = j->disk };
	j->snapshot = s;
	j->rotate = true;
	if (!j->in_flight && !j->failed)
		journal_start_batch(j);
	loop_work(j->loop, write_file, file_written, s);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* restore.c - reading the directory back at start.
 *
 * The newest snapshot P is read whole, then the segments from the one that holds P+1 on.  Invariants
 * of the files, each checked here; what breaks one is refused with file, byte and position:
 *
 * I1  A snapshot numbers its records 1, 2, ... and ends with the end record that names P.
 * I2  A segment holds consecutive positions, and its name is the first of them.
 * I3  Each segment begins where the one before it ended.
 * I4  The segments reach at least to P: a snapshot is only put in place once its events are on disk.
 * I5  Only the last segment may have a torn tail: bytes that are no whole record, with no whole record
 *     anywhere behind them.  These were never acknowledged and are cut.
 *
 * Files that a crash left over (FILE.tmp, snapshots and segments older than P needs) are removed once
 * everything was read well. */
#include "store/journal_impl.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "host/disk.h"
#include "schema/events.h"
#include "store/entry.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define ADVICE "restore the directory from a copy"

struct restore {
	struct journal *journal;
	journal_restore_fn fn;
	void *arg;
	struct journal_stats *stats;
	struct error *err;
	VEC(char *) leftovers;
	struct buf data;           /* the file that is read */
	char name[STORE_NAME_MAX]; /* its name */
};

/* ---- what is there ------------------------------------------------------------------------------ */

/* True for PREFIX and exactly the twenty digits that store_name writes. */
static bool parse_name(const char *name, const char *prefix, uint64_t *ret)
{
	char again[STORE_NAME_MAX];
	if (!str_starts(name, prefix) || str_to_u64(name + strlen(prefix), ret) < 0)
		return false;
	store_name(again, prefix, *ret);
	return strcmp(again, name) == 0;
}

static void note_file(void *arg, const char *name)
{
	struct restore *r = arg;
	uint64_t position;
	if (parse_name(name, SEGMENT_PREFIX, &position))
		vec_push(&r->journal->segments, position);
	else if (parse_name(name, SNAPSHOT_PREFIX, &position))
		vec_push(&r->journal->snapshots, position);
	else if (str_starts(name, SNAPSHOT_PREFIX) && str_ends(name, TMP_SUFFIX))
		vec_push(&r->leftovers, mem_strdup(name));
}

static int read_file(struct restore *r, const char *prefix, uint64_t position)
{
	store_name(r->name, prefix, position);
	buf_clear(&r->data);
	int e = disk_read(r->journal->disk, r->name, &r->data);
	if (e < 0)
		return error_set(r->err, e, "cannot read '%s/%s': %s", disk_root(r->journal->disk),
				 r->name, strerror(-e));
	return 0;
}

/* "'DIR/FILE', byte 57, position 3: " before a reason. */
static int refuse(struct restore *r, size_t offset, uint64_t position, const char *why)
{
	return error_set(r->err, -EBADMSG, "'%s/%s', byte %zu, position %" PRIu64 ": %s",
			 disk_root(r->journal->disk), r->name, offset, position, why);
}

static int hand_over(struct restore *r, const struct entry *e, size_t offset)
{
	struct arena *a = r->journal->arena;
	arena_clear(a);
	struct event *ev = ARENA_NEW(a, struct event);
	int code = entry_decode(e, ev, a, r->err);
	if (code < 0)
		return error_wrap(r->err, code, "'%s/%s', byte %zu, position %" PRIu64,
				  disk_root(r->journal->disk), r->name, offset, e->position);
	r->fn(r->arg, ev);
	r->stats->events_restored++;
	return 0;
}

/* ---- the snapshot ------------------------------------------------------------------------------- */

static int restore_snapshot(struct restore *r, uint64_t position)
{
	int code = read_file(r, SNAPSHOT_PREFIX, position);
	if (code < 0)
		return code;
	uint64_t number = 0;
	struct entry e;
	for (size_t at = 0; at < r->data.len; at += e.size) {
		if (!entry_get(r->data.data + at, r->data.len - at, &e))
			return refuse(r, at, number + 1, "the snapshot is damaged here: " ADVICE);
		if (e.position != ++number)
			return refuse(
				r, at, e.position,
				"a record of the snapshot is missing before this one: " ADVICE);
		if (e.kind == ENTRY_KIND_END) {
			if (entry_end_position(&e) != position)
				return refuse(r, at, number,
					      "the snapshot was made under another name: " ADVICE);
			if (at + e.size != r->data.len)
				return refuse(r, at + e.size, number,
					      "something follows the end of the snapshot: " ADVICE);
			return 0;
		}
		code = hand_over(r, &e, at);
		if (code < 0)
			return code;
	}
	return refuse(r, r->data.len, number + 1, "the snapshot stops short of its end: " ADVICE);
}

/* ---- the segments ------------------------------------------------------------------------------- */

/* Nothing readable starts at `at`.  Is it a tail that never was acknowledged? */
static int judge_tail(struct restore *r, size_t at, bool is_last)
{
	uint64_t position = r->journal->position + 1;
	size_t next;
	if (entry_search(r->data.data + at, r->data.len - at, position, &next)) {
		char why[256];
		snprintf(why, sizeof(why),
			 "the record is damaged, but whole ones follow from byte %zu: " ADVICE
			 ", or give up everything from here with 'truncate -s %zu'",
			 at + next, at);
		return refuse(r, at, position, why);
	}
	if (!is_last)
		return refuse(r, at, position,
			      "the record is damaged, and later segments follow: " ADVICE);
	r->stats->bytes_cut = r->data.len - at;
	return 0;
}

/* Leaves in `ret_end` where the last whole record ends. */
static int restore_segment(struct restore *r, uint64_t snapshot, bool is_last, size_t *ret_end)
{
	struct journal *j = r->journal;
	struct entry e;
	size_t at = 0;
	for (; at < r->data.len; at += e.size) {
		if (!entry_get(r->data.data + at, r->data.len - at, &e)) {
			int code = judge_tail(r, at, is_last);
			if (code < 0)
				return code;
			break;
		}
		if (e.position != j->position + 1)
			return refuse(
				r, at, j->position + 1,
				"the record found here has another position, some are missing: " ADVICE);
		if (e.position > snapshot) {
			int code = hand_over(r, &e, at);
			if (code < 0)
				return code;
			j->size += e.size;
		}
		j->position = e.position;
	}
	*ret_end = at;
	return 0;
}

static int open_segment(struct restore *r, uint64_t first, size_t end)
{
	struct journal *j = r->journal;
	store_name(r->name, SEGMENT_PREFIX, first);
	int code = disk_append_open(j->disk, r->name, &j->file, r->err);
	if (code < 0)
		return code;
	if (disk_size(j->file) == end)
		return 0;
	code = disk_truncate(j->file, end);
	if (code == 0)
		code = disk_sync(j->file);
	if (code < 0)
		return error_set(r->err, code, "cannot cut the torn tail of '%s/%s': %s",
				 disk_root(j->disk), r->name, strerror(-code));
	return 0;
}

static int check_coverage(struct restore *r, uint64_t snapshot)
{
	struct journal *j = r->journal;
	const char *root = disk_root(j->disk);
	uint64_t first = j->segments.count > 0 ? j->segments.at[0] : 0;
	if (j->segments.count > 0 && first <= snapshot + 1 && first > 0)
		return 0;
	if (j->segments.count == 0)
		return error_set(r->err, -EBADMSG,
				 "'%s' has a snapshot of position %" PRIu64
				 " and no journal behind it: " ADVICE,
				 root, snapshot);
	return error_set(r->err, -EBADMSG,
			 "'%s': a journal with position %" PRIu64
			 " is missing, the oldest begins at %" PRIu64 ": " ADVICE,
			 root, snapshot + 1, first);
}

static int restore_segments(struct restore *r, uint64_t snapshot)
{
	struct journal *j = r->journal;
	size_t i = segments_obsolete(j, snapshot), end = 0;
	j->position = j->segments.at[i] - 1;
	for (; i < j->segments.count; i++) {
		uint64_t first = j->segments.at[i];
		if (first != j->position + 1) {
			store_name(r->name, SEGMENT_PREFIX, first);
			return refuse(r, 0, j->position + 1,
				      "the journal with this position is missing: " ADVICE);
		}
		int code = read_file(r, SEGMENT_PREFIX, first);
		if (code == 0)
			code = restore_segment(r, snapshot, i + 1 == j->segments.count, &end);
		if (code < 0)
			return code;
	}
	if (j->position < snapshot)
		return refuse(r, end, j->position + 1,
			      "the journal ends before its snapshot: " ADVICE);
	return open_segment(r, j->segments.at[j->segments.count - 1], end);
}

/* ---- all of it ---------------------------------------------------------------------------------- */

/* What a crash left over.  A file that cannot be removed is no reason not to start. */
static void remove_leftovers(struct restore *r, uint64_t snapshot)
{
	struct journal *j = r->journal;
	size_t gone = segments_obsolete(j, snapshot), removed = 0;
	for (size_t i = 0; i < r->leftovers.count; i++)
		if (disk_remove(j->disk, r->leftovers.at[i]) < 0)
			break;
	while (j->snapshots.count > 1) {
		store_name(r->name, SNAPSHOT_PREFIX, j->snapshots.at[j->snapshots.count - 2]);
		if (disk_remove(j->disk, r->name) < 0)
			break;
		j->snapshots.at[j->snapshots.count - 2] = snapshot;
		j->snapshots.count--;
	}
	for (; removed < gone; removed++) {
		store_name(r->name, SEGMENT_PREFIX, j->segments.at[removed]);
		if (disk_remove(j->disk, r->name) < 0)
			break;
	}
	j->segments.count -= removed;
	memmove(j->segments.at, j->segments.at + removed,
		j->segments.count * sizeof(*j->segments.at));
}

static int restore_all(struct restore *r)
{
	struct journal *j = r->journal;
	int code = disk_list(j->disk, ".", note_file, r);
	if (code < 0)
		return error_set(r->err, code, "cannot list '%s': %s", disk_root(j->disk),
				 strerror(-code));

	if (j->segments.count == 0 && j->snapshots.count == 0) { /* a new cluster */
		vec_push(&j->segments, 1);
		return open_segment(r, 1, 0);
	}
	uint64_t snapshot = j->snapshots.count > 0 ? j->snapshots.at[j->snapshots.count - 1] : 0;
	r->stats->snapshot_position = snapshot;
	code = check_coverage(r, snapshot);
	if (code == 0 && j->snapshots.count > 0)
		code = restore_snapshot(r, snapshot);
	if (code == 0)
		code = restore_segments(r, snapshot);
	if (code == 0)
		remove_leftovers(r, snapshot);
	return code;
}

int journal_restore(struct journal *j, journal_restore_fn restore, void *arg,
		    struct journal_stats *stats, struct error *err)
{
	struct restore r = { .journal = j, .fn = restore, .arg = arg, .stats = stats, .err = err };
	int code = restore_all(&r);
	j->synced = j->position;
	for (size_t i = 0; i < r.leftovers.count; i++)
		free(r.leftovers.at[i]);
	vec_done(&r.leftovers);
	buf_done(&r.data);
	return code;
}

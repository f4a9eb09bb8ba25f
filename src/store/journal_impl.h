/* SPDX-License-Identifier: Apache-2.0 */
/* journal_impl.h - the inside of a journal, shared by journal.c, restore.c and snapshot.c.
 *
 * Thread rule: `flight`, `file` and the flight_* members belong to the worker while `in_flight`;
 * everything else belongs to the loop. */
#pragma once
#include "base/buf.h"
#include "base/vec.h"
#include "store/journal.h"

#define STORE_NAME_MAX  48
#define SEGMENT_PREFIX  "journal-"
#define SNAPSHOT_PREFIX "snapshot-"
#define TMP_SUFFIX      ".tmp"
#define LOCK_NAME       "lock"

struct arena;
struct disk_file;
struct snapshot;

/* A vec with a name, so that functions can take one. */
struct position_list {
	uint64_t *at;
	size_t count, cap;
};

struct journal {
	struct disk *disk;
	struct loop *loop;
	journal_done_fn done;
	void *done_arg;

	uint64_t position;              /* of the last event appended */
	uint64_t synced;                /* of the last event on disk */
	uint64_t size;                  /* bytes since the last snapshot */
	struct position_list segments;  /* first position of each, ascending; the last grows */
	struct position_list snapshots; /* ascending; more than one only after a crash */
	int failed;                     /* negative errno: nothing is written any more */

	struct buf open; /* events of the next batch */
	bool in_flight, commit_wanted;
	bool rotate; /* the next batch begins a new segment */

	struct buf flight;      /* the batch that a worker writes */
	struct disk_file *file; /* the last segment */
	uint64_t flight_last;   /* position of its last event */
	bool flight_rotates;
	int flight_status;

	struct snapshot *snapshot; /* under way, or NULL */
	struct arena *arena;       /* one event at a time */
};

/* "journal-00000000000000000042" */
void store_name(char name[STORE_NAME_MAX], const char *prefix, uint64_t position);

/* Reads everything in the directory, hands it to `restore` and leaves the lists, the position and the
 * open segment in `j`. */
NODISCARD int journal_restore(struct journal *j, journal_restore_fn restore, void *arg,
			      struct journal_stats *stats, struct error *err);

void journal_start_batch(struct journal *j); /* nothing is in flight */
void snapshot_check(struct journal *j);      /* a batch has ended: may the snapshot go on? */
/* How many segments from the front hold nothing behind `position`. */
size_t segments_obsolete(const struct journal *j, uint64_t position);

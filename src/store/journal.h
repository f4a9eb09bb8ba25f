/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h - the truth on disk: events in the order in which they were decided.
 *
 * Segment files `journal-POSITION` of records
 *	u32 length | u32 crc32c of what follows | u64 position | u16 event kind | bytes
 * and snapshots `snapshot-POSITION`, which are the same records written by snapshot.c and lead to the
 * state after POSITION.  A snapshot is complete or absent: it is written beside, synced and renamed,
 * then older segments are removed.
 *
 * Opening reads the newest snapshot and every record behind it and hands each event to `restore`.
 * A torn tail (the last record of the last segment is short or its checksum is wrong, and nothing
 * valid follows) is cut and said; anything else that does not fit is refused with file, position and
 * reason, because guessing would lose acknowledged work.
 *
 * Writing is group commit: journal_append puts an event into the open batch and returns its position;
 * journal_commit hands the batch to a worker thread for write and fdatasync and calls back on the
 * loop when it is on disk.  One batch is under way at a time; what is appended meanwhile is the next. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct disk;
struct error;
struct event;
struct journal;
struct loop;

typedef void (*journal_restore_fn)(void *arg, const struct event *ev); /* valid during the call */

struct journal_stats {
	uint64_t events_restored, bytes_cut, snapshot_position;
};

NODISCARD int journal_open(struct disk *d, struct loop *l, journal_restore_fn restore, void *arg,
			   struct journal **ret, struct journal_stats *stats, struct error *err);
void journal_close(struct journal *j); /* after the last commit has called back */

uint64_t journal_append(struct journal *j, const struct event *ev);
uint64_t journal_position(const struct journal *j); /* of the last event appended */
uint64_t journal_synced(const struct journal *j);   /* of the last event on disk */

/* `done` is told the position that is on disk now, or a negative errno as `status`: then nothing
 * further may be acknowledged and the daemon must stop. */
typedef void (*journal_done_fn)(void *arg, uint64_t position, int status);
void journal_on_commit(struct journal *j, journal_done_fn done, void *arg);
void journal_commit(struct journal *j); /* no-op when a batch is under way or nothing is new */

/* Writes a snapshot in a worker: `write` is called there once and emits events one by one.  The
 * state it describes must be that of `position`.  Afterwards segments before it are removed. */
struct snapshot_writer;
typedef void (*snapshot_write_fn)(void *arg, struct snapshot_writer *w);
typedef void (*snapshot_done_fn)(void *arg, int status);
void snapshot_emit(struct snapshot_writer *w, const struct event *ev);
void journal_snapshot(struct journal *j, uint64_t position, snapshot_write_fn write,
		      snapshot_done_fn done, void *arg);
uint64_t journal_size(const struct journal *j); /* bytes since the last snapshot */

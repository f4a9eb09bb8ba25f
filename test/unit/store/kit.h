/* SPDX-License-Identifier: Apache-2.0 */
/* kit.h - what the tests of store/ share: a directory, a journal in it, and events by number.
 *
 * Event n of seed s is always the same, so that what comes back is compared with what must have been
 * appended without keeping any of it. */
#pragma once
#include "base/buf.h"
#include "store/journal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct event;

struct kit {
	char dir[64];
	struct loop *loop;
	struct disk *disk;
	struct journal *journal;
	struct journal_stats stats;
	uint64_t seed;
	uint64_t restored; /* events that came back, all checked */
	bool mismatch;
	uint64_t committed; /* as the callback said */
	int status;
	bool stop_on_commit;
};

void kit_init(struct kit *k, uint64_t seed);
void kit_done(struct kit *k); /* removes the directory */

struct error;
int kit_open(struct kit *k, struct error *err); /* checks what is restored against the seed */
void kit_close(struct kit *k);
void kit_append(struct kit *k, uint64_t count);
void kit_commit(struct kit *k); /* and waits until everything appended is on disk */

/* Makes event number `n` in the arena. */
struct event *kit_event(uint64_t seed, uint64_t n, struct arena *a);
bool kit_is_event(uint64_t seed, uint64_t n, const struct event *ev);
uint64_t kit_random(uint64_t *state);

/* Files of the directory, by name. */
struct buf kit_read(const struct kit *k, const char *name);
void kit_write(const struct kit *k, const char *name, const void *data, size_t len);
void kit_remove(const struct kit *k, const char *name);
bool kit_has(const struct kit *k, const char *name);
void kit_clear(const struct kit *k);                         /* removes every file */
void kit_copy(const struct kit *from, const struct kit *to); /* every file */

#define SEGMENT_1 "journal-00000000000000000001"

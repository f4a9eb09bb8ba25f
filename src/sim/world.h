/* SPDX-License-Identifier: Apache-2.0 */
/* world.h - virtual time: everything that happens, in order, from one seed.
 *
 * The simulator is one process and one thread.  A world is a heap of occurrences; running it takes the
 * next one, sets the clock to it and calls it.  loop.c, stream.c, disk.c and process.c implement
 * host/ on top, so that the daemons' own objects run here unchanged.
 *
 * A `struct loop` is a process on a machine.  Killing it makes everything it still does invisible:
 * its streams break for their peers, its writes reach no disk, its timers never fire; its memory is
 * then released by its own destructor, which may do what it likes.
 *
 * host/ has no place for a world in some of its calls (disk_open, process_socketpair), so the one
 * world of the run is kept in a variable of this folder. */
#pragma once
#include "base/cleanup.h"
#include "base/map.h"
#include "base/time.h"
#include "base/vec.h"
#include "host/loop.h"

#include <stdbool.h>
#include <stdint.h>

struct disk;
struct machine;
struct spawn;
struct stream;

typedef void (*occurrence_fn)(void *arg, uint64_t key);

struct occurrence {
	usec_t when;
	uint64_t seq;
	occurrence_fn fn;
	void *arg;
	uint64_t key; /* what fn looks up: things may be gone when their turn comes */
};

struct faults {
	unsigned link_break;  /* one delivery in so many breaks its connection; 0: never */
	unsigned slow;        /* one message in so many takes seconds */
	usec_t latency;       /* of a message, at most */
	usec_t sync;          /* of a write to disk, at most */
};

struct world {
	usec_t now;
	uint64_t rng, seq, next_key, hash;
	VEC(struct occurrence) heap;
	struct map loops;     /* key -> struct loop */
	struct map timers, streams, listeners, works;
	struct map files;     /* path -> struct sim_file */
	VEC(struct disk *) disks; /* open ones */
	struct map sockets;   /* descriptor -> struct stream, not yet adopted */
	int next_fd;
	struct faults faults;
	bool tell;            /* print the story */
	/* What a process of the simulated cluster that host/ starts is played by. */
	int (*spawn)(void *arg, struct loop *parent, const struct spawn *s);
	void *spawn_arg;
};

extern struct world *the_world;

struct world *world_new(uint64_t seed);
void world_free(struct world *w);
uint64_t world_draw(struct world *w, uint64_t below); /* 0 for below = 0 */
bool world_chance(struct world *w, unsigned one_in);  /* false for 0 */
void world_at(struct world *w, usec_t delay, occurrence_fn fn, void *arg, uint64_t key);
bool world_step(struct world *w); /* false: nothing is left */
void world_tell(const char *fmt, ...) PRINTF_LIKE(1, 2);
uint64_t world_key(struct world *w);

struct machine {
	char name[64];
	char boot_id[32];
	bool cut; /* no packet passes */
};

struct loop {
	uint64_t key;
	struct machine *machine;
	bool alive;
	VEC(struct deferred { loop_fn fn; void *arg; }) deferred;
};

struct loop *loop_on(struct machine *m);
/* The process is gone for the rest of the world.  Its work in other threads ends without effect; then
 * its owner may free what it had. */
void loop_kill(struct loop *l);
/* Runs a callback as one turn of the loop: what was deferred runs afterwards. */
void loop_turn(struct loop *l, loop_fn fn, void *arg);

/* stream.c */
void streams_break(struct loop *l);           /* all streams of a process that died */
int stream_pair(int ret[2]);
/* disk.c: what a power cut leaves of the files below `root`. */
void disk_crash(struct world *w, const char *root);
void socket_file_add(const char *path); /* what a listening local socket leaves in its directory */
void socket_file_remove(const char *path);
void files_free(struct world *w);

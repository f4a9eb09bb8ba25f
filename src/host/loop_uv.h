/* SPDX-License-Identifier: Apache-2.0 */
/* loop_uv.h - the inside of a loop, for the files of host/ that hang handles on it.
 *
 * Private to host/: nothing above includes it, so that sim/ can bring a loop of its own. */
#pragma once
#include "base/vec.h"
#include "host/loop.h"

#include <stdint.h>
#include <uv.h>

#define LOOP_READ_BYTES ((size_t)65536)

struct children;
struct stream;

struct deferred {
	loop_fn fn;
	void *arg;
};

struct loop {
	uv_loop_t uv;
	uv_prepare_t prepare; /* end of the turn; also keeps loop_run running */
	uv_idle_t again;      /* active while deferred work is left over: do not wait */
	VEC(struct deferred) deferred, running;
	VEC(uv_signal_t *) signals;
	struct stream *streams; /* all that are open */
	struct stream *dirty;   /* those with something to do at the end of the turn */
	uint8_t *read_buffer;   /* LOOP_READ_BYTES, shared: bytes are valid during one callback */
	struct children *children; /* process_posix.c */
};

void streams_done(struct loop *l); /* closes the streams that were only finishing */
void children_done(struct loop *l);

/* SPDX-License-Identifier: Apache-2.0 */
/* fragment.h - what a placement costs those who come after it.
 *
 * The mix is what jobs typically ask of a node, taken from the queue.  A node's fragmentation is the
 * number of its free devices that a job of the mix could not use there, weighted by how many devices
 * such jobs want in all: free GPUs without a free core, or two free ones when many want four.  Placing
 * where fragmentation grows least, or shrinks, keeps the devices that are left usable. */
#pragma once
#include <stdint.h>

struct demand;
struct pool_node;
struct sched_view;

enum { MIX_KINDS = 64, MIX_LOOK = 1000 };

struct mix_kind {
	uint64_t devices, mem;
	uint32_t cpus;
	double share;
};

struct mix {
	struct mix_kind kinds[MIX_KINDS];
	uint32_t count;
};

/* Counts a request `times` times; the rarest kind makes room when there are too many. */
void mix_add(struct mix *m, const struct demand *d, double times);
/* From the first MIX_LOOK jobs of the queue. */
void mix_from_queue(struct mix *m, const struct sched_view *v);

/* Devices that would be lost to the mix with so much free. */
double mix_fragment(const struct mix *m, uint64_t devices, uint32_t cpus, uint64_t mem);
/* How much the node's fragmentation grows when the request takes its share of it. */
double mix_growth(const struct mix *m, const struct pool_node *n, const struct demand *d);

/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.h - what the machine is, from /proc and /sys below a root directory.
 *
 * The kernel's own files are enough for sockets, cores, threads and memory, so no library is linked
 * for it; tests give a directory with files of a machine they describe. */
#pragma once
#include "base/cleanup.h"

#include <stdint.h>

struct arena;
struct buf;
struct disk;
struct error;
struct node_facts;

/* `ret_cpus` is the list of the machine's CPU numbers in our order: by socket, core and thread. */
NODISCARD int inventory_read(struct disk *root, struct arena *a, struct node_facts *ret,
			     char **ret_cpus, struct error *err);
/* The output of slurmd -C: a NodeName line and how long the machine is up. */
void inventory_print(struct disk *root, const char *name, const struct node_facts *f,
		     struct buf *out);
/* Load average of a minute and free memory; what cannot be read stays as it is. */
void inventory_load(struct disk *root, double *ret_load, uint64_t *ret_free_mib);

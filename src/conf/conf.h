/* SPDX-License-Identifier: Apache-2.0 */
/* conf.h - a loaded configuration: slurm.conf, gres.conf and topology.yaml (or
 * topology.conf) of one directory.
 *
 * Reading is pure text to records: hostlists are expanded (one node_conf per node), DEFAULT lines
 * are folded in, every value is checked by the row in schema/conf.def, and every problem is reported
 * as file:line: what is wrong and what would be right.  A key that is known but has no effect here
 * becomes a note, an unknown one an error with a suggestion.  All memory is in the conf's arena; a
 * loaded configuration is never changed, so threads may share it. */
#pragma once
#include "base/cleanup.h"
#include "base/map.h"
#include "base/time.h"
#include "schema/conf.h"
#include "schema/node.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;
struct conf_line;
struct error;

struct conf_note {
	const char *where; /* "slurm.conf:12"; NULL when it is about no line */
	const char *text;
};

struct conf {
	struct arena *arena;
	const char *path;             /* of slurm.conf */
	struct slurm_conf main;       /* one member per key of schema/conf.def */
	struct node_conf *nodes;      /* expanded, in the order of the file */
	size_t node_count;
	struct partition_conf *partitions; /* Nodes= resolved to names, ALL and NodeSets gone */
	size_t partition_count;
	struct gres_conf *gres;       /* lines of gres.conf, NodeName still a hostlist */
	size_t gres_count;
	struct topology_conf *topologies; /* of topology.yaml, else of topology.conf; one is the default */
	size_t topology_count;
	struct conf_note *notes;
	size_t note_count;

	struct bitset *gres_nodes;    /* the nodes of each gres line; size 0: all */
	const char **controller_names;     /* of the SlurmctldHost lines, in order */
	const char **controller_addresses; /* where to connect; the name when none is given */
	uint32_t controller_count;
	const char *auth_socket; /* auth/slurm: who vouches for us; auth/munge: NULL for munge's own */
	const char *auth_key;    /* auth/slurm: key file of the cluster */
	struct map node_index, partition_index; /* name to position + 1 */
};

/* `path` NULL: $SLURM_CONF, else /etc/slurm/slurm.conf.  Fails with the first error of the files. */
NODISCARD int conf_load(const char *path, struct conf **ret, struct error *err);
/* What a command needs to find the controller and to talk to it: the rows marked client=yes, the
 * controllers and the auth paths.  Everything else is skipped unread and unchecked, and is empty. */
NODISCARD int conf_load_client(const char *path, struct conf **ret, struct error *err);
/* From memory, for tests and fuzzing; `read` gives the content of included and sibling files. */
typedef int (*conf_read_fn)(void *arg, const char *path, struct buf *ret);
NODISCARD int conf_load_with(const char *path, conf_read_fn read, void *arg, struct conf **ret,
			     struct error *err);
void conf_free(struct conf *c); /* NULL is fine */

/* `slurmctld -t`: all errors and notes, one line each; 0 when the configuration can be used. */
NODISCARD int conf_check_print(const char *path, struct buf *out);
NODISCARD int conf_check_print_with(const char *path, conf_read_fn read, void *arg,
				    struct buf *out);

const struct node_conf *conf_node(const struct conf *c, const char *name);
const struct partition_conf *conf_partition(const struct conf *c, const char *name);
/* The generic resources of a node: its Gres= entries joined with the gres.conf lines that apply.
 * `ret` points into `a`. */
NODISCARD int conf_node_gres(const struct conf *c, const struct node_conf *n, struct arena *a,
			     struct node_gres **ret, uint32_t *ret_count, struct error *err);
/* %h and %n in SlurmdSpoolDir, SlurmdLogFile, SlurmdPidFile. */
char *conf_expand_path(const char *pattern, const struct node_conf *n, struct arena *a);
/* The lines of `scontrol show config`, in its order and spelling; memory in `a`. */
void conf_show(const struct conf *c, usec_t boot_time, uint32_t next_job_id, struct arena *a,
	       struct conf_line **ret, uint32_t *ret_count);

static inline void cleanup_conf(struct conf **c)
{
	conf_free(*c);
}
#define AUTO_CONF CLEANUP(cleanup_conf)

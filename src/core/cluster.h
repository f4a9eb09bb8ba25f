/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.h - everything the controller knows, in one struct, changed by apply() alone.
 *
 * Jobs, nodes and partitions are records of schema/, kept as entries that are copied on write while
 * somebody looks: cluster_view() hands out arrays of pointers that stay as they are until the view is
 * released, however much is applied meanwhile.  So squeue, the planner and the snapshot writer work
 * in other threads without a lock and without the owner waiting for them.
 *
 * Pure: no clock, no I/O, no threads of its own.  One thread owns a cluster; views may be read
 * anywhere. */
#pragma once
#include "base/map.h"
#include "base/time.h"
#include "base/vec.h"
#include "schema/events.h"
#include "sched/view.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;

/* What decisions need to know of slurm.conf.  Not journaled: it is read again at every start. */
struct settings {
	uint32_t max_job_count, max_array_size, first_job_id, max_job_id;
	uint32_t max_batch_requeue;
	uint32_t kill_wait_sec;
	uint32_t return_to_service;
	usec_t min_job_age;
	bool job_requeue;
	bool has_def_mem_per_cpu, has_def_mem_per_node;
	uint64_t def_mem_per_cpu, def_mem_per_node;
	bool has_def_mem_per_gpu, has_def_cpu_per_gpu;
	uint64_t def_mem_per_gpu;
	uint32_t def_cpu_per_gpu;
	enum { ENFORCE_NO, ENFORCE_ANY, ENFORCE_ALL } enforce_part_limits; /* how many of the job's partitions */
	bool disable_root_jobs, allow_spec, bills_largest;
	struct select_rules select;
	struct memory_limits max_memory;
	char gres_types[1024];
};

struct job_entry {
	struct job job;
	uint64_t born;
};
struct node_entry {
	struct node node;
	uint64_t born;
};
struct partition_entry {
	struct partition partition;
	uint64_t born;
};

struct blob {
	uint64_t id;
	uint32_t refs;
	struct bytes data;
};

struct queue_entry {
	uint32_t tier, priority, id;
	struct job *job;
};

struct license_entry {
	struct license license;
	bool over; /* more are used than there are: jobs hold them that started under another total */
};

struct retired {
	void *entry;
	const struct record *record;
	uint64_t since;
};

struct ended {
	usec_t time;
	uint32_t id;
};

struct topo_set;
struct view;

struct cluster {
	struct settings settings;
	uint32_t next_job_id;
	struct map jobs;                          /* id -> job_entry */
	struct map active;                        /* those that run or complete */
	struct map tokens;                        /* submit token -> job_entry */
	struct map blobs;                         /* id -> blob */
	struct map requests;                      /* request and partition -> how many jobs ask so */
	struct map node_names;                    /* name -> node_entry */
	VEC(struct node_entry *) nodes;           /* by index */
	VEC(struct partition_entry *) partitions; /* in the order of the configuration */
	VEC(struct license_entry) licenses;       /* in the order of the configuration */
	VEC(struct queue_entry) pending;          /* sorted: who starts next */
	VEC(struct ended) ended;                  /* oldest first, from ended_head on */
	size_t ended_head;
	uint32_t unexplained;                     /* pending jobs without a reason */
	uint64_t epoch;
	VEC(struct view *) views;
	VEC(struct retired) retired;
	struct topo_set *topologies; /* of the configuration, like settings; NULL: flat */
};

void cluster_init(struct cluster *c);
void cluster_done(struct cluster *c); /* all views must have been released */

/* Make an event true.  Total and deterministic: no failure, no clock, no I/O. */
void apply(struct cluster *c, const struct event *ev);
/* Aborts with a message when the state contradicts itself; the list of what is checked stands there. */
void cluster_check(const struct cluster *c);

const struct job *cluster_job(const struct cluster *c, uint32_t id);   /* NULL: unknown */
const struct node *cluster_node(const struct cluster *c, uint32_t index);
const struct node *cluster_node_named(const struct cluster *c, const char *name);
const struct partition *cluster_partition(const struct cluster *c, const char *name);
const struct partition *cluster_default_partition(const struct cluster *c);
const struct blob *cluster_blob(const struct cluster *c, uint64_t id);
const struct job *cluster_job_by_token(const struct cluster *c, uint64_t token);
uint32_t cluster_node_count(const struct cluster *c);
/* Does a job that was accepted ask for the very same in the same partition? */
bool cluster_knows_request(const struct cluster *c, uint64_t signature, const char *partition);

bool job_is_ended(const struct job *j);    /* reached a final state, perhaps still completing */
bool job_is_active(const struct job *j);   /* holds nodes */
const struct step *job_step(const struct job *j, uint32_t step_id);
/* Position of the node in alloc, or -1. */
int alloc_position(const struct node_alloc *alloc, uint32_t count, uint32_t node);

/* What is known but not journaled: it is found out anew after a restart. */
void cluster_set_reason(struct cluster *c, uint32_t job_id, enum job_reason reason);
void cluster_set_link(struct cluster *c, uint32_t node, bool up, usec_t now);
void cluster_set_load(struct cluster *c, uint32_t node, double cpu_load, uint64_t free_mem_mib, usec_t now);
/* What view_topology says, for a partition by name. */
const struct topology *cluster_topology(const struct cluster *c, const char *partition);
/* Takes the set over; views go on showing the one they were taken with. */
void cluster_set_topologies(struct cluster *c, struct topo_set *take);

/* licenses.c: how many there are; from the configuration, as settings are. */
struct license_list;
void cluster_set_licenses(struct cluster *c, const struct license_list *totals);
const struct license *cluster_license(const struct cluster *c, const char *name); /* NULL: unknown */
/* Could a job take these (name:count,...) now? */
bool cluster_licenses_free(const struct cluster *c, const char *wanted, struct arena *a);

/* For apply(): a writable record, copied first when a view shows it. */
struct job *cluster_edit_job(struct cluster *c, uint32_t id);
struct node *cluster_edit_node(struct cluster *c, uint32_t index);
struct partition *cluster_edit_partition(struct cluster *c, const char *name);

/* A consistent picture.  `now` is for the planner. */
struct view {
	struct sched_view sched;
	const struct job *const *jobs; /* all, in the order of their ids' arrival */
	uint32_t job_count;
	uint32_t next_job_id;
	const struct blob *const *blobs; /* only with VIEW_BLOBS */
	uint32_t blob_count;
	uint64_t epoch;
	struct topo_set *topologies; /* held */
	struct arena *arena;
};
enum view_parts { VIEW_PENDING = 1, VIEW_JOBS = 2, VIEW_BLOBS = 4 };
struct view *cluster_view(struct cluster *c, unsigned parts, usec_t now);
void cluster_view_release(struct cluster *c, struct view *v);
/* The decisions' own look at the present: valid until the next apply(); memory in `a`. */
void cluster_look(const struct cluster *c, usec_t now, struct arena *a, struct sched_view *ret);
void cluster_look_running(const struct cluster *c, struct arena *a, struct sched_view *ret);

/* SPDX-License-Identifier: Apache-2.0 */
/* show.h - the records of `scontrol show`: Key=Value, lines in Slurm's order, or all on one line. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct buf;
struct job;
struct job_step;
struct license;
struct node;
struct partition;
struct show_context;

/* `names` are the nodes by index, for -d; missing ones show their number. */
struct node_names {
	char *const *at;
	uint32_t count;
};

void show_job(const struct job *j, const struct show_context *c, const struct node_names *names,
	      struct buf *out);
void show_step(const struct job_step *s, const struct show_context *c, struct buf *out);
void show_node(const struct node *n, const struct show_context *c, struct buf *out);
void show_partition(const struct partition *p, const struct show_context *c, struct buf *out);
void show_license(const struct license *l, const struct show_context *c, struct buf *out);

/* "\n   ", or a blank on one line. */
void show_break(const struct show_context *c, struct buf *out);
void show_end(const struct show_context *c, struct buf *out);

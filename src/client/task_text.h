/* SPDX-License-Identifier: Apache-2.0 */
/* task_text.h - the map of a step's tasks for people: dry runs with -v, and --gpu-bind=verbose. */
#pragma once
#include "base/cleanup.h"

struct arena;
struct buf;
struct connection;
struct error;
struct taskmap;

/* Asks the controller for the nodes of m->step; `node_list` names them in the order of its alloc. */
NODISCARD int task_text_ask(struct connection *c, const char *node_list, struct arena *a, struct taskmap *m,
			    struct error *err);
/* A table with a line for each task: node, CPUs, memory that the step has on the node, GPUs. */
void task_text_table(const struct taskmap *m, struct arena *a, struct buf *out);
/* "gpu-bind: task 0 on node1: cores 0-7, GPUs 0 (/dev/nvidia0)", a line for each task. */
void task_text_lines(const struct taskmap *m, struct arena *a, struct buf *out);

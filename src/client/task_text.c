/* SPDX-License-Identifier: Apache-2.0 */
#include "client/task_text.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "client/connect.h"
#include "sched/gpubind.h"
#include "sched/taskmap.h"
#include "schema/messages.h"
#include "text/size.h"

#include <stdio.h>
#include <string.h>

int task_text_ask(struct connection *c, const char *node_list, struct arena *a, struct taskmap *m,
		  struct error *err)
{
	struct node_query query = { .names = (char *)(uintptr_t)node_list };
	struct node_list reply = {};
	const struct node **nodes = ARENA_ARRAY(a, const struct node *, m->step->n_alloc + 1);
	int r = connect_call(c, MSG_NODE_QUERY, &query, a, &reply, 0, err);
	for (uint32_t i = 0; i < m->step->n_alloc; i++)
		for (uint32_t k = 0; r == 0 && k < reply.n_nodes && !nodes[i]; k++)
			if (reply.nodes[k].index == m->step->alloc[i].node)
				nodes[i] = &reply.nodes[k];
	m->nodes = nodes;
	return r;
}

enum { TASK, NODE, CORES, MEMORY, GPUS, COLUMNS };

static const char *name_of(const struct taskmap *m, uint32_t pos)
{
	return m->nodes[pos] ? m->nodes[pos]->conf.name : "?";
}

static void print_cell(const struct taskmap *m, const struct task_place *p, int column, struct buf *out)
{
	const struct node *n = m->nodes[p->pos];
	char size[SIZE_TEXT];
	switch (column) {
	case TASK:
		buf_printf(out, "%u", p->task);
		break;
	case NODE:
		buf_puts(out, name_of(m, p->pos));
		break;
	case CORES:
		bitset_print(&p->cpus, out);
		break;
	case MEMORY:
		size_print_mib(m->step->alloc[p->pos].mem_mib, size);
		buf_puts(out, size);
		break;
	default:
		gpubind_print(&p->gpus, n ? n->gres : NULL, n ? n->n_gres : 0, out);
	}
}

static void measure(const struct taskmap *m, const struct task_place *p, size_t *width)
{
	AUTO_BUF struct buf cell = {};
	for (int c = 0; c < COLUMNS; c++) {
		buf_clear(&cell);
		print_cell(m, p, c, &cell);
		width[c] = cell.len > width[c] ? cell.len : width[c];
	}
}

void task_text_table(const struct taskmap *m, struct arena *a, struct buf *out)
{
	static const char *const heads[COLUMNS] = { "TASK", "NODE", "CORES", "MEMORY", "GPUS" };
	size_t width[COLUMNS];
	uint32_t count;
	const struct task_place *places = taskmap_make(m, a, &count);
	AUTO_BUF struct buf cell = {};
	for (int c = 0; c < COLUMNS; c++)
		width[c] = strlen(heads[c]);
	for (uint32_t i = 0; i < count; i++)
		measure(m, &places[i], width);
	for (uint32_t row = 0; row <= count; row++) {
		for (int c = 0; c < COLUMNS; c++) {
			buf_clear(&cell);
			if (row == 0)
				buf_puts(&cell, heads[c]);
			else
				print_cell(m, &places[row - 1], c, &cell);
			/* The last column is not padded. */
			buf_printf(out, "%-*s%s", c == GPUS ? 0 : (int)width[c], buf_text(&cell),
				   c == GPUS ? "\n" : "  ");
		}
	}
}

void task_text_lines(const struct taskmap *m, struct arena *a, struct buf *out)
{
	uint32_t count;
	const struct task_place *places = taskmap_make(m, a, &count);
	for (uint32_t i = 0; i < count; i++) {
		buf_printf(out, "gpu-bind: task %u on %s: cores ", places[i].task,
			   name_of(m, places[i].pos));
		print_cell(m, &places[i], CORES, out);
		buf_puts(out, ", GPUs ");
		print_cell(m, &places[i], GPUS, out);
		buf_puts(out, places[i].outside ? ", the first one: the binding names none of the step's\n"
						: "\n");
	}
}

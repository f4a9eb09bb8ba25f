/* SPDX-License-Identifier: Apache-2.0 */
/* step_text.h - what squeue -s and scontrol show step say about a step. */
#pragma once

struct buf;
struct job_step;
struct show_context;

void step_print_id(const struct job_step *s, const struct show_context *c,
		   struct buf *out); /* 2229_3.batch */
void step_print_name(const struct job_step *s, struct buf *out);
void step_print_nodes(const struct job_step *s, struct buf *out);
void step_print_tres_per_node(const struct job_step *s, struct buf *out); /* gres/gpu:2 */
void step_print_tres_per_step(const struct job_step *s, struct buf *out); /* cpu:8 */
/* batch, extern, interactive or NULL for a numbered step. */
const char *step_word(unsigned id);

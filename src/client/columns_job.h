/* SPDX-License-Identifier: Apache-2.0 */
/* columns_job.h - the values of squeue's columns, for jobs and for steps. */
#pragma once
#include "client/table.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct job;
struct job_query;
struct show_context;
struct step;

/* A step is shown together with its job. */
struct job_step {
	const struct job *job;
	const struct step *step;
};

/* A table_value_fn; `ctx` is a struct show_context, `obj` a struct job. */
void job_column(const void *ctx, const void *obj, const struct column_row *row, struct buf *out);
/* The same for a struct job_step. */
void step_column(const void *ctx, const void *obj, const struct column_row *row, struct buf *out);

/* A number that sorts like the column; false when it sorts as text. */
bool job_column_number(const struct show_context *c, const struct job *j,
		       const struct column_row *row, int64_t *ret);
bool step_column_number(const struct show_context *c, const struct job_step *s,
			const struct column_row *row, int64_t *ret);

/* Adds the fields that the column is made of to the query. */
struct job_fields {
	uint64_t job, spec; /* bits by tag */
};
void job_fields_add(struct job_fields *f, const char *names); /* "id,spec.name" */
bool job_column_is_known(const struct column_row *row);       /* somebody computes it */
bool step_column_is_known(const struct column_row *row);

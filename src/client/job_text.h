/* SPDX-License-Identifier: Apache-2.0 */
/* job_text.h - what squeue and scontrol say about a job, derived from its record in one place.
 *
 * Pure functions of a record and of the context below; texts go to the end of a buffer. */
#pragma once
#include "base/time.h"
#include "schema/job.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

struct show_context {
	usec_t now; /* of the controller, when it answered */
	const char *cluster;
	const char *time_format; /* SLURM_TIME_FORMAT; NULL is the standard one */
	uint32_t task_text_max;  /* SLURM_BITSTR_LEN; 0 is no limit */
	bool noconvert;          /* memory in MiB only */
	bool expand;             /* file name patterns are filled in */
	bool details, one_line, bare_tasks;
};

/* Reads SLURM_TIME_FORMAT and SLURM_BITSTR_LEN. */
void show_context_init(struct show_context *c);

bool job_is_pending(const struct job *j);
bool job_is_ended(const struct job *j);
const char *job_state_word(const struct job *j,
			   bool is_short);  /* COMPLETING comes before the base state */
usec_t job_start_time(const struct job *j); /* also when only expected; 0: unknown */
usec_t job_end_time(const struct job *j);
usec_t job_run_time(const struct job *j, usec_t now);
uint32_t job_node_count(const struct job *j);
uint32_t job_cpu_count(const struct job *j);
uint32_t job_min_cpus(const struct job *j);
uint32_t cpus_in(const struct node_alloc *alloc, uint32_t count);

void job_print_id(const struct job *j, const struct show_context *c, struct buf *out);
void job_print_tasks(const struct job *j, const struct show_context *c, struct buf *out);
void job_print_reason(const struct job *j, struct buf *out);
const char *job_partition(const struct job *j); /* where it runs, or those where it may */
void job_print_command(const struct job *j, struct buf *out);
/* "gres/gpu:a100:2" with sep ':', "gres/gpu:a100=2" with '='. */
void gres_requests_print(const struct gres_request *g, uint32_t count, char sep, struct buf *out);
void job_print_tres_per_task(const struct job *j, struct buf *out);
void job_print_req_tres(const struct job *j, const struct show_context *c, struct buf *out);
void job_print_alloc_tres(const struct job *j, const struct show_context *c, struct buf *out);
void step_print_tres(const struct step *s, const struct show_context *c, struct buf *out);
/* gpu:a100:4 over all of `alloc`, with the devices of the first node behind it when asked. */
void alloc_print_gres(const struct node_alloc *alloc, uint32_t count, bool with_index,
		      struct buf *out);

enum job_file { JOB_FILE_IN, JOB_FILE_OUT, JOB_FILE_ERR };
void job_print_file(const struct job *j, enum job_file which, bool expand, struct buf *out);

void text_put_time(const struct show_context *c, usec_t when, const char *none, struct buf *out);
void text_put_memory(const struct show_context *c, uint64_t mib, struct buf *out);
void text_put_or(const char *s, const char *none, struct buf *out); /* `none` for NULL and "" */

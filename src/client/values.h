/* SPDX-License-Identifier: Apache-2.0 */
/* values.h - between the files of the value parsers: the member a value goes to, and how to set it.
 *
 * Every parse_*() is named by the `parse` column of schema/options.def; values.c has the table. */
#pragma once
#include "client/options.h"

#include <stdbool.h>
#include <stdint.h>

struct value {
	struct options *o;
	const struct option_use *use;
	const char *text;      /* NULL when an optional value was left out */
	void *obj;             /* record that holds the member, or is the target itself */
	const struct field *f; /* NULL when the target is a record */
};

typedef int (*value_fn)(struct value *v, struct error *err);

void *value_slot(const struct value *v);
void value_mark(const struct value *v);               /* an optional member is there now */
int value_set_u32(const struct value *v, uint32_t n); /* these return 0 */
int value_set_bool(const struct value *v, bool b);
int value_set_usec(const struct value *v, usec_t t);
int value_set_text(const struct value *v, const char *text);

/* values.c */
int parse_nothing(struct value *v, struct error *err);
int parse_flag(struct value *v, struct error *err);
int parse_yes(struct value *v, struct error *err);
int parse_no(struct value *v, struct error *err);
int parse_bit(struct value *v, struct error *err);
int parse_only0(struct value *v, struct error *err);
int parse_nodewait(struct value *v, struct error *err);
int parse_more(struct value *v, struct error *err);
int parse_number(struct value *v, struct error *err);
int parse_count(struct value *v, struct error *err);
int parse_seconds(struct value *v, struct error *err);
int parse_jobid(struct value *v, struct error *err);
int parse_anytext(struct value *v, struct error *err);
int parse_text(struct value *v, struct error *err);
int parse_path(struct value *v, struct error *err);
int parse_limit(struct value *v, struct error *err);
int parse_date(struct value *v, struct error *err);
int parse_memory(struct value *v, struct error *err);
int parse_nice(struct value *v, struct error *err);
int parse_priority(struct value *v, struct error *err);
/* values_nodes.c: nodes and generic resources */
int parse_nodes(struct value *v, struct error *err);
int parse_shape(struct value *v, struct error *err);
int parse_nodelist(struct value *v, struct error *err);
int parse_nodefile(struct value *v, struct error *err);
int parse_gpus(struct value *v, struct error *err);
int parse_gres(struct value *v, struct error *err);
int parse_trestask(struct value *v, struct error *err);
int parse_switches(struct value *v, struct error *err);
int parse_exclusive(struct value *v, struct error *err);
/* values_words.c */
int parse_array(struct value *v, struct error *err);
int parse_depend(struct value *v, struct error *err);
int parse_openmode(struct value *v, struct error *err);
int parse_requeue(struct value *v, struct error *err);
int parse_nokill(struct value *v, struct error *err);
int parse_mailtype(struct value *v, struct error *err);
int parse_signame(struct value *v, struct error *err);
int parse_dist(struct value *v, struct error *err);
int parse_cpubind(struct value *v, struct error *err);
int parse_gpubind(struct value *v, struct error *err);
int parse_tresbind(struct value *v, struct error *err);
int parse_hint(struct value *v, struct error *err);
int parse_gresflag(struct value *v, struct error *err);
int parse_gpufreq(struct value *v, struct error *err);
int parse_mpi(struct value *v, struct error *err);
int parse_pty(struct value *v, struct error *err);
int parse_export(struct value *v, struct error *err);

/* SPDX-License-Identifier: Apache-2.0 */
/* `scontrol show config`: the rows of slurm_conf in the order in which they are written, each as the
 * row says (unit=, as=, absent=, show=, unless=).  Values that depend on others when they are not
 * given are filled into a copy first; so are those that only the controller knows. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "conf/conf.h"
#include "conf/value.h"
#include "host/user.h"
#include "schema/messages.h"
#include "text/date.h"
#include "text/duration.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { KILL_TIMEOUTS = 5, NAME_MAX_LEN = 256 };

struct showing {
	const struct slurm_conf *main;
	struct arena *arena;
	struct conf_line *lines;
	uint32_t count;
};

static void derive(const struct conf *c, struct slurm_conf *m)
{
	if (!m->has_max_dbd_msgs) {
		uint64_t wanted = 2ull * m->max_job_count + 4 * c->node_count;
		m->max_dbd_msgs = wanted < 10000 ? 10000 : wanted > UINT32_MAX ? UINT32_MAX : (uint32_t)wanted;
		m->has_max_dbd_msgs = true;
	}
	if (!m->has_max_node_count) {
		m->max_node_count = (uint32_t)c->node_count;
		m->has_max_node_count = true;
	}
	if (!m->has_unkillable_step_timeout) {
		uint32_t messages = KILL_TIMEOUTS * m->message_timeout;
		m->unkillable_step_timeout = messages > 60 ? messages : 60;
		m->has_unkillable_step_timeout = true;
	}
}

static const char *text_at(const struct field *f, const struct slurm_conf *m)
{
	const char *s;
	memcpy(&s, (const char *)m + f->offset, sizeof(s));
	return s;
}

/* ---- one value ------------------------------------------------------------------------------------ */

static void print_user(const char *name, struct buf *out)
{
	uid_t uid;
	char known[NAME_MAX_LEN];
	if (user_uid(name, &uid) < 0) {
		buf_puts(out, name);
		return;
	}
	user_name(uid, known, sizeof(known));
	buf_printf(out, "%s(%u)", known, (unsigned)uid);
}

static void print_text(const struct field *f, const char *text, struct buf *out)
{
	if (field_says(f, "as", "user")) {
		print_user(text, out);
	} else if (field_says(f, "as", "upper")) {
		for (; *text; text++)
			buf_putc(out, (char)toupper((unsigned char)*text));
	} else {
		buf_puts(out, text);
	}
}

static void print_time(const struct field *f, usec_t t, struct buf *out)
{
	char text[(int)DATE_TEXT + (int)DURATION_TEXT];
	if (field_says(f, "as", "date"))
		date_print(t, text);
	else
		duration_print_long(t, text);
	buf_puts(out, text);
}

static void print_value(const struct field *f, const struct slurm_conf *m, struct buf *out)
{
	const void *at = (const char *)m + f->offset;
	switch (f->kind) {
	case FIELD_BOOL:
		buf_puts(out, *(const bool *)at ? "yes" : "no");
		break;
	case FIELD_U32:
		buf_printf(out, "%u", *(const uint32_t *)at);
		break;
	case FIELD_U64:
		buf_printf(out, "%llu", (unsigned long long)*(const uint64_t *)at);
		break;
	case FIELD_I64:
		print_time(f, *(const usec_t *)at, out);
		break;
	case FIELD_STR:
		print_text(f, text_at(f, m), out);
		break;
	case FIELD_F64:
	case FIELD_BYTES:
	case FIELD_BITS:
	case FIELD_ENUM:
	case FIELD_RECORD:
		break; /* slurm.conf has none of these */
	}
	if (f->unit)
		buf_printf(out, " %s", f->unit);
}

static bool is_set(const struct field *f, const struct slurm_conf *m)
{
	return f->kind == FIELD_STR ? text_at(f, m) != NULL : field_present(f, m);
}

static void print_absent(const struct field *f, const struct slurm_conf *m, struct buf *out)
{
	if (!f->absent) {
		buf_puts(out, "(null)");
	} else if (f->absent[0] == '@') {
		const struct field *other = record_field(&slurm_conf_record, f->absent + 1);
		print_value(other, m, out);
	} else {
		buf_puts(out, f->absent);
	}
}

/* ---- the lines ------------------------------------------------------------------------------------ */

static void add_line(struct showing *s, char *key, const char *value)
{
	s->lines[s->count++] = (struct conf_line){ key, arena_strdup(s->arena, value) };
}

static void show_list(struct showing *s, const struct field *f, const char *key)
{
	uint32_t count;
	char **list;
	memcpy(&list, (const char *)s->main + f->offset, sizeof(list));
	memcpy(&count, (const char *)s->main + f->count_offset, sizeof(count));
	for (uint32_t i = 0; i < count; i++)
		add_line(s, arena_printf(s->arena, "%s[%u]", key, i), list[i]);
}

static bool is_hidden(const struct field *f, const char *show, const struct slurm_conf *m)
{
	char other[64];
	if (str_eq(show, "no") || (str_eq(show, "set") && !is_set(f, m)))
		return true;
	return field_attr(f, "unless", other, sizeof(other)) &&
	       is_set(record_field(&slurm_conf_record, other), m);
}

static void show_row(struct showing *s, const struct field *f)
{
	char show[64] = "";
	AUTO_BUF struct buf value = {};
	field_attr(f, "show", show, sizeof(show));
	if (is_hidden(f, show, s->main))
		return;
	const char *key = f->key ? f->key : show;
	if (f->flags & FIELD_REPEATED) {
		show_list(s, f, key);
		return;
	}
	if (is_set(f, s->main))
		print_value(f, s->main, &value);
	else
		print_absent(f, s->main, &value);
	add_line(s, arena_strdup(s->arena, key), buf_text(&value));
}

static size_t lines_most(const struct slurm_conf *m)
{
	size_t most = 0;
	for (size_t i = 0; i < slurm_conf_record.field_count; i++) {
		const struct field *f = &slurm_conf_record.fields[i];
		most += f->flags & FIELD_REPEATED ? *(const uint32_t *)((const char *)m + f->count_offset) : 1;
	}
	return most;
}

void conf_show(const struct conf *c, usec_t boot_time, uint32_t next_job_id, struct arena *a,
	       struct conf_line **ret, uint32_t *ret_count)
{
	struct slurm_conf m = c->main;
	const struct record *r = &slurm_conf_record;
	derive(c, &m);
	m.boot_time = boot_time;
	m.next_job_id = next_job_id;
	m.slurm_conf_path = arena_strdup(a, c->path);
	m.slurm_version = arena_strdup(a, MUSTER_VERSION);
	struct showing s = { &m, a, ARENA_ARRAY(a, struct conf_line, lines_most(&m)), 0 };
	const struct field **order = ARENA_ARRAY(a, const struct field *, r->field_count);
	for (size_t i = 0; i < r->field_count; i++)
		order[r->fields[i].row] = &r->fields[i];
	for (size_t i = 0; i < r->field_count; i++)
		show_row(&s, order[i]);
	*ret = s.lines;
	*ret_count = s.count;
}

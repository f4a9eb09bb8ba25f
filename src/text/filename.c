/* SPDX-License-Identifier: Apache-2.0 */
/* File name patterns of sbatch(1) and srun(1).  A pattern is read as a sequence of pieces: a plain
 * character, or `%`, an optional width and a letter.  What no letter stands for stays as written, so
 * that a file called 100%.log is one. */
#include "text/filename.h"

#include "base/arena.h"
#include "base/buf.h"

#include <ctype.h>
#include <string.h>

enum { WIDTH_MAX = 10 };

struct piece {
	char letter; /* 0 for plain text */
	int width;
	const char *text;
	size_t len;
};

static struct piece next_piece(const char **at)
{
	const char *s = *at;
	struct piece p = { .text = s, .len = 1 };
	if (*s == '%') {
		const char *c = s + 1;
		int width = 0;
		for (; isdigit((unsigned char)*c); c++)
			width = width > WIDTH_MAX ? width : width * 10 + (*c - '0');
		if (*c && strchr("%AabJjNnrstux", *c))
			p = (struct piece) {
				.letter = *c,
				.width = width < WIDTH_MAX ? width : WIDTH_MAX,
				.text = s,
				.len = (size_t)(c + 1 - s),
			};
	}
	*at = s + p.len;
	return p;
}

static void put_text(struct buf *out, const char *s)
{
	buf_puts(out, s ? s : "");
}

static void expand(const struct piece *p, const struct filename_values *v, struct buf *out)
{
	switch (p->letter) {
	case '%':
		buf_putc(out, '%');
		break;
	case 'A':
		buf_printf(out, "%0*u", p->width, v->array_job_id ? v->array_job_id : v->job_id);
		break;
	case 'a':
		buf_printf(out, "%0*u", p->width, v->array_task_id);
		break;
	case 'b':
		buf_printf(out, "%0*u", p->width, v->array_task_id % 10);
		break;
	case 'J':
		buf_printf(out, "%0*u.", p->width, v->job_id);
		put_text(out, v->step_name);
		break;
	case 'j':
		buf_printf(out, "%0*u", p->width, v->job_id);
		break;
	case 'N':
		put_text(out, v->node_name);
		break;
	case 'n':
		buf_printf(out, "%0*u", p->width, v->node_pos);
		break;
	case 'r':
		buf_printf(out, "%0*u", p->width, v->restart);
		break;
	case 's':
		if (v->step_name && !isdigit((unsigned char)*v->step_name))
			buf_puts(out, v->step_name); /* batch, extern, interactive */
		else
			buf_printf(out, "%0*u", p->width, v->step_id);
		break;
	case 't':
		buf_printf(out, "%0*u", p->width, v->task_id);
		break;
	case 'u':
		put_text(out, v->user);
		break;
	case 'x':
		put_text(out, v->job_name);
		break;
	default:
		buf_put(out, p->text, p->len);
		break;
	}
}

char *filename_expand(const char *pattern, const struct filename_values *v, struct arena *a)
{
	AUTO_BUF struct buf out = {};
	bool is_off = strchr(pattern, '\\') != NULL;
	for (const char *at = pattern; *at;) {
		if (is_off) {
			if (*at != '\\')
				buf_putc(&out, *at);
			at++;
			continue;
		}
		struct piece p = next_piece(&at);
		expand(&p, v, &out);
	}
	return arena_strdup(a, buf_text(&out));
}

bool filename_is_per_task(const char *pattern)
{
	if (strchr(pattern, '\\'))
		return false;
	for (const char *at = pattern; *at;) {
		struct piece p = next_piece(&at);
		if (p.letter && strchr("tnN", p.letter))
			return true;
	}
	return false;
}

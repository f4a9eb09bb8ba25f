/* SPDX-License-Identifier: Apache-2.0 */
/* YAML by libyaml's events: a walk that follows the nesting and hangs what it meets into a tree.
 *
 * The walk calls itself once per level of nesting, and levels are bounded. */
#include "conf/yaml.h"

#include "base/arena.h"
#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <yaml.h>

enum { DEPTH_MAX = 16, PARTS_MAX = 1 << 20 };

struct reading {
	yaml_parser_t parser;
	struct arena *arena;
	uint32_t parts, line;
	struct error *err;
};

static int refuse(struct reading *r, const char *what)
{
	return error_set(r->err, -EINVAL, "%s", what);
}

static int next_event(struct reading *r, yaml_event_t *ret)
{
	if (!yaml_parser_parse(&r->parser, ret)) {
		r->line = (uint32_t)r->parser.problem_mark.line + 1;
		return refuse(r, r->parser.problem ? r->parser.problem : "this is not YAML");
	}
	r->line = (uint32_t)ret->start_mark.line + 1;
	return 0;
}

static int walk(struct reading *r, yaml_event_t *event, unsigned depth, struct yaml **ret);

/* The members up to the end of the list or map. */
static int members(struct reading *r, struct yaml *owner, unsigned depth)
{
	struct yaml **tail = &owner->first;
	for (;;) {
		yaml_event_t event;
		const char *key = NULL;
		int e = next_event(r, &event);
		uint32_t line = r->line;
		if (e < 0)
			return e;
		if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&event);
			return 0;
		}
		if (owner->kind == YAML_MAP) {
			bool is_word = event.type == YAML_SCALAR_EVENT &&
				       event.data.scalar.length > 0;
			if (is_word)
				key = arena_strdup(r->arena, (const char *)event.data.scalar.value);
			yaml_event_delete(&event);
			if (!is_word)
				return refuse(r, "a key is a word");
			e = next_event(r, &event);
			if (e < 0)
				return e;
		}
		e = walk(r, &event, depth, tail);
		yaml_event_delete(&event);
		if (e < 0)
			return e;
		(*tail)->key = key;
		(*tail)->line = line; /* of the key, where there is one */
		tail = &(*tail)->next;
	}
}

static int walk(struct reading *r, yaml_event_t *event, unsigned depth, struct yaml **ret)
{
	struct yaml *y = ARENA_NEW(r->arena, struct yaml);
	y->line = r->line;
	*ret = y;
	if (depth > DEPTH_MAX || ++r->parts > PARTS_MAX)
		return refuse(r, "too many parts, or too deep inside each other");
	if (event->type == YAML_SCALAR_EVENT && !event->data.scalar.anchor) {
		y->text = arena_strdup(r->arena, (const char *)event->data.scalar.value);
		return 0;
	}
	y->kind = event->type == YAML_MAPPING_START_EVENT ? YAML_MAP : YAML_LIST;
	bool plain =
		(event->type == YAML_MAPPING_START_EVENT && !event->data.mapping_start.anchor) ||
		(event->type == YAML_SEQUENCE_START_EVENT && !event->data.sequence_start.anchor);
	if (!plain)
		return refuse(r, "anchors and aliases (& and *) are not understood here");
	return members(r, y, depth + 1);
}

/* The stream and document events around the one document. */
static int documents(struct reading *r, struct yaml **ret)
{
	uint32_t seen = 0;
	for (;;) {
		yaml_event_t event;
		int e = next_event(r, &event);
		if (e < 0)
			return e;
		yaml_event_type_t type = event.type;
		if (type == YAML_DOCUMENT_START_EVENT && seen++)
			e = refuse(r, "a second document begins here: one is read");
		else if (type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT &&
			 type != YAML_DOCUMENT_END_EVENT && type != YAML_STREAM_END_EVENT)
			e = walk(r, &event, 0, ret);
		yaml_event_delete(&event);
		if (e < 0 || type == YAML_STREAM_END_EVENT)
			return e;
	}
}

int yaml_read(const char *text, size_t len, struct arena *a, struct yaml **ret, uint32_t *ret_line,
	      struct error *err)
{
	struct reading r = { .arena = a, .line = 1, .err = err };
	*ret = NULL;
	if (!yaml_parser_initialize(&r.parser))
		return error_set(err, -ENOMEM, "no memory for the YAML parser");
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
	int e = documents(&r, ret);
	*ret_line = r.line;
	yaml_parser_delete(&r.parser);
	return e;
}

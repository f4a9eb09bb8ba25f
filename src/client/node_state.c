/* SPDX-License-Identifier: Apache-2.0 */
/* node_state.c - composing and matching the words for a node's state.
 *
 * The base state says what the node does (DOWN, IDLE, MIXED, ALLOCATED), flags what else is to be known.
 * The one word of sinfo is chosen by precedence: a drained or failed node is named by that, whatever it
 * does; a node that only cleans up is COMPLETING, an idle one that is kept for a planned job PLANNED.  What
 * did not become the word may become the sign behind it: `*` the daemon does not answer, `-` planned,
 * `+` some jobs complete.  There is room for one sign, and `*` wins. */
#include "client/node_state.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "schema/node.h"

#include <errno.h>
#include <string.h>

#define FLAG(name) (1u << NODE_FLAG_##name)

struct node_status node_status_of(const struct node *n)
{
	struct node_status s = { .base = NODE_STATE_IDLE };
	uint32_t used = bitset_count(&n->used_cores);
	bool runs = n->job_count > n->completing_count;

	if (n->down)
		s.base = NODE_STATE_DOWN;
	else if (!n->registered)
		s.base = NODE_STATE_UNKNOWN;
	else if (runs && (n->exclusive_job || (n->conf.cpus && used >= n->conf.cpus)))
		s.base = NODE_STATE_ALLOCATED;
	else if (runs)
		s.base = NODE_STATE_MIXED;
	if (n->completing_count)
		s.flags |= FLAG(COMPLETING);
	if (n->drain)
		s.flags |= FLAG(DRAIN);
	if (n->fail)
		s.flags |= FLAG(FAIL);
	if (!n->responding)
		s.flags |= FLAG(NO_RESPOND);
	if (n->planned)
		s.flags |= FLAG(PLANNED);
	return s;
}

bool node_status_is_busy(struct node_status s)
{
	return s.base == NODE_STATE_ALLOCATED || s.base == NODE_STATE_MIXED ||
	       node_status_has(s, NODE_FLAG_COMPLETING);
}

bool node_status_is_out(struct node_status s)
{
	return s.base == NODE_STATE_DOWN || s.base == NODE_STATE_UNKNOWN ||
	       s.base == NODE_STATE_FUTURE || s.flags & (FLAG(DRAIN) | FLAG(FAIL));
}

uint32_t node_status_number(struct node_status s)
{
	return (uint32_t)s.base | s.flags;
}

void node_status_print(struct node_status s, struct buf *out)
{
	buf_puts(out, enum_text(&node_state_enum, s.base));
	if (node_status_has(s, NODE_FLAG_NO_RESPOND))
		buf_putc(out, '*');
	for (size_t i = 0; i < node_flag_enum.count; i++) {
		const struct enum_value *v = &node_flag_enum.values[i];
		if (v->number != NODE_FLAG_NO_RESPOND &&
		    node_status_has(s, (enum node_flag)v->number))
			buf_printf(out, "+%s", v->text);
	}
}

struct word {
	const char *text, *short_text;
};

static struct word choose_word(struct node_status s)
{
	bool busy = node_status_is_busy(s);
	if (node_status_has(s, NODE_FLAG_DRAIN))
		return busy ? (struct word) { "DRAINING", "DRNG" }
			    : (struct word) { "DRAINED", "DRAIN" };
	if (node_status_has(s, NODE_FLAG_FAIL))
		return busy ? (struct word) { "FAILING", "FAILG" }
			    : (struct word) { "FAIL", "FAIL" };
	if (node_status_has(s, NODE_FLAG_COMPLETING) && s.base == NODE_STATE_IDLE)
		return (struct word) { "COMPLETING", "COMP" };
	if (node_status_has(s, NODE_FLAG_PLANNED) && s.base == NODE_STATE_IDLE)
		return (struct word) { "PLANNED", "PLND" };
	return (struct word) { enum_text(&node_state_enum, s.base),
			       enum_short(&node_state_enum, s.base) };
}

static const char *choose_sign(struct node_status s)
{
	bool runs = s.base == NODE_STATE_ALLOCATED || s.base == NODE_STATE_MIXED;
	if (node_status_has(s, NODE_FLAG_NO_RESPOND))
		return "*";
	if (s.flags & (FLAG(DRAIN) | FLAG(FAIL)) || !runs)
		return "";
	if (node_status_has(s, NODE_FLAG_PLANNED))
		return "-";
	return node_status_has(s, NODE_FLAG_COMPLETING) ? "+" : "";
}

void node_status_print_word(struct node_status s, bool is_short, struct buf *out)
{
	struct word w = choose_word(s);
	buf_puts(out, is_short ? w.short_text : w.text);
	buf_puts(out, choose_sign(s));
}

/* ---- matching ---------------------------------------------------------------------------------- */

enum match {
	MATCH_BASE, /* the base state, whatever the flags */
	MATCH_FLAG,
	MATCH_IDLE_FLAG, /* the flag on a node that is not busy */
	MATCH_BUSY_FLAG,
	MATCH_NEVER, /* a word of Slurm's for what does not exist here yet */
};

static const struct {
	const char *text, *short_text;
	enum match match;
	uint32_t number;
} state_words[] = {
	{ "ALLOCATED", "ALLOC", MATCH_BASE, NODE_STATE_ALLOCATED },
	{ "DOWN", "DOWN", MATCH_BASE, NODE_STATE_DOWN },
	{ "ERROR", "ERR", MATCH_BASE, NODE_STATE_ERROR },
	{ "FUTURE", "FUTR", MATCH_BASE, NODE_STATE_FUTURE },
	{ "IDLE", "IDLE", MATCH_BASE, NODE_STATE_IDLE },
	{ "MIXED", "MIX", MATCH_BASE, NODE_STATE_MIXED },
	{ "UNKNOWN", "UNK", MATCH_BASE, NODE_STATE_UNKNOWN },
	{ "COMPLETING", "COMP", MATCH_FLAG, NODE_FLAG_COMPLETING },
	{ "DRAIN", "DRAIN", MATCH_FLAG, NODE_FLAG_DRAIN },
	{ "DRAINED", "DRAINED", MATCH_IDLE_FLAG, NODE_FLAG_DRAIN },
	{ "DRAINING", "DRNG", MATCH_BUSY_FLAG, NODE_FLAG_DRAIN },
	{ "FAIL", "FAIL", MATCH_FLAG, NODE_FLAG_FAIL },
	{ "FAILING", "FAILG", MATCH_BUSY_FLAG, NODE_FLAG_FAIL },
	{ "NO_RESPOND", "NOT_RESPONDING", MATCH_FLAG, NODE_FLAG_NO_RESPOND },
	{ "PLANNED", "PLND", MATCH_FLAG, NODE_FLAG_PLANNED },
	{ "BLOCKED", "BLOCK", MATCH_NEVER, 0 },
	{ "CLOUD", "CLOUD", MATCH_NEVER, 0 },
	{ "EXTERNAL", "EXT", MATCH_NEVER, 0 },
	{ "INVAL", "INVALID_REG", MATCH_NEVER, 0 },
	{ "MAINT", "MAINT", MATCH_NEVER, 0 },
	{ "POWER_DOWN", "POW_DN", MATCH_NEVER, 0 },
	{ "POWER_UP", "POW_UP", MATCH_NEVER, 0 },
	{ "POWERED_DOWN", "POWERED_DN", MATCH_NEVER, 0 },
	{ "POWERING_DOWN", "POWRING_DN", MATCH_NEVER, 0 },
	{ "POWERING_UP", "POWERING_UP", MATCH_NEVER, 0 },
	{ "REBOOT", "BOOT", MATCH_NEVER, 0 },
	{ "REBOOT_ISSUED", "REBOOT_ISSUED", MATCH_NEVER, 0 },
	{ "REBOOT_REQUESTED", "REBOOT_REQUESTED", MATCH_NEVER, 0 },
	{ "RESERVED", "RESV", MATCH_NEVER, 0 },
};

static bool is_word(const char *word, const char *s, size_t len)
{
	return strlen(word) == len && strncasecmp(word, s, len) == 0;
}

/* Index into state_words, or -1. */
static int word_find(const char *s, size_t len)
{
	for (size_t i = 0; i < ARRAY_COUNT(state_words); i++)
		if (is_word(state_words[i].text, s, len) ||
		    is_word(state_words[i].short_text, s, len))
			return (int)i;
	return -1;
}

int node_states_check(const char *list, struct error *err)
{
	for (const char *p = list; *p;) {
		p += *p == '~';
		size_t n = strcspn(p, ",+&");
		if (!is_word("all", p, n) && word_find(p, n) < 0)
			return error_set(
				err, -EINVAL,
				"'%.*s' is no state of a node; states are idle, mixed, allocated, down, "
				"drain, drained, draining, completing, planned, fail, no_respond, unknown",
				(int)(n < 64 ? n : 64), p);
		p += n;
		p += *p != 0;
	}
	return 0;
}

static bool word_matches(size_t word, struct node_status s)
{
	uint32_t number = state_words[word].number;
	switch (state_words[word].match) {
	case MATCH_BASE:
		return (uint32_t)s.base == number;
	case MATCH_FLAG:
		return node_status_has(s, (enum node_flag)number);
	case MATCH_IDLE_FLAG:
		return node_status_has(s, (enum node_flag)number) && !node_status_is_busy(s);
	case MATCH_BUSY_FLAG:
		return node_status_has(s, (enum node_flag)number) && node_status_is_busy(s);
	case MATCH_NEVER:
		break;
	}
	return false;
}

/* Words joined by `+` (or `&`), up to the next comma. */
static bool group_matches(const char **list, struct node_status s)
{
	bool all = true;
	const char *p = *list;
	for (;;) {
		bool negated = *p == '~';
		p += negated;
		size_t n = strcspn(p, ",+&");
		int word = word_find(p, n);
		bool hit = is_word("all", p, n) || (word >= 0 && word_matches((size_t)word, s));
		all = all && hit != negated;
		p += n;
		if (*p != '+' && *p != '&')
			break;
		p++;
	}
	*list = p;
	return all;
}

bool node_states_match(const char *list, struct node_status s)
{
	while (*list) {
		if (group_matches(&list, s))
			return true;
		list += *list == ',';
	}
	return false;
}

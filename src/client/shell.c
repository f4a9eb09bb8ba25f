/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the text with the present word and the present command at hand.  The grammar of a real
 * shell is much larger; what matters here is that nothing inside a comment, a string or a here-document
 * is ever taken for a command, and that any bytes at all come to an end. */
#include "client/shell.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"

#include <ctype.h>
#include <string.h>

struct reader {
	const char *at, *end;
	struct arena *arena;
	struct buf word;
	bool in_word;  /* also when it is empty so far, as in "" */
	bool is_plain; /* nothing of the word was quoted */
	bool is_target; /* the next word belongs to a redirection */
	bool is_mark;   /* ... and ends a here-document */
	VEC(char *) words;
	VEC(char *) marks; /* ends of the here-documents that begin behind this line */
	VEC(struct shell_command) commands;
	VEC(char *) assigned;
};

static bool is_keyword(const char *word)
{
	static const char *const known[] = { "if",   "then",  "elif", "else", "fi",     "do",
					     "done", "while", "until", "{",   "}",      "!",
					     "time", "exec",  "nohup", "command", "builtin", "esac" };
	for (size_t i = 0; i < ARRAY_COUNT(known); i++)
		if (str_eq(word, known[i]))
			return true;
	return false;
}

static bool is_assignment(const char *word)
{
	const char *p = word;
	if (!isalpha((unsigned char)*p) && *p != '_')
		return false;
	while (isalnum((unsigned char)*p) || *p == '_')
		p++;
	return *p == '=' || (p[0] == '+' && p[1] == '=');
}

static void end_word(struct reader *r)
{
	if (!r->in_word)
		return;
	char *word = arena_strndup(r->arena, buf_text(&r->word), r->word.len);
	bool is_prefix = r->words.count == 0 && !r->is_target && r->is_plain;
	r->in_word = false;
	r->word.len = 0;
	if (r->is_mark)
		vec_push(&r->marks, word);
	else if (r->words.count == 0 && !r->is_target && is_assignment(word))
		vec_push(&r->assigned, word);
	else if (!r->is_target && !(is_prefix && is_keyword(word)))
		vec_push(&r->words, word);
	r->is_target = r->is_mark = false;
}

static void end_command(struct reader *r)
{
	end_word(r);
	r->is_target = r->is_mark = false;
	if (r->words.count == 0)
		return;
	struct shell_command c = { .count = (uint32_t)r->words.count };
	c.words = ARENA_ARRAY(r->arena, char *, r->words.count + 1);
	memcpy(c.words, r->words.at, r->words.count * sizeof(*c.words));
	vec_push(&r->commands, c);
	vec_clear(&r->words);
}

static void add(struct reader *r, char c)
{
	if (!r->in_word)
		r->is_plain = true;
	r->in_word = true;
	buf_putc(&r->word, c);
}

/* Takes everything up to the closing character, counting nested opening ones, into the word. */
static void add_nested(struct reader *r, char open, char close)
{
	int depth = 0;
	while (r->at < r->end) {
		char c = *r->at++;
		add(r, c);
		if (c == '\\' && r->at < r->end)
			add(r, *r->at++);
		else if (c == open)
			depth++;
		else if (c == close && --depth <= 0)
			return;
	}
}

static void add_dollar(struct reader *r)
{
	add(r, *r->at++);
	if (r->at < r->end && *r->at == '(')
		add_nested(r, '(', ')');
	else if (r->at < r->end && *r->at == '{')
		add_nested(r, '{', '}');
}

static void add_quoted(struct reader *r, char quote)
{
	add(r, 'x'); /* a word, even if nothing is in the quotes */
	r->word.len--;
	r->is_plain = false;
	for (r->at++; r->at < r->end && *r->at != quote;) {
		if (quote == '"' && *r->at == '$')
			add_dollar(r);
		else if (quote == '"' && *r->at == '\\' && r->at + 1 < r->end) {
			if (r->at[1] != '\n')
				add(r, r->at[1]);
			r->at += 2;
		} else {
			add(r, *r->at++);
		}
	}
	r->at += r->at < r->end;
}

static size_t line_length(const struct reader *r)
{
	const char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
	return end ? (size_t)(end - r->at) : (size_t)(r->end - r->at);
}

static void skip_line(struct reader *r)
{
	r->at += line_length(r);
	r->at += r->at < r->end;
}

/* At the beginning of a line: the here-documents that were announced on the one before. */
static void skip_documents(struct reader *r)
{
	for (size_t i = 0; i < r->marks.count; i++) {
		const char *mark = r->marks.at[i];
		bool done = false;
		while (r->at < r->end && !done) {
			size_t len = line_length(r), tabs = 0;
			while (tabs < len && r->at[tabs] == '\t')
				tabs++;
			done = len - tabs == strlen(mark) && memcmp(r->at + tabs, mark, len - tabs) == 0;
			skip_line(r);
		}
	}
	vec_clear(&r->marks);
}

/* 2>&1, >file, <<EOF, <<<word, <(...): the operator, and the word behind it, say nothing about what
 * is started. */
static void redirect(struct reader *r)
{
	if (r->in_word && strspn(buf_text(&r->word), "0123456789") == r->word.len) {
		r->in_word = false; /* a descriptor */
		r->word.len = 0;
	}
	end_word(r);
	const char *from = r->at;
	while (r->at < r->end && (*r->at == '<' || *r->at == '>' || *r->at == '&' || *r->at == '|'))
		r->at++;
	if (r->at < r->end && *r->at == '(') {
		add_nested(r, '(', ')');
		r->is_target = true;
		end_word(r);
		return;
	}
	r->is_target = true;
	r->is_mark = r->at - from == 2 && from[0] == '<' && from[1] == '<';
	if (r->is_mark && r->at < r->end && *r->at == '-')
		r->at++;
}

static void step(struct reader *r)
{
	char c = *r->at;
	bool has_next = r->at + 1 < r->end;
	if (c == '\\' && has_next && r->at[1] == '\n') {
		r->at += 2;
	} else if (c == '\\' && has_next) {
		add(r, r->at[1]);
		r->is_plain = false;
		r->at += 2;
	} else if (c == '\'' || c == '"') {
		add_quoted(r, c);
	} else if (c == '`') {
		add(r, c);
		add_quoted(r, c);
	} else if (c == '$') {
		add_dollar(r);
	} else if (c == '#' && !r->in_word) {
		r->at += line_length(r);
	} else if (c == '<' || c == '>' || (c == '&' && has_next && r->at[1] == '>')) {
		redirect(r);
	} else if (c == '\n') {
		end_command(r);
		r->at++;
		skip_documents(r);
	} else if (c && strchr(";&|()", c)) {
		end_command(r);
		r->at++;
	} else if (isspace((unsigned char)c)) {
		end_word(r);
		r->at++;
	} else {
		add(r, c);
		r->at++;
	}
}

void shell_read(const char *text, size_t len, struct arena *a, struct shell_script *ret)
{
	struct reader r = { .at = text, .end = text + len, .arena = a };
	while (r.at < r.end)
		step(&r);
	end_command(&r);
	ret->count = (uint32_t)r.commands.count;
	ret->commands = ARENA_ARRAY(a, struct shell_command, r.commands.count + 1);
	for (uint32_t i = 0; i < ret->count; i++)
		ret->commands[i] = r.commands.at[i];
	ret->assigned_count = (uint32_t)r.assigned.count;
	ret->assigned = ARENA_ARRAY(a, char *, r.assigned.count + 1);
	for (uint32_t i = 0; i < ret->assigned_count; i++)
		ret->assigned[i] = r.assigned.at[i];
	buf_done(&r.word);
	vec_done(&r.words);
	vec_done(&r.marks);
	vec_done(&r.commands);
	vec_done(&r.assigned);
}

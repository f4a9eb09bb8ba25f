/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs into records: which row a key means, and setting it.
 *
 * Keys are looked up in a map per record that is made at the first use; a command makes one of a
 * dozen rows only.  Older spellings are replaced first (schema/conf.def, table old_keys), and keys
 * that are gone are refused with what to write instead. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "conf/loader.h"
#include "conf/value.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

enum { KEY_MAX = 64, CANDIDATES_MAX = 300, REWRITES_MAX = 4, WORDS_TEXT_MAX = 512 };

/* What begins a line of slurm.conf beside the plain keys. */
static const char *const openers[] = { "NodeName", "PartitionName", "NodeSet", "DownNodes", "Include" };

static bool lower_key(const char *key, char ret[KEY_MAX])
{
	size_t n = 0;
	for (; key[n]; n++) {
		if (n + 1 >= KEY_MAX)
			return false;
		ret[n] = (char)tolower((unsigned char)key[n]);
	}
	ret[n] = '\0';
	return true;
}

static struct keytab *keytab_of(struct loader *ld, const struct record *r)
{
	struct keytab *t = ld->keytabs;
	while (t->record && t->record != r)
		t++;
	assert(t < ld->keytabs + KEYTAB_COUNT);
	if (t->record)
		return t;
	t->record = r;
	for (size_t i = 0; i < r->field_count; i++) {
		const struct field *f = &r->fields[i];
		char key[KEY_MAX];
		if (f->key && (!ld->client || field_says(f, "client", "yes")) && lower_key(f->key, key))
			map_put_str(&t->fields, key, (void *)(uintptr_t)f);
	}
	return t;
}

const struct field *key_field(struct loader *ld, const struct record *r, const char *key)
{
	char low[KEY_MAX];
	return lower_key(key, low) ? map_get_str(&keytab_of(ld, r)->fields, low) : NULL;
}

static void replace_old(const struct record *r, struct lex_pair *pair)
{
	for (int n = 0; n < REWRITES_MAX; n++) {
		size_t i = 0;
		for (; i < OLD_KEY_ROW_COUNT; i++) {
			const struct old_key_row *o = &old_keys_table[i];
			if (str_eq(o->record, r->name) && str_ieq(o->key, pair->key) &&
			    (!o->value || str_ieq(o->value, pair->value)))
				break;
		}
		if (i == OLD_KEY_ROW_COUNT)
			return;
		pair->key = old_keys_table[i].new_key;
		if (old_keys_table[i].new_value)
			pair->value = old_keys_table[i].new_value;
	}
}

static const char *gone_hint(const struct record *r, const char *key)
{
	for (size_t i = 0; i < GONE_KEY_ROW_COUNT; i++)
		if (str_eq(gone_keys_table[i].record, r->name) && str_ieq(gone_keys_table[i].key, key))
			return gone_keys_table[i].hint;
	return NULL;
}

static const char *closest_key(const struct record *r, const char *key)
{
	const char *candidates[CANDIDATES_MAX];
	size_t count = 0;
	for (size_t i = 0; i < r->field_count && count < CANDIDATES_MAX; i++)
		if (r->fields[i].key)
			candidates[count++] = r->fields[i].key;
	for (size_t i = 0; r == &slurm_conf_record && i < ARRAY_COUNT(openers); i++)
		if (count < CANDIDATES_MAX)
			candidates[count++] = openers[i];
	return str_closest(key, candidates, count);
}

/* A key of a node on a line of its own, and the like. */
static const char *home_of(struct loader *ld, const struct record *r, const char *key)
{
	if (r != &node_conf_record && key_field(ld, &node_conf_record, key))
		return "NodeName";
	if (r != &partition_conf_record && key_field(ld, &partition_conf_record, key))
		return "PartitionName";
	return NULL;
}

static void report_unknown(struct loader *ld, const struct record *r, const char *where,
			   const char *key)
{
	const char *hint = gone_hint(r, key);
	if (hint) {
		report(ld, where, "%s is gone: write %s", key, hint);
		return;
	}
	const char *home = r == &slurm_conf_record || r == &node_conf_record ||
				   r == &partition_conf_record ?
				   home_of(ld, r, key) : NULL;
	if (home) {
		report(ld, where, "%s belongs on a line that begins with %s=", key, home);
		return;
	}
	if (r != &slurm_conf_record && key_field(ld, &slurm_conf_record, key) &&
	    (r == &node_conf_record || r == &partition_conf_record)) {
		report(ld, where, "%s belongs on a line of its own", key);
		return;
	}
	const char *close = closest_key(r, key);
	if (close)
		report(ld, where, "%.60s: unknown key, did you mean %s?", key, close);
	else
		report(ld, where, "%.60s: unknown key", key);
}

const struct field *pair_field(struct loader *ld, const struct record *r, const struct source *src,
			       struct lex_pair *pair)
{
	replace_old(r, pair);
	const struct field *f = key_field(ld, r, pair->key);
	if (!f && !ld->client)
		report_unknown(ld, r, where_is(ld, src, pair->line), pair->key);
	return f;
}

/* Of some lists only these words have an effect; a word may have a value of its own behind `=`. */
static void remark_words(struct loader *ld, const struct field *f, const char *where, const char *value)
{
	char known[WORDS_TEXT_MAX];
	if (!field_attr(f, "words", known, sizeof(known)))
		return;
	char *rest = arena_strdup(ld->arena, value), *word;
	while ((word = strsep(&rest, ","))) {
		bool found = *word == '\0';
		size_t len = strcspn(word, "=");
		for (const char *p = known; p && !found; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
			found = strncasecmp(p, word, len) == 0 && (p[len] == '|' || p[len] == '\0');
		if (!found)
			remark(ld, where, "%s=%s: understood, has no effect yet", f->key, word);
	}
}

bool pair_set(struct loader *ld, const struct field *f, void *obj, const struct source *src,
	      const struct lex_pair *pair)
{
	struct error err;
	if (value_set(f, obj, pair->value, ld->arena, &err) < 0) {
		report(ld, where_is(ld, src, pair->line), "%s", err.text);
		return false;
	}
	if (ld->client)
		return true;
	const char *where = where_is(ld, src, pair->line);
	if (field_says(f, "use", "no"))
		remark(ld, where, "%s: understood, has no effect yet", f->key);
	remark_words(ld, f, where, pair->value);
	return true;
}

bool line_set(struct loader *ld, const struct record *r, void *obj, const struct source *src,
	      const struct lex_line *line)
{
	bool good = true;
	uint64_t seen[SEEN_WORDS] = {};
	for (size_t i = 0; i < line->count; i++) {
		struct lex_pair pair = line->pairs[i];
		const struct field *f = pair_field(ld, r, src, &pair);
		if (!f) {
			good = false;
			continue;
		}
		uint64_t *word = &seen[f->tag / 64 % SEEN_WORDS], bit = 1ull << (f->tag % 64);
		if (*word & bit) {
			report(ld, where_is(ld, src, pair.line), "%s is given twice on this line", f->key);
			good = false;
		}
		*word |= bit;
		good &= pair_set(ld, f, obj, src, &pair);
	}
	return good;
}

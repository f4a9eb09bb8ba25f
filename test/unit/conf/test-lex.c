/* SPDX-License-Identifier: Apache-2.0 */
/* Lines, comments, continuation and quotes: what the lexer makes of a text, with line numbers. */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/lex.h"
#include "../cm.h"

static const struct {
	const char *text, *want; /* line:key=<value>; "!" before an error */
} cases[] = {
	{ "", "" },
	{ "\n\n  \t\r\n# only a comment\n", "" },
	{ "A=1", "1:A=<1>;" },
	{ "A=1\nB=2\n", "1:A=<1>;2:B=<2>;" },
	{ "A=1 B=2\tC=3  \r\n", "1:A=<1> 1:B=<2> 1:C=<3>;" },
	{ "A = 1  B= 2", "1:A=<1> 1:B=<2>;" },
	{ "A=1 # B=2\nC=3", "1:A=<1>;2:C=<3>;" },
	{ "A=1#B=2", "1:A=<1>;" },
	{ "A=1\\#B=2", "1:A=<1#B=2>;" },
	{ "A=\"two words\" B=x", "1:A=<two words> 1:B=<x>;" },
	{ "A=\"bug #12\"", "1:A=<bug #12>;" },
	{ "A=\"\" B=1", "1:A=<> 1:B=<1>;" },
	{ "A=it\"s # gone", "1:A=<it\"s>;" },
	{ "A=1 \\\n  B=2\nC=3", "1:A=<1> 2:B=<2>;3:C=<3>;" },
	{ "A=1 \\  \r\n  B=2 \\\n C=3\nD=4", "1:A=<1> 2:B=<2> 3:C=<3>;4:D=<4>;" },
	{ "A=x,\\\ny,z B=1", "1:A=<x,y,z> 2:B=<1>;" },
	{ "# comment \\\nA=1", "2:A=<1>;" },
	{ "A=1 # comment \\\nB=1", "1:A=<1>;2:B=<1>;" },
	{ "A=1 \\", "1:A=<1> 1:!'\\' is not Key=Value;" },
	{ "Feature=a=b", "1:Feature=<a=b>;" },
	{ "\xef\xbb\xbf" "A=1", "1:A=<1>;" },
	{ "Include  other.conf  # x\nA=1", "1:@other.conf;2:A=<1>;" },
	{ "include /etc/x", "1:@/etc/x;" },
	{ "Include=x", "1:Include=<x>;" },
	{ "word\nA=1", "1:!'word' is not Key=Value;2:A=<1>;" },
	{ "A=1 \\\n word\nB=1", "1:A=<1> 2:!'word' is not Key=Value;3:B=<1>;" },
	{ "A=", "1:!A= has no value;" },
	{ "A=\"x", "1:!A=\"x: the closing quote is missing;" },
	{ "A=\"x\"y", "1:!A=\"x\"y: a blank must follow the closing quote;" },
	{ "=1", "1:!'=1' is not Key=Value;" },
	{ "A+=1", "1:!'A+=1' is not Key=Value;" },
};

static void print_line(struct lexer *l, int r, const struct lex_line *line, const char *error,
		       struct buf *out)
{
	if (r < 0) {
		for (size_t i = 0; i < l->pairs.count; i++)
			buf_printf(out, "%u:%s=<%s> ", l->pairs.at[i].line, l->pairs.at[i].key,
				   l->pairs.at[i].value);
		buf_printf(out, "%u:!%s;", line->line, error);
	} else if (line->include) {
		buf_printf(out, "%u:@%s;", line->line, line->include);
	} else {
		for (size_t i = 0; i < line->count; i++)
			buf_printf(out, "%s%u:%s=<%s>", i ? " " : "", line->pairs[i].line,
				   line->pairs[i].key, line->pairs[i].value);
		buf_putc(out, ';');
	}
}

static void test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_BUF struct buf out = {};
		AUTO_FREE char *text = mem_strdup(cases[i].text);
		struct lexer l;
		struct lex_line line;
		struct error err;
		int r;
		lex_init(&l, text, strlen(text));
		while ((r = lex_next(&l, &line, &err)) != 0)
			print_line(&l, r, &line, err.text, &out);
		lex_done(&l);
		assert_string_equal(buf_text(&out), cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_lines) };
	return cmocka_run_group_tests_name("conf-lex", tests, NULL, NULL);
}

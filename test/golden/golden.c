/* SPDX-License-Identifier: Apache-2.0 */
/* golden.c - runs commands against the canned cluster and compares what they print with files.
 *
 * usage: golden [--update] ROOT
 *
 * ROOT/COMMAND/CASE/cmd is one line: [VARIABLE=value...] command words; a file `input` beside it is what
 * the user types.  stdout, stderr, rc and requests are compared with the files of these names; one that is
 * missing stands for nothing (and rc for 0).  --update writes them.  Prints TAP. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "canned.h"
#include "client/words.h"
#include "cmd/ask.h"
#include "conf/conf.h"
#include "host/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct runner {
	bool update;
	unsigned count, failed;
};

static const struct {
	const char *name;
	ask_run_fn run;
} commands[] = {
	{ "squeue", squeue_run },
	{ "sinfo", sinfo_run },
	{ "scancel", scancel_run },
	{ "scontrol", scontrol_run },
};

/* The content of a file of the case, or nothing. */
static char *read_file(struct arena *a, const char *dir, const char *name)
{
	AUTO_BUF struct buf content = {};
	if (file_read(arena_printf(a, "%s/%s", dir, name), 1 << 22, &content) < 0)
		return arena_strdup(a, "");
	return arena_strdup(a, buf_text(&content));
}

static void write_file(struct arena *a, const char *dir, const char *name, const char *content)
{
	const char *path = arena_printf(a, "%s/%s", dir, name);
	if (!*content) {
		unlink(path);
		return;
	}
	FILE *f = fopen(path, "w");
	if (!f || fputs(content, f) < 0 || fclose(f) != 0)
		exit(fprintf(stderr, "cannot write %s\n", path));
}

static bool compare(struct runner *r, struct arena *a, const char *dir, const char *name,
		    const char *got)
{
	if (r->update) {
		write_file(a, dir, name, got);
		return true;
	}
	const char *want = read_file(a, dir, name);
	if (str_eq(want, got))
		return true;
	printf("# %s/%s differs\n", dir, name);
	const char *const texts[] = { want, got };
	for (int t = 0; t < 2; t++) {
		printf(t == 0 ? "# wanted:\n" : "# got:\n");
		for (const char *p = texts[t]; *p; p += strcspn(p, "\n"), p += *p == '\n')
			printf("#   %.*s|\n", (int)strcspn(p, "\n"), p);
	}
	return false;
}

/* VARIABLE=value words in front of the command go into an otherwise empty environment. */
static int set_environment(char **words, int count)
{
	int n = 0;
	clearenv();
	setenv("TZ", "UTC", 1);
	for (; n < count && strchr(words[n], '='); n++)
		putenv(words[n]);
	return n;
}

static void run_case(struct runner *r, const char *dir)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct error err = {};
	char **words;
	int count, rc = -1;
	if (words_split(read_file(a, dir, "cmd"), a, &words, &count, &err) < 0)
		exit(fprintf(stderr, "%s/cmd: %s\n", dir, err.text));
	int first = set_environment(words, count);
	struct canned canned = { .input = read_file(a, dir, "input") };
	struct ask ask = { .program = words[first], .arena = a };
	canned_world(&ask, &canned);
	for (size_t i = 0; i < ARRAY_COUNT(commands) && first < count; i++)
		if (str_eq(commands[i].name, words[first]))
			rc = commands[i].run(&ask, count - first, words + first);
	bool good = rc >= 0;
	good = compare(r, a, dir, "stdout", buf_text(&ask.out)) && good;
	good = compare(r, a, dir, "stderr", buf_text(&ask.err)) && good;
	good = compare(r, a, dir, "requests", buf_text(&canned.requests)) && good;
	good = compare(r, a, dir, "rc", rc ? arena_printf(a, "%d\n", rc) : "") && good;
	printf("%s %u - %s\n", good ? "ok" : "not ok", ++r->count, dir);
	r->failed += !good;
	buf_done(&ask.out);
	buf_done(&ask.err);
	buf_done(&canned.requests);
	conf_free(canned.conf);
	clearenv(); /* words of the arena are in it */
}

static int is_visible(const struct dirent *e)
{
	return e->d_name[0] != '.' && e->d_type == DT_DIR;
}

static void run_command(struct runner *r, const char *root, const char *command)
{
	char dir[4096], path[8192];
	struct dirent **cases;
	snprintf(dir, sizeof(dir), "%s/%s", root, command);
	int n = scandir(dir, &cases, is_visible, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, cases[i]->d_name);
		run_case(r, path);
		free(cases[i]);
	}
	if (n >= 0)
		free(cases);
}

int main(int argc, char **argv)
{
	struct runner r = { .update = argc == 3 && str_eq(argv[1], "--update") };
	if (argc != 2 && !r.update)
		return fprintf(stderr, "usage: golden [--update] ROOT\n"), 2;
	for (size_t i = 0; i < ARRAY_COUNT(commands); i++)
		run_command(&r, argv[argc - 1], commands[i].name);
	printf("1..%u\n", r.count);
	return r.failed || !r.count;
}

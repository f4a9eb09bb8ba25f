/* SPDX-License-Identifier: Apache-2.0 */
/* replay - runs a fuzz target without a fuzzer, in every build.
 *
 * usage: replay-TARGET [-n RUNS] FILE|DIRECTORY...
 *
 * First the files themselves, then RUNS inputs made from them by a few mutations each.  The mutations
 * are the same on every run and every machine.  When an input ends the program its bytes are shown in
 * a form that printf(1) turns back into a file, for a corpus or a debugger. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#include "fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RUNS = 4000, INPUT_MAX = 1 << 16, SHOWN_MAX = 2048 };

typedef VEC(struct buf) corpus_vec;

/* A signal handler has no argument of its own to find it by. */
static const struct buf *current;

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void show_current(void)
{
	static const char hex[] = "0123456789abcdef";
	char text[SHOWN_MAX * 4 + 64];
	size_t at = (size_t)snprintf(text, sizeof(text), "\nthis input: printf '");
	for (size_t i = 0; current && i < current->len && i < SHOWN_MAX; i++) {
		uint8_t byte = current->data[i];
		memcpy(text + at, (char[]) { '\\', 'x', hex[byte >> 4], hex[byte & 15] }, 4);
		at += 4;
	}
	memcpy(text + at, "'\n", 2);
	ssize_t wrote = write(2, text, at + 2);
	(void)wrote;
}

static void on_signal(int signo)
{
	show_current();
	signal(signo, SIG_DFL);
	raise(signo);
}

static void watch_for_death(void)
{
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(show_current);
	else
		signal(SIGSEGV, on_signal);
	signal(SIGABRT, on_signal);
}

static void load(const char *path, corpus_vec *ret)
{
	struct stat st;
	DIR *dir = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? opendir(path) : NULL;
	if (dir) {
		for (struct dirent *e; (e = readdir(dir));) {
			AUTO_BUF struct buf name = {};
			buf_printf(&name, "%s/%s", path, e->d_name);
			if (e->d_name[0] != '.')
				load(buf_text(&name), ret);
		}
		closedir(dir);
		return;
	}
	FILE *file = fopen(path, "rbe");
	if (!file) {
		fprintf(stderr, "replay: cannot read '%s'\n", path);
		exit(2);
	}
	struct buf bytes = {};
	char part[4096];
	size_t n;
	while ((n = fread(part, 1, sizeof(part), file)) > 0)
		buf_put(&bytes, part, n);
	fclose(file);
	vec_push(ret, bytes);
}

/* Directories list their files in any order; the mutations must not depend on it. */
static int compare_inputs(const void *a, const void *b)
{
	const struct buf *x = a, *y = b;
	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return x->len ? memcmp(x->data, y->data, x->len) : 0;
}

static uint32_t draw(uint64_t *seed, size_t limit)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return limit ? (uint32_t)((*seed >> 16) % limit) : 0;
}

static void splice(struct buf *b, size_t at, size_t drop, const void *p, size_t n)
{
	AUTO_BUF struct buf out = {};
	buf_put(&out, b->data, at);
	buf_put(&out, p, n);
	if (b->len > at + drop)
		buf_put(&out, b->data + at + drop, b->len - at - drop);
	struct buf old = *b;
	*b = out;
	out = old;
}

static void mutate(struct buf *b, const corpus_vec *corpus, uint64_t *seed)
{
	static const char marks[] = "[]-,:%=/.()x0123456789 \n+*\\{}TZ\x7f\xff";
	size_t at = draw(seed, b->len + 1), run = 1 + draw(seed, 8);
	const struct buf *other = &corpus->at[draw(seed, corpus->count)];
	if (run > b->len - at)
		run = b->len - at;
	switch (draw(seed, 7)) {
	case 0:
		if (run)
			b->data[at] ^= (uint8_t)(1u << draw(seed, 8));
		break;
	case 1:
		splice(b, at, run > 0, &marks[draw(seed, sizeof(marks))], 1);
		break;
	case 2:
		splice(b, at, 0, &marks[draw(seed, sizeof(marks))], 1);
		break;
	case 3:
		splice(b, at, run, NULL, 0);
		break;
	case 4: {
		AUTO_FREE void *copy = run ? mem_dup(b->data + at, run) : NULL;
		splice(b, draw(seed, b->len + 1), 0, copy, run);
		break;
	}
	case 5: {
		size_t from = draw(seed, other->len + 1);
		if (from < other->len)
			splice(b, at, b->len - at, other->data + from, other->len - from);
		break;
	}
	default:
		splice(b, at, b->len - at, NULL, 0);
		break;
	}
}

static void run_input(const struct buf *input)
{
	/* Memory of exactly its size, as a fuzzer gives it. */
	AUTO_FREE uint8_t *bytes = mem_dup(input->data, input->len);
	current = input;
	LLVMFuzzerTestOneInput(bytes, input->len);
	current = NULL;
}

static void run_mutations(const corpus_vec *corpus, uint32_t runs)
{
	uint64_t seed = 88172645463325252ull;
	for (uint32_t i = 0; i < runs; i++) {
		const struct buf *base = &corpus->at[draw(&seed, corpus->count)];
		AUTO_BUF struct buf input = {};
		buf_reserve(&input, base->len);
		buf_put(&input, base->data, base->len);
		for (uint32_t n = 1 + draw(&seed, 4); n > 0 && input.len < INPUT_MAX; n--)
			mutate(&input, corpus, &seed);
		run_input(&input);
	}
}

int main(int argc, char **argv)
{
	corpus_vec corpus = {};
	uint32_t runs = RUNS;
	for (int i = 1; i < argc; i++) {
		if (str_eq(argv[i], "-n") && i + 1 < argc && str_to_u32(argv[i + 1], &runs) == 0)
			i++;
		else
			load(argv[i], &corpus);
	}
	if (corpus.count == 0) {
		fprintf(stderr, "usage: replay [-n RUNS] FILE|DIRECTORY...\n");
		return 2;
	}
	qsort(corpus.at, corpus.count, sizeof(*corpus.at), compare_inputs);
	watch_for_death();
	for (size_t i = 0; i < corpus.count; i++)
		run_input(&corpus.at[i]);
	run_mutations(&corpus, runs);
	printf("%zu inputs and %u mutations survived\n", corpus.count, runs);
	for (size_t i = 0; i < corpus.count; i++)
		buf_done(&corpus.at[i]);
	vec_done(&corpus);
	return 0;
}

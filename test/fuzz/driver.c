/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c - runs a fuzz target for a while without libFuzzer: the smoke test of every build.
 *
 * usage: fuzz-NAME [-runs=N] [-seed=N] [FILE...]
 * Every line of a seed file FILE is tried as it is, then N mutations of them: flipped and replaced
 * bytes, pieces removed, repeated, and spliced in from other seeds.  The same seed number gives the
 * same inputs, so a failure is found again by its seed.  A file may hold several lines of a target's
 * language as one seed when its name ends in .conf: then the whole file is the seed. */
#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"
#include "fuzz.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { INPUT_MAX = 4096 };

struct seed {
	const uint8_t *data;
	size_t len;
};

struct fuzz {
	uint64_t state; /* of the random numbers */
	struct arena *arena; /* the seeds' bytes */
	VEC(struct seed) seeds;
};

static uint64_t next(struct fuzz *f)
{
	f->state ^= f->state << 13;
	f->state ^= f->state >> 7;
	f->state ^= f->state << 17;
	return f->state;
}

static size_t below(struct fuzz *f, size_t n)
{
	return n ? (size_t)(next(f) % n) : 0;
}

static size_t insert(uint8_t *at, size_t len, size_t pos, const uint8_t *piece, size_t n)
{
	if (len + n > INPUT_MAX)
		n = INPUT_MAX - len;
	memmove(at + pos + n, at + pos, len - pos);
	memmove(at + pos, piece, n);
	return len + n;
}

static size_t mutate(struct fuzz *f, uint8_t *at, size_t len)
{
	static const char *const words[] = { "[", "]", "-", ",", ":", "%", "=", "\\\n", "\"", "99999999999",
					     "0", "UNLIMITED", "ALL", "\xff\xff\xff\xff\xff\x01", " " };
	size_t pos = below(f, len + 1), n = 1 + below(f, 8);
	uint8_t piece[INPUT_MAX];

	switch (next(f) % 6) {
	case 0:
		if (pos < len)
			at[pos] ^= (uint8_t)(1u << next(f) % 8);
		return len;
	case 1:
		if (pos < len)
			at[pos] = (uint8_t)next(f);
		return len;
	case 2:
		n = n < len - pos ? n : len - pos;
		memmove(at + pos, at + pos + n, len - pos - n);
		return len - n;
	case 3:
		n = n < len - pos ? n : len - pos;
		memcpy(piece, at + pos, n);
		return insert(at, len, below(f, len + 1), piece, n);
	case 4: {
		const char *w = words[below(f, sizeof(words) / sizeof(words[0]))];
		return insert(at, len, pos, (const uint8_t *)w, strlen(w));
	}
	default: {
		struct seed s = f->seeds.at[below(f, f->seeds.count)];
		size_t from = below(f, s.len + 1);
		return insert(at, len, pos, s.data + from, below(f, s.len - from + 1));
	}
	}
}

static void read_seeds(struct fuzz *f, const char *path)
{
	FILE *in = fopen(path, "rb");
	AUTO_BUF struct buf text = {};
	char block[4096];
	size_t start = 0;

	if (!in) {
		fprintf(stderr, "cannot read '%s'\n", path);
		exit(2);
	}
	for (size_t n; (n = fread(block, 1, sizeof(block), in)) > 0;)
		buf_put(&text, block, n);
	fclose(in);
	const uint8_t *all = arena_dup(f->arena, text.data, text.len);
	if (str_ends(path, ".conf")) {
		vec_push(&f->seeds, (struct seed){ all, text.len });
		return;
	}
	for (size_t i = 0; i < text.len; i++) {
		if (all[i] != '\n')
			continue;
		vec_push(&f->seeds, (struct seed){ all + start, i - start });
		start = i + 1;
	}
}

/* The input being tried, for the handler below. */
static struct seed current;

static void on_abort(int signo)
{
	signal(signo, SIG_DFL);
	fputs("input: ", stderr);
	for (size_t i = 0; i < current.len; i++)
		fprintf(stderr, current.data[i] < 32 || current.data[i] > 126 ? "\\x%02x" : "%c",
			current.data[i]);
	fputs("\n", stderr);
	raise(signo);
}

static void run(const uint8_t *data, size_t len)
{
	current = (struct seed){ data, len };
	uint8_t *copy = mem_dup(data, len + !len); /* a block of exactly this size, for the sanitizer */

	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

int main(int argc, char **argv)
{
	struct fuzz f = { .state = 88172645463325252u, .arena = arena_new() };
	uint64_t runs = 20000, number = 1;
	uint8_t input[INPUT_MAX];

	signal(SIGABRT, on_abort);
	signal(SIGSEGV, on_abort);
	for (int i = 1; i < argc; i++) {
		if (str_starts(argv[i], "-runs="))
			runs = strtoull(argv[i] + 6, NULL, 10);
		else if (str_starts(argv[i], "-seed="))
			number = strtoull(argv[i] + 6, NULL, 10);
		else
			read_seeds(&f, argv[i]);
	}
	f.state ^= number * 0x9e3779b97f4a7c15u;
	vec_push(&f.seeds, (struct seed){ (const uint8_t *)"", 0 });
	for (size_t i = 0; i < f.seeds.count; i++)
		run(f.seeds.at[i].data, f.seeds.at[i].len);
	for (uint64_t i = 0; i < runs; i++) {
		struct seed s = f.seeds.at[below(&f, f.seeds.count)];
		size_t len = s.len < INPUT_MAX ? s.len : INPUT_MAX;
		memcpy(input, s.data, len);
		for (size_t n = 1 + below(&f, 6); n > 0; n--)
			len = mutate(&f, input, len);
		run(input, len);
	}
	printf("%zu seeds, %llu mutations\n", f.seeds.count, (unsigned long long)runs);
	vec_done(&f.seeds);
	arena_free(f.arena);
	return 0;
}

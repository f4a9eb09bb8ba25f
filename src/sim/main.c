/* SPDX-License-Identifier: Apache-2.0 */
/* simcluster: runs stories and says which seed broke a promise. */
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "sim/story.h"
#include "sim/world.h"
#include "wire/auth.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void usage(FILE *out)
{
	fputs("usage: simcluster [--seed S] [--seeds N] [--faults N] [--trace] [--twice]\n"
	      "  --seed S     the first seed (1)\n"
	      "  --seeds N    how many seeds (1)\n"
	      "  --faults N   chances for something to go wrong in each story (60)\n"
	      "  --trace      tell the story, one line per event\n"
	      "  --twice      run every seed twice and compare the histories\n",
	      out);
}

static void tell_log(void *arg, enum log_level level, const char *text)
{
	(void)arg;
	if (level <= LOG_VERBOSE)
		world_tell("log: %s", text);
}

struct totals {
	uint64_t crashes, node_crashes, boots, jobs;
	usec_t time;
};

static bool run_seed(const struct story_options *o, bool twice, struct totals *t)
{
	struct story_result r, again;
	if (!story_run(o, &r))
		return false;
	if (twice) {
		if (!story_run(o, &again))
			return false;
		if (r.hash != again.hash) {
			fprintf(stderr, "simcluster: seed %llu: two runs, two histories\n", (unsigned long long)o->seed);
			return false;
		}
	}
	t->crashes += r.crashes;
	t->node_crashes += r.node_crashes;
	t->boots += r.boots;
	t->jobs += r.jobs;
	t->time += r.virtual_usec;
	return true;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "seed", required_argument, NULL, 's' },   { "seeds", required_argument, NULL, 'n' },
		{ "faults", required_argument, NULL, 'f' }, { "trace", no_argument, NULL, 't' },
		{ "twice", no_argument, NULL, '2' },	    { "help", no_argument, NULL, 'h' },
		{},
	};
	uint64_t first = 1, count = 1, faults = 60;
	bool twice = false, tell = false;
	for (int o; (o = getopt_long(argc, argv, "h", longs, NULL)) != -1;) {
		int bad = 0;
		switch (o) {
		case 's':
			bad = str_to_u64(optarg, &first);
			break;
		case 'n':
			bad = str_to_u64(optarg, &count);
			break;
		case 'f':
			bad = str_to_u64(optarg, &faults);
			break;
		case 't':
			tell = true;
			break;
		case '2':
			twice = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			bad = -1;
		}
		if (bad < 0) {
			usage(stderr);
			return 2;
		}
	}
	char key[] = "/tmp/simcluster-key-XXXXXX";
	struct error err = {};
	int fd = mkstemp(key);
	if (fd < 0 || unlink(key) < 0 || close(fd) < 0 || auth_make_key(key, &err) < 0) {
		fprintf(stderr, "simcluster: no key file: %s\n", err.text);
		return 1;
	}
	log_set_sink(tell_log, NULL);
	struct totals t = {};
	uint64_t failed = 0;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct story_options o = { .seed = seed, .faults = (unsigned)faults, .tell = tell, .key_path = key };
		failed += !run_seed(&o, twice, &t);
	}
	unlink(key);
	printf("%llu seeds: %llu jobs, %llu controller crashes, %llu node daemon crashes, %llu boots, %.1f virtual hours, "
	       "%llu failed\n",
	       (unsigned long long)count, (unsigned long long)t.jobs, (unsigned long long)t.crashes,
	       (unsigned long long)t.node_crashes, (unsigned long long)t.boots, (double)t.time / 3.6e9,
	       (unsigned long long)failed);
	return failed ? 1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - `muster`: what goes beyond Slurm's own commands.  A table of subcommands. */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/muster/muster.h"

#include <stdio.h>
#include <sys/stat.h>

struct subcommand {
	const char *name;
	int (*run)(struct arena *a, int argc, char **argv);
	const char *help;
};

static const struct subcommand subcommands[] = {
	{ "up", cmd_up, "start a virtual cluster on this machine, or bring it back" },
	{ "down", cmd_down, "stop it; its state stays" },
};

static void usage(FILE *out)
{
	fprintf(out, "usage: muster COMMAND [options]\n\n");
	for (size_t i = 0; i < ARRAY_COUNT(subcommands); i++)
		fprintf(out, "  %-8s %s\n", subcommands[i].name, subcommands[i].help);
	fprintf(out, "\n'muster COMMAND --help' tells its options.\n");
}

static int unknown(const char *word)
{
	const char *names[ARRAY_COUNT(subcommands)];

	for (size_t i = 0; i < ARRAY_COUNT(subcommands); i++)
		names[i] = subcommands[i].name;
	const char *near = str_closest(word, names, ARRAY_COUNT(names));
	log_error("there is no command '%s'%s%s%s; 'muster --help' lists them", word,
		  near ? ", did you mean '" : "", near ? near : "", near ? "'" : "");
	return 1;
}

int main(int argc, char **argv)
{
	AUTO_ARENA struct arena *a = arena_new();

	log_start("muster", LOG_INFO);
	umask(022); /* modes are said where files are made */
	if (argc < 2) {
		usage(stderr);
		return 1;
	}
	if (str_eq(argv[1], "--help") || str_eq(argv[1], "-h") || str_eq(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	if (str_eq(argv[1], "--version") || str_eq(argv[1], "-V")) {
		printf("muster %s\n", MUSTER_VERSION);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_COUNT(subcommands); i++)
		if (str_eq(argv[1], subcommands[i].name))
			return subcommands[i].run(a, argc - 1, argv + 1);
	return unknown(argv[1]);
}

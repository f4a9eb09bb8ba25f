/* SPDX-License-Identifier: Apache-2.0 */
/* down.c - `muster down`: stop everything of a virtual cluster and say what was stopped. */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/muster/muster.h"

#include <dirent.h>
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

static const char help[] = "usage: muster down [--dir D]\n\n"
			   "Stops the cluster in D: its jobs, node daemons and controller.  What it knows stays\n"
			   "in D, and 'muster up' brings it back.\n\n"
			   "  --dir D   default: $XDG_STATE_HOME/muster/default, ~/.local/state/muster/default\n";

static void remove_pid_files(const struct site *s)
{
	const char *run = site_path(s, "run");
	DIR *dir = opendir(run);

	for (const struct dirent *e; dir && (e = readdir(dir));)
		if (str_ends(e->d_name, ".pid"))
			unlink(site_path(s, "run/%s", e->d_name));
	if (dir)
		closedir(dir);
}

static int stop(struct site *s, struct error *err)
{
	if (access(site_path(s, "run"), F_OK) < 0) {
		printf("muster: there is no cluster in %s\n", s->root);
		return 0;
	}
	int r = site_lock(s, err);
	if (r < 0)
		return r;
	struct ended e = processes_end_all(s);
	if (e.left > 0)
		return error_set(err, -1, "%zu processes of the cluster in '%s' do not end; 'ps' shows who "
					  "owns them",
				 e.left, s->root);
	remove_pid_files(s);
	if (e.controllers + e.nodes + e.steps == 0) {
		printf("muster: nothing was running in %s\n", s->root);
		return 0;
	}
	printf("muster: stopped the cluster in %s: %s%zu node daemon%s", s->root,
	       e.controllers ? "controller, " : "", e.nodes, e.nodes == 1 ? "" : "s");
	if (e.steps)
		printf(", %zu job step%s", e.steps, e.steps == 1 ? "" : "s");
	if (e.killed)
		printf(" (%zu did not answer and were killed)", e.killed);
	printf("\n");
	return 0;
}

int cmd_down(struct arena *a, int argc, char **argv)
{
	static const struct option options[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	const char *dir = NULL;
	struct error err = {};
	struct site s;

	for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
		if (c == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (c != 'd') {
			log_error("%s '%s'; 'muster down --help' lists the options",
				  c == ':' ? "a value is missing after" : "there is no option",
				  argv[optind - 1]);
			return 1;
		}
		dir = optarg;
	}
	if (optind < argc) {
		log_error("down takes no argument '%s'; the directory is given with --dir", argv[optind]);
		return 1;
	}
	int r = site_open(&s, a, dir, &err);
	if (r == 0)
		r = stop(&s, &err);
	if (r < 0)
		log_error("%s", err.text);
	return r < 0 ? 1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* up.c - `muster up`: a controller and its nodes on this machine, as the calling user.
 *
 * The story: find the directory, write its configuration when there is none, see which daemons run,
 * start those that do not, and ask the controller until every node has reported for duty.  So the
 * same command makes a cluster, brings one back whose daemons died, and does nothing to one that
 * runs.  When it fails, what this call started is stopped again; what ran before is left alone.
 *
 * The options that give a new cluster its shape are one table; the note in slurm.conf's first line
 * is made from it, and a later call that asks for another shape is refused by comparing with it. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "base/time.h"
#include "cmd/muster/muster.h"
#include "conf/conf.h"
#include "host/file.h"
#include "schema/messages.h"
#include "wire/session.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READY_SEC = 15, PORT_SEC = 2, POLL_MSEC = 3 };

/* One row per option that shapes a cluster. */
enum value_kind { VALUE_COUNT, VALUE_SIZE, VALUE_WORD, VALUE_FILE };
struct shape_option {
	const char *name, *metavar;
	enum value_kind kind;
	size_t offset;
	uint32_t min, max;
	const char *help;
};
static const struct shape_option shape_options[] = {
	{ "nodes", "N", VALUE_COUNT, offsetof(struct shape, nodes), 1, 1024, "nodes (default 4)" },
	{ "gpus", "G", VALUE_COUNT, offsetof(struct shape, gpus), 0, 64, "GPUs of each node (default 8)" },
	{ "gpu-type", "T", VALUE_WORD, offsetof(struct shape, gpu_type), 0, 0,
	  "their type, as in --gpus=T:2 (default none)" },
	{ "cpus", "C", VALUE_COUNT, offsetof(struct shape, cpus), 1, 4096, "CPUs of each node (default 64)" },
	{ "memory", "MB", VALUE_SIZE, offsetof(struct shape, memory_mib), 1, UINT32_MAX,
	  "memory of each node (default 262144)" },
	{ "conf", "FILE", VALUE_FILE, offsetof(struct shape, conf), 0, 0,
	  "a slurm.conf that gives the shape instead, with the\n"
	  "                 gres.conf and topology.conf beside it" },
};
enum { SHAPE_OPTIONS = ARRAY_COUNT(shape_options), CONF_OPTION = 5 };
static const struct shape shape_default = { .nodes = 4, .gpus = 8, .cpus = 64, .memory_mib = 262144 };

struct up {
	struct arena *arena;
	const char *dir;
	struct shape shape;
	bool given[SHAPE_OPTIONS];
	struct site site;
	struct conf *conf;
	struct daemon *daemons;
	size_t daemon_count;
};

static int parse_options(struct up *u, int argc, char **argv, bool *ret_help, struct error *err);
static int prepare(struct up *u, struct error *err);
static int start_missing(struct up *u, struct buf *ret_started, struct error *err);
static int wait_ready(struct up *u, struct node_list *ret, struct error *err);
static void stop_new(struct up *u);
static void report(const struct up *u, const char *started, size_t running, usec_t took,
		   const struct node_list *nodes);

static usec_t clock_usec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (usec_t)t.tv_sec * USEC_PER_SEC + t.tv_nsec / 1000;
}

static int run(struct up *u, struct error *err)
{
	AUTO_BUF struct buf started = {};
	struct node_list nodes = {};
	size_t running = 0;
	usec_t start = clock_usec();

	int r = prepare(u, err);
	if (r < 0)
		return r;
	u->daemons = daemons_list(&u->site, u->conf, &u->daemon_count);
	for (size_t i = 0; i < u->daemon_count; i++)
		running += u->daemons[i].pid != 0;
	r = start_missing(u, &started, err);
	if (r == 0)
		r = wait_ready(u, &nodes, err);
	if (r < 0) {
		stop_new(u);
		return r;
	}
	report(u, buf_text(&started), running, clock_usec() - start, &nodes);
	return 0;
}

int cmd_up(struct arena *a, int argc, char **argv)
{
	struct up u = { .arena = a, .shape = shape_default };
	struct error err = {};
	bool is_help = false;

	int r = parse_options(&u, argc, argv, &is_help, &err);
	if (is_help)
		return 0;
	if (r == 0)
		r = run(&u, &err);
	if (r < 0)
		log_error("%s", err.text);
	conf_free(u.conf);
	return r < 0 ? 1 : 0;
}

/* --- options ----------------------------------------------------------------------------------- */

static void print_help(void)
{
	printf("usage: muster up [--dir D] [options]\n\n"
	       "Starts a cluster of virtual nodes on this machine, as you, in the directory D; or\n"
	       "brings back what is not running of the one that is there.\n\n"
	       "  --dir D        default: $XDG_STATE_HOME/muster/default or\n"
	       "                 ~/.local/state/muster/default\n");
	for (size_t i = 0; i < SHAPE_OPTIONS; i++)
		printf("  --%s %-*s%s\n", shape_options[i].name,
		       (int)(12 - strlen(shape_options[i].name)), shape_options[i].metavar,
		       shape_options[i].help);
}

static int parse_value(struct up *u, size_t index, const char *text, struct error *err)
{
	const struct shape_option *o = &shape_options[index];
	char *at = (char *)&u->shape + o->offset;
	uint32_t number;
	char real[PATH_MAX];

	u->given[index] = true;
	switch (o->kind) {
	case VALUE_COUNT:
	case VALUE_SIZE:
		if (str_to_u32(text, &number) < 0 || number < o->min || number > o->max)
			return error_set(err, -EINVAL, "--%s=%s: a number from %u to %u is wanted", o->name,
					 text, o->min, o->max);
		if (o->kind == VALUE_COUNT)
			*(uint32_t *)(void *)at = number;
		else
			*(uint64_t *)(void *)at = number;
		return 0;
	case VALUE_WORD:
		if (!*text || text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
						"0123456789_-.")])
			return error_set(err, -EINVAL, "--%s=%s: letters, digits, '_', '-' and '.' make a type",
					 o->name, text);
		break;
	case VALUE_FILE:
		if (!realpath(text, real))
			return error_set(err, -errno, "--%s: cannot read '%s': %s", o->name, text,
					 strerror(errno));
		text = arena_strdup(u->arena, real);
		break;
	}
	*(const char **)(void *)at = text;
	return 0;
}

static int parse_options(struct up *u, int argc, char **argv, bool *ret_help, struct error *err)
{
	struct option options[SHAPE_OPTIONS + 3] = {};
	size_t n = 0;

	for (; n < SHAPE_OPTIONS; n++)
		options[n] = (struct option){ shape_options[n].name, required_argument, NULL, (int)n };
	options[n++] = (struct option){ "dir", required_argument, NULL, 'd' };
	options[n] = (struct option){ "help", no_argument, NULL, 'h' };
	for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
		if (c == 'h') {
			print_help();
			*ret_help = true;
			return 0;
		}
		if (c == '?' || c == ':')
			return error_set(err, -EINVAL, "%s '%s'; 'muster up --help' lists the options",
					 c == ':' ? "a value is missing after" : "there is no option",
					 argv[optind - 1]);
		if (c == 'd') {
			u->dir = optarg;
			continue;
		}
		int r = parse_value(u, (size_t)c, optarg, err);
		if (r < 0)
			return r;
	}
	if (optind < argc)
		return error_set(err, -EINVAL, "up takes no argument '%s'; 'muster up --help' lists the options",
				 argv[optind]);
	for (size_t i = 0; u->given[CONF_OPTION] && i < SHAPE_OPTIONS; i++)
		if (i != CONF_OPTION && u->given[i])
			return error_set(err, -EINVAL, "--conf gives the whole shape; --%s cannot change it",
					 shape_options[i].name);
	return 0;
}

/* --- the directory and its configuration ------------------------------------------------------- */

static char *shape_value(const struct up *u, size_t index)
{
	const struct shape_option *o = &shape_options[index];
	const char *at = (const char *)&u->shape + o->offset;

	switch (o->kind) {
	case VALUE_COUNT:
		return arena_printf(u->arena, "%u", *(const uint32_t *)(const void *)at);
	case VALUE_SIZE:
		return arena_printf(u->arena, "%llu",
				    (unsigned long long)*(const uint64_t *)(const void *)at);
	case VALUE_WORD:
	case VALUE_FILE:
		break;
	}
	const char *text = *(const char *const *)(const void *)at;
	return arena_strdup(u->arena, text ? text : "");
}

static char *shape_note(const struct up *u)
{
	AUTO_BUF struct buf note = {};

	for (size_t i = 0; i < SHAPE_OPTIONS; i++)
		if (u->shape.conf ? i == CONF_OPTION : i != CONF_OPTION)
			buf_printf(&note, "%s%s=%s", note.len ? " " : "", shape_options[i].name,
				   shape_value(u, i));
	return arena_strdup(u->arena, buf_text(&note));
}

/* An existing cluster keeps its shape; asking for another one is answered, not ignored. */
static int check_shape(struct up *u, struct error *err)
{
	AUTO_BUF struct buf text = {};
	int r = file_read(u->site.conf, TEXT_MAX, &text);

	if (r < 0)
		return error_set(err, r, "cannot read '%s': %s", u->site.conf, strerror(-r));
	char *note = arena_strndup(u->arena, buf_text(&text), strcspn(buf_text(&text), "\n"));
	for (size_t i = 0; i < SHAPE_OPTIONS; i++) {
		if (!u->given[i])
			continue;
		char *want = arena_printf(u->arena, " %s=%s ", shape_options[i].name, shape_value(u, i));
		if (strstr(arena_printf(u->arena, "%s ", note), want))
			continue;
		return error_set(err, -EEXIST,
				 "the cluster in '%s' is there already with another shape than --%s asks for; "
				 "edit %s, remove the directory, or choose another one with --dir",
				 u->site.root, shape_options[i].name, u->site.conf);
	}
	return 0;
}

static int check_programs(const struct up *u, struct error *err)
{
	static const char *const programs[] = { "slurmctld", "slurmd", "slurmstepd" };

	for (size_t i = 0; i < ARRAY_COUNT(programs); i++) {
		const char *path = arena_printf(u->arena, "%s/%s", u->site.bin, programs[i]);
		if (access(path, X_OK) < 0)
			return error_set(err, -errno, "program '%s' is not usable: %s; 'make' builds it", path,
					 strerror(errno));
	}
	return 0;
}

static int prepare(struct up *u, struct error *err)
{
	size_t longest = 0;

	int r = site_open(&u->site, u->arena, u->dir, err);
	if (r == 0)
		r = site_check_sockets(&u->site, 1, err);
	if (r == 0)
		r = check_programs(u, err);
	if (r == 0)
		r = site_create(&u->site, err);
	if (r == 0)
		r = site_lock(&u->site, err);
	if (r < 0)
		return r;
	bool is_new = !site_exists(&u->site);
	r = is_new ? config_write(&u->site, &u->shape, shape_note(u), err) : check_shape(u, err);
	if (r == 0)
		r = conf_load(u->site.conf, &u->conf, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < u->conf->node_count; i++)
		if (strlen(u->conf->nodes[i].name) > longest)
			longest = strlen(u->conf->nodes[i].name);
	r = site_check_sockets(&u->site, longest, err);
	if (r < 0 && is_new)
		unlink(u->site.conf); /* nothing was started: the next call may ask for another shape */
	return r < 0 ? r : config_write_env(&u->site, err);
}

/* --- starting and waiting ---------------------------------------------------------------------- */

static int try_port(uint16_t port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(port) };
	AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int yes = 1;

	addr.sin_addr.s_addr = htonl(INADDR_ANY);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	return fd < 0 || bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0 ? -errno : 0;
}

static void pause_briefly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = POLL_MSEC * 1000000L }, NULL);
}

/* A controller that was killed a moment ago, and had much memory, still holds its port for a while. */
static int check_port(const struct up *u, struct error *err)
{
	uint16_t port = (uint16_t)u->conf->main.slurmctld_port;
	usec_t deadline = clock_usec() + PORT_SEC * USEC_PER_SEC;
	int r;

	while ((r = try_port(port)) == -EADDRINUSE && clock_usec() < deadline)
		pause_briefly();
	if (r < 0)
		return error_set(err, r,
				 "TCP port %u cannot be used: %s; end the program that has it, or change "
				 "SlurmctldPort in %s",
				 port, strerror(-r), u->site.conf);
	return 0;
}

static int start_missing(struct up *u, struct buf *ret_started, struct error *err)
{
	for (size_t i = 0; i < u->daemon_count; i++) {
		struct daemon *d = &u->daemons[i];
		if (d->pid)
			continue;
		int r = d->node ? 0 : check_port(u, err);
		if (r == 0)
			r = daemon_start(&u->site, d, err);
		if (r < 0)
			return r;
		buf_printf(ret_started, "%s%s", ret_started->len ? ", " : "", d->name);
	}
	return 0;
}

/* The last line that a daemon wrote, wherever it wrote it. */
static const char *last_words(const struct up *u, const struct daemon *d)
{
	static const char *const ends[] = { "out", "log" }; /* what ends a daemon is in both */

	for (size_t i = 0; i < ARRAY_COUNT(ends); i++) {
		AUTO_BUF struct buf text = {};
		if (file_read(arena_printf(u->arena, "%s.%s", d->log_path, ends[i]), TEXT_MAX, &text) < 0)
			continue;
		char *all = arena_strdup(u->arena, buf_text(&text));
		for (size_t n = strlen(all); n > 0 && all[n - 1] == '\n'; n--)
			all[n - 1] = '\0';
		char *line = strrchr(all, '\n');
		if (*all)
			return line ? line + 1 : all;
	}
	return "it left no word";
}

/* A daemon of ours that ended while it should start is an error right away.  One that was there
 * before and is gone now was about to end when we looked. */
static int check_daemons(struct up *u, struct error *err)
{
	int status;

	for (size_t i = 0; i < u->daemon_count; i++) {
		struct daemon *d = &u->daemons[i];
		if (!d->is_new && process_is_gone(d->pid)) {
			int r = daemon_start(&u->site, d, err);
			if (r < 0)
				return r;
		}
		if (!d->is_new || waitpid(d->pid, &status, WNOHANG) != d->pid)
			continue;
		d->is_new = false;
		unlink(d->pid_path);
		return error_set(err, -ECHILD, "%s ended at once (%s %d): %s; its log is %s.log", d->name,
				 WIFSIGNALED(status) ? "signal" : "exit code",
				 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
				 last_words(u, d), d->log_path);
	}
	return 0;
}

static const struct node *find_node(const struct node_list *list, const char *name)
{
	for (uint32_t i = 0; i < list->n_nodes; i++)
		if (str_eq(list->nodes[i].conf.name, name))
			return &list->nodes[i];
	return NULL;
}

/* Which configured node has not reported yet; NULL when all have. */
static const char *missing_node(const struct up *u, const struct node_list *list)
{
	for (size_t i = 0; i < u->conf->node_count; i++) {
		const struct node *n = find_node(list, u->conf->nodes[i].name);
		if (!n || !n->registered || !n->responding)
			return u->conf->nodes[i].name;
	}
	return NULL;
}

static int open_session(const struct conf *c, struct session **ret, struct error *err)
{
	const struct session_options o = {
		.hosts = c->controller_addresses,
		.host_count = c->controller_count,
		.port = (uint16_t)c->main.slurmctld_port,
		.auth_type = c->main.auth_type,
		.auth_socket = c->auth_socket,
		.cluster = c->main.cluster_name,
		.program = "muster",
		.timeout = USEC_PER_SEC,
	};
	return session_open(&o, ret, err);
}

static int wait_ready(struct up *u, struct node_list *ret, struct error *err)
{
	usec_t deadline = clock_usec() + READY_SEC * USEC_PER_SEC;
	struct session *session = NULL;
	struct error why = { .text = "it does not answer" };
	int r = -ETIMEDOUT;

	while (clock_usec() < deadline) {
		const struct node_query all = {};
		r = check_daemons(u, err);
		if (r < 0)
			break;
		if (!session)
			r = open_session(u->conf, &session, &why);
		if (r == 0)
			r = session_call(session, MSG_NODE_QUERY, &all, u->arena, ret, 0, &why);
		const char *missing = r == 0 ? missing_node(u, ret) : NULL;
		if (r == 0 && !missing)
			break;
		if (missing)
			error_set(&why, -ETIMEDOUT, "%s has not reported; its log is %s", missing,
				  site_path(&u->site, "log/slurmd-%s.log", missing));
		if (r < 0) {
			session_close(session);
			session = NULL;
		}
		r = -ETIMEDOUT;
		pause_briefly();
	}
	session_close(session);
	if (r == -ETIMEDOUT)
		return error_set(err, r, "the cluster in '%s' was not ready within %d s: %s; the controller's "
					 "log is %s",
				 u->site.root, READY_SEC, why.text, site_path(&u->site, "log/slurmctld.log"));
	return r;
}

static void stop_new(struct up *u)
{
	for (size_t i = 0; i < u->daemon_count; i++) {
		struct daemon *d = &u->daemons[i];
		if (!d->is_new)
			continue;
		kill(d->pid, SIGTERM);
	}
	for (size_t i = 0; i < u->daemon_count; i++) {
		struct daemon *d = &u->daemons[i];
		if (!d->is_new)
			continue;
		waitpid(d->pid, NULL, 0);
		unlink(d->pid_path);
	}
}

/* --- what to say ------------------------------------------------------------------------------- */

static void report_unusable(const struct node_list *nodes)
{
	for (uint32_t i = 0; i < nodes->n_nodes; i++) {
		const struct node *n = &nodes->nodes[i];
		if (n->down || n->drain || n->fail)
			printf("muster: %s takes no jobs (%s): %s\n", n->conf.name,
			       n->down ? "down" : n->drain ? "drained" : "failing",
			       str_empty(n->reason) ? "no reason given" : n->reason);
	}
}

static void report(const struct up *u, const char *started, size_t running, usec_t took,
		   const struct node_list *nodes)
{
	const struct conf *c = u->conf;

	if (running == u->daemon_count)
		printf("muster: the cluster in %s is running already (%zu node%s)\n", u->site.root,
		       c->node_count, c->node_count == 1 ? "" : "s");
	else if (running > 0)
		printf("muster: started again in %s: %s\n", u->site.root, started);
	else
		printf("muster: the cluster in %s is up: %zu node%s, port %u, %.2f s\n", u->site.root,
		       c->node_count, c->node_count == 1 ? "" : "s", c->main.slurmctld_port,
		       (double)took / (double)USEC_PER_SEC);
	report_unusable(nodes);
	if (running == u->daemon_count)
		return;
	printf("  use it:   . %s/env\n", u->site.root);
	printf("            sinfo\n");
	printf("  stop it:  %s/muster down%s%s\n", u->site.bin, u->dir ? " --dir " : "",
	       u->dir ? u->site.root : "");
}

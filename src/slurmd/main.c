/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - slurmd, the program: options, the background, pid file, log and signals.
 *
 * Whoever starts the program gets it back when it is ready, or sees the reason and an exit code. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "conf/conf.h"
#include "host/daemon.h"
#include "host/disk.h"
#include "host/loop.h"
#include "slurmd/inventory.h"
#include "slurmd/slurmd.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

struct program {
	struct arena *arena;
	const char *conf_path, *node_name, *log_path; /* log_path: -L */
	bool foreground, print_machine, systemd, clear;
	int verbose;
	struct disk *root;
	struct node_facts machine;
	char *cpus;
	struct loop *loop;
	struct slurmd *daemon;
	const char *pid_path; /* once it is written */
	int waiting;          /* who started us and waits until we are ready; -1: nobody */
};

static const char usage[] =
	"Usage: slurmd [OPTIONS]\n"
	"  -C              print the machine as a NodeName line and exit\n"
	"  -c              throw away what is left of earlier steps that died\n"
	"  -D              stay in the foreground\n"
	"  -f FILE         configuration file (default: $SLURM_CONF, /etc/slurm/slurm.conf)\n"
	"  -h              print this help and exit\n"
	"  -L FILE         log to this file\n"
	"  -N NAME         be this node\n"
	"  -v              say more; may be repeated\n"
	"  -V              print the version and exit\n"
	"      --systemd   run under systemd: foreground, and tell it when we are ready\n";

static int options_take(struct program *p, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "systemd", no_argument, NULL, 'S' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int c;

	while ((c = getopt_long(argc, argv, "CcDf:hL:N:vV", longs, NULL)) != -1) {
		switch (c) {
		case 'C':
			p->print_machine = true;
			break;
		case 'c':
			p->clear = true;
			break;
		case 'D':
			p->foreground = true;
			break;
		case 'f':
			p->conf_path = optarg;
			break;
		case 'L':
			p->log_path = optarg;
			break;
		case 'N':
			p->node_name = optarg;
			break;
		case 'S':
			p->systemd = p->foreground = true;
			break;
		case 'v':
			p->verbose++;
			break;
		case 'V':
			printf("slurm %s\n", MUSTER_VERSION);
			exit(0);
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			fputs(usage, stderr);
			return -EINVAL;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "slurmd: error: '%s' is one word too many\n%s", argv[optind],
			usage);
		return -EINVAL;
	}
	return 0;
}

/* The name without its domain. */
static const char *short_hostname(struct program *p)
{
	const char *name = p->machine.hostname;

	return arena_strndup(p->arena, name, strcspn(name, "."));
}

static int machine_print(struct program *p)
{
	AUTO_BUF struct buf out = {};

	inventory_print(p->root, p->node_name ? p->node_name : short_hostname(p), &p->machine,
			&out);
	fputs(buf_text(&out), stdout);
	return 0;
}

/* Without -N: the node with our host's name, by NodeName or by NodeHostname. */
static const char *node_name_find(struct program *p, const struct conf *c)
{
	const char *host = short_hostname(p);

	if (p->node_name || conf_node(c, host))
		return p->node_name ? p->node_name : host;
	for (size_t i = 0; i < c->node_count; i++)
		if (str_eq(c->nodes[i].hostname, host))
			return arena_strdup(p->arena, c->nodes[i].name);
	return host;
}

/* Is this node this machine, and no other node too?  Only then do its CPU numbers mean anything. */
static bool node_is_machine(const struct program *p, const struct conf *c,
			    const struct node_conf *n)
{
	uint32_t same = 0;

	for (size_t i = 0; i < c->node_count; i++)
		same += str_eq(c->nodes[i].hostname, n->hostname);
	return same == 1 && n->cpus == p->machine.cpus &&
	       !(c->main.slurmd_parameters &&
		 strstr(c->main.slurmd_parameters, "config_overrides"));
}

/* Programs lie beside each other, in build/bin as in an installation. */
static const char *stepd_find(struct program *p)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n < 0 ? 0 : n] = 0;
	slash = strrchr(self, '/');
	if (!slash)
		return "slurmstepd";
	*slash = 0;
	return arena_printf(p->arena, "%s/slurmstepd", self);
}

/* SlurmdDebug, and one level more for each -v. */
static void level_use(const struct program *p, const struct conf *c)
{
	enum log_level level = LOG_INFO;

	if (c->main.slurmd_debug && log_level_parse(c->main.slurmd_debug, &level) < 0)
		log_error("SlurmdDebug=%s is no level; using info", c->main.slurmd_debug);
	for (int i = 0; i < p->verbose && level + 1 < LOG_LEVEL_COUNT; i++)
		level++;
	log_set_level(level);
}

static int log_open(struct program *p, const struct conf *c, const struct node_conf *n,
		    struct error *err)
{
	int r;

	level_use(p, c);
	if (!p->log_path && !str_empty(c->main.slurmd_log_file))
		p->log_path = conf_expand_path(c->main.slurmd_log_file, n, p->arena);
	if (!p->log_path)
		return 0;
	r = log_to_file(p->log_path);
	return r < 0 ? error_set(err, r, "cannot open the log file '%s': %s", p->log_path,
				 strerror(-r))
		     : 0;
}

static int conf_again(void *arg, struct conf **ret, struct error *err)
{
	struct program *p = arg;

	return conf_load(p->conf_path, ret, err);
}

static void on_stop(void *arg)
{
	struct program *p = arg;

	loop_stop(p->loop);
}

static void on_hangup(void *arg)
{
	struct program *p = arg;
	struct error err = {};

	if (slurmd_reload(p->daemon, &err) < 0)
		log_error("the configuration is left as it was: %s", err.text);
}

static void on_reloaded(void *arg, const struct conf *c)
{
	level_use(arg, c);
	if (log_reopen() < 0)
		log_error("cannot open the log file again");
}

static int program_run(struct program *p, const char *cpus, struct error *err)
{
	struct slurmd_options o = {
		.node_name = p->node_name,
		.load = conf_again,
		.load_arg = p,
		.machine = p->machine,
		.machine_root = p->root,
		.stepd_path = stepd_find(p),
		.stepd_cpus = cpus,
		.log_path = p->log_path,
		.uid = geteuid(),
		.clear = p->clear,
		.stopped = on_stop,
		.reloaded = on_reloaded,
		.arg = p,
	};
	int r;

	p->loop = o.loop = loop_new();
	r = slurmd_new(&o, &p->daemon, err);
	if (r == 0)
		r = slurmd_start(p->daemon, err);
	if (r == 0) {
		loop_on_signal(p->loop, SIGTERM, on_stop, p);
		loop_on_signal(p->loop, SIGINT, on_stop, p);
		loop_on_signal(p->loop, SIGHUP, on_hangup, p);
		log_info("slurmd %s for node %s started", MUSTER_VERSION, p->node_name);
		daemon_ready(p->systemd, p->waiting);
		loop_run(p->loop);
		log_info("slurmd for node %s stops; its steps go on", p->node_name);
	}
	slurmd_free(p->daemon);
	loop_free(p->loop);
	return r;
}

static int program_start(struct program *p, struct error *err)
{
	AUTO_CONF struct conf *c = NULL;
	const struct node_conf *n;
	const char *cpus, *pid_path;
	int r = conf_load(p->conf_path, &c, err);

	if (r < 0)
		return r;
	char *full = realpath(c->path, NULL); /* the background has another working directory */
	if (full)
		p->conf_path = arena_strdup(p->arena, full);
	free(full);
	p->node_name = node_name_find(p, c);
	n = conf_node(c, p->node_name);
	if (!n)
		return error_set(
			err, -ENOENT,
			"there is no node '%s' in '%s'; say which node this is with -N NAME",
			p->node_name, c->path);
	cpus = node_is_machine(p, c, n) ? p->cpus : NULL;
	r = log_open(p, c, n, err);
	if (r == 0 && !p->foreground)
		r = daemon_detach(&p->waiting, err);
	if (r < 0)
		return r;
	pid_path = conf_expand_path(c->main.slurmd_pid_file, n, p->arena);
	r = pid_file_write(pid_path, geteuid(), err);
	if (r < 0)
		return r;
	p->pid_path = pid_path;
	return program_run(p, cpus, err);
}

int main(int argc, char **argv)
{
	struct program p = { .waiting = -1 };
	struct error err = {};
	int r;

	log_start("slurmd", LOG_INFO);
	signal(SIGPIPE, SIG_IGN);
	umask(022);
	p.arena = arena_new();
	if (options_take(&p, argc, argv) < 0)
		return 1;
	r = disk_open("/", 0755, &p.root, &err);
	if (r == 0)
		r = inventory_read(p.root, p.arena, &p.machine, &p.cpus, &err);
	if (r == 0)
		r = p.print_machine ? machine_print(&p) : program_start(&p, &err);
	if (r < 0)
		log_fatal("%s", err.text);
	if (p.pid_path)
		pid_file_remove(p.pid_path);
	disk_close(p.root);
	arena_free(p.arena);
	return r < 0 ? 1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* slurmctld: options, files, signals; the controller itself is ctld.c. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "host/daemon.h"
#include "host/disk.h"
#include "host/loop.h"
#include "host/user.h"
#include "slurmctld/ctld.h"
#include "wire/auth.h"
#include "wire/authd.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct program {
	struct loop *loop;
	struct conf *conf; /* the controller takes it over */
	struct auth *auth;
	struct authd *authd;
	struct disk *disk;
	struct ctld *ctld;
	const char *pid_file; /* once it is written */
	uid_t slurm_uid;
	int waiting; /* who started us and waits until we are ready; -1: nobody */
	bool foreground, systemd, stopping;
	int verbose;
	const char *conf_path, *log_path;
};

static void usage(FILE *out)
{
	fputs("usage: slurmctld [-D] [-f FILE] [-L FILE] [-t] [-v] [-V] [--systemd]\n"
	      "  -D          stay in the foreground\n"
	      "  -f FILE     read this slurm.conf\n"
	      "  -h          this text\n"
	      "  -L FILE     write the log here\n"
	      "  -t          check the configuration, say what is wrong or has no effect, and stop\n"
	      "  -v          say more (several times: still more)\n"
	      "  -V          say the version\n"
	      "  --systemd   foreground, and tell systemd when ready\n",
	      out);
}

static int check_configuration(const char *path)
{
	AUTO_BUF struct buf out = {};
	AUTO_CONF struct conf *conf = NULL;
	struct error err = {};
	int e = conf_check_print(path, &out);
	if (e >= 0 && ((e = conf_load(path, &conf, &err)) < 0 || (e = topologies_check(conf, &err)) < 0))
		buf_printf(&out, "error: %s\n", err.text);
	fputs(buf_text(&out), stdout);
	return e < 0 ? 1 : 0;
}

/* Returns an exit code when the program is done already, -1 to go on. */
static int read_options(int argc, char **argv, struct program *p)
{
	static const struct option longs[] = { { "systemd", no_argument, NULL, 's' },
					       { "help", no_argument, NULL, 'h' },
					       { "version", no_argument, NULL, 'V' },
					       {} };
	bool test = false;
	for (int o; (o = getopt_long(argc, argv, "Df:hL:tvV", longs, NULL)) != -1;) {
		switch (o) {
		case 'D':
			p->foreground = true;
			break;
		case 'f':
			p->conf_path = optarg;
			break;
		case 'L':
			p->log_path = optarg;
			break;
		case 's':
			p->foreground = p->systemd = true;
			break;
		case 't':
			test = true;
			break;
		case 'v':
			p->verbose++;
			break;
		case 'V':
			puts("slurm " MUSTER_VERSION);
			return 0;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 1;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "slurmctld: error: '%s' is not an option\n", argv[optind]);
		return 1;
	}
	return test ? check_configuration(p->conf_path) : -1;
}

static int open_log(struct program *p, struct error *err)
{
	enum log_level level = LOG_INFO;
	if (log_level_parse(p->conf->main.slurmctld_debug, &level) < 0)
		return error_set(err, -1, "SlurmctldDebug=%s is not a level (quiet, error, info, debug, ...)",
				 p->conf->main.slurmctld_debug);
	int raised = (int)level + p->verbose;
	log_set_level(raised < LOG_LEVEL_COUNT ? (enum log_level)raised : LOG_DEBUG3);
	const char *path = p->log_path ? p->log_path : p->conf->main.slurmctld_log_file;
	if (!path)
		return 0;
	int e = log_to_file(path);
	return e < 0 ? error_set(err, e, "log file %s: %s", path, strerror(-e)) : 0;
}

static void stopped(void *arg)
{
	struct program *p = arg;
	loop_stop(p->loop);
}

static void stop(void *arg)
{
	struct program *p = arg;
	if (p->stopping)
		return;
	p->stopping = true;
	log_info("stopping");
	ctld_stop(p->ctld, stopped, p);
}

static void reread(void *arg)
{
	struct program *p = arg;
	struct error err = {};
	if (log_reopen() < 0)
		log_error("cannot reopen the log file");
	(void)!ctld_reconfigure(p->ctld, &err); /* logs what it did */
}

static void reopen_log(void *arg)
{
	(void)arg;
	if (log_reopen() < 0)
		log_error("cannot reopen the log file");
}

/* A controller needs nothing of root, so one that root starts goes on as SlurmUser.  One of somebody
 * else would not be obeyed by the nodes. */
static int become_slurm_user(struct program *p, struct error *err)
{
	if (geteuid() != 0 && geteuid() != p->slurm_uid)
		return error_set(err, -EPERM,
				 "SlurmUser=%s is uid %u and this slurmctld was started by uid %u: start it as that "
				 "user or as root, or change SlurmUser in '%s'",
				 p->conf->main.slurm_user, p->slurm_uid, geteuid(), p->conf->path);
	int e = user_become(p->slurm_uid, err);
	return e < 0 ? error_wrap(err, e, "SlurmUser=%s", p->conf->main.slurm_user) : 0;
}

/* From the configuration to a process of the right user with a pid file and a log. */
static int settle(struct program *p, struct arena *a, struct error *err)
{
	const struct slurm_conf *conf = &p->conf->main;
	int e = user_uid(conf->slurm_user, &p->slurm_uid);
	if (e < 0)
		return error_set(err, e, "SlurmUser=%s: there is no such user", conf->slurm_user);
	if (!p->foreground && (e = daemon_detach(&p->waiting, err)) < 0)
		return e;
	const char *pid_path = arena_strdup(a, conf->slurmctld_pid_file);
	uid_t owner = geteuid() == 0 ? p->slurm_uid : geteuid();
	if ((e = pid_file_write(pid_path, owner, err)) < 0)
		return e;
	p->pid_file = pid_path;
	if ((e = become_slurm_user(p, err)) < 0)
		return e;
	return open_log(p, err);
}

static int start(struct program *p, struct error *err)
{
	int e;
	p->loop = loop_new();
	struct auth_options auth = { .type = p->conf->main.auth_type,
				     .key_path = p->conf->auth_key,
				     .cluster = p->conf->main.cluster_name,
				     .munge_socket = p->conf->auth_socket,
				     .key_owner = p->slurm_uid };
	if ((e = auth_new(&auth, &p->auth, err)) < 0 ||
	    (e = authd_start(p->loop, p->auth, p->conf->auth_socket, &p->authd, err)) < 0)
		return e;
	if ((e = disk_open(p->conf->main.state_save_location, 0700, &p->disk, err)) < 0)
		return error_wrap(err, e, "StateSaveLocation");
	struct ctld_options o = { .loop = p->loop,
				  .conf = p->conf,
				  .auth = p->auth,
				  .disk = p->disk,
				  .slurm_uid = p->slurm_uid,
				  .on_stop = stop,
				  .arg = p };
	e = ctld_new(&o, &p->ctld, err);
	if (e >= 0)
		p->conf = NULL;
	return e;
}

static void finish(struct program *p)
{
	ctld_free(p->ctld);
	authd_free(p->authd);
	auth_free(p->auth);
	disk_close(p->disk);
	conf_free(p->conf);
	if (p->pid_file)
		pid_file_remove(p->pid_file);
	loop_free(p->loop);
}

int main(int argc, char **argv)
{
	struct program p = { .waiting = -1 };
	struct error err = {};
	log_start("slurmctld", LOG_INFO);
	umask(022);
	int code = read_options(argc, argv, &p);
	if (code >= 0)
		return code;
	AUTO_ARENA struct arena *cmd = arena_new();
	int e = conf_load(p.conf_path, &p.conf, &err);
	if (e >= 0)
		e = settle(&p, cmd, &err);
	if (e >= 0)
		e = start(&p, &err);
	if (e < 0) {
		log_fatal("%s", err.text);
		finish(&p);
		return 1;
	}
	loop_on_signal(p.loop, SIGTERM, stop, &p);
	loop_on_signal(p.loop, SIGINT, stop, &p);
	loop_on_signal(p.loop, SIGHUP, reread, &p);
	loop_on_signal(p.loop, SIGUSR2, reopen_log, &p);
	log_info("slurmctld " MUSTER_VERSION " ready on port %u", p.ctld->conf->main.slurmctld_port);
	daemon_ready(p.systemd, p.waiting);
	loop_run(p.loop);
	finish(&p);
	return 0;
}

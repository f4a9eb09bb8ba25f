/* SPDX-License-Identifier: Apache-2.0 */
/* muster.h - a whole cluster in one directory, as `muster up` and `muster down` see it.
 *
 * Everything of a virtual cluster D is below D, so that several live side by side and a restart finds
 * what was there:
 *	D/env                         to be sourced: PATH and SLURM_CONF
 *	D/etc/slurm.conf gres.conf    written once, by the first `up`; people may edit them afterwards
 *	D/etc/slurm.key               the key of auth/slurm
 *	D/dev/nvidia0 ...             empty files that stand for GPUs
 *	D/run/slurmctld.pid slurmd-NODE.pid auth.sock lock
 *	D/state D/spool/NODE D/log
 * A site is such a directory with the names of what is in it; it lives in the arena of the command.
 * Which processes belong to a site is read from /proc and never only from a pid file, because pid
 * files outlive their processes. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;
struct buf;
struct conf;
struct error;

struct site {
	struct arena *arena;
	const char *root; /* D, absolute */
	const char *bin;  /* the directory of this program: the others are beside it */
	const char *conf; /* D/etc/slurm.conf */
	int lock;         /* held while up or down works on D */
};

/* What a new cluster looks like. */
struct shape {
	uint32_t nodes, gpus, cpus;
	uint64_t memory_mib;
	const char *gpu_type; /* NULL: GPUs without a type */
	const char *conf;     /* --conf, absolute; NULL: from the numbers above */
};

/* A process that D has or should have. */
struct daemon {
	const char *program; /* "slurmctld", "slurmd" */
	const char *node;    /* NULL for the controller */
	const char *name;    /* for messages: "slurmd of node3" */
	const char *pid_path, *log_path;
	pid_t pid;           /* 0: not running */
	bool is_new;         /* started by this call, so it is our child */
};

/* The subcommands; argv[0] is the subcommand's name.  Each returns the exit code. */
int cmd_up(struct arena *a, int argc, char **argv);
int cmd_down(struct arena *a, int argc, char **argv);

/* site.c: `dir` NULL means the user's default.  Fails with a word on what makes D unusable. */
NODISCARD int site_open(struct site *s, struct arena *a, const char *dir, struct error *err);
NODISCARD int site_create(struct site *s, struct error *err); /* the directories */
NODISCARD int site_lock(struct site *s, struct error *err);   /* one up or down at a time */
bool site_exists(const struct site *s);                       /* has a configuration */
char *site_path(const struct site *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Socket paths have a limit of 107 bytes; the longest one is that of a step on the longest node name. */
NODISCARD int site_check_sockets(const struct site *s, size_t longest_node, struct error *err);
NODISCARD int text_write(const char *path, mode_t mode, const struct buf *text, struct error *err);
enum { TEXT_MAX = 64 << 20 }; /* of the files that are read: configurations, logs, what /proc says */

/* config.c */
NODISCARD int config_write(struct site *s, const struct shape *shape, const char *shape_note,
			   struct error *err);
NODISCARD int config_write_env(const struct site *s, struct error *err);
void config_put_site(const struct site *s, uint16_t port, struct buf *out); /* paths and addresses */

/* import.c: somebody's slurm.conf with its addresses, ports and directories replaced by the site's,
 * and the files beside it. */
NODISCARD int import_config(struct site *s, const char *path, uint16_t port, struct buf *ret,
			    struct error *err);

/* daemons.c */
struct daemon *daemons_list(const struct site *s, const struct conf *c, size_t *ret_count);
NODISCARD int daemon_start(const struct site *s, struct daemon *d, struct error *err);

/* processes.c: what runs for this site now. */
enum process_kind { PROCESS_OTHER, PROCESS_CONTROLLER, PROCESS_NODE, PROCESS_STEP, PROCESS_TASK };
struct process {
	pid_t pid, parent;
	enum process_kind kind;
	const char *node; /* PROCESS_NODE: the name after -N */
};
struct process *processes_of(const struct site *s, struct arena *a, size_t *ret_count);
bool process_is_gone(pid_t pid); /* a zombie is gone */
/* Signals all of these kinds and waits until they are gone; returns how many there were, and in
 * `ret_left` how many are still there after `wait_msec`. */
size_t processes_end(const struct site *s, unsigned kinds, int signo, int wait_msec, size_t *ret_left);
/* Ends everything of the site; counts by kind, and how many had to be killed. */
struct ended {
	size_t controllers, nodes, steps, killed, left;
};
struct ended processes_end_all(const struct site *s);

/* SPDX-License-Identifier: Apache-2.0 */
/* slurmd.h - the node daemon as a library: main.c runs one, the simulator many.
 *
 * It reaches the outside only through host/ and wire/, and what it must know about its machine is
 * given to it.  One loop, one thread. */
#pragma once
#include "base/cleanup.h"
#include "schema/node.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct conf;
struct disk;
struct error;
struct loop;
struct slurmd;

/* Reads the configuration again; the daemon owns what it gets. */
typedef int (*slurmd_load_fn)(void *arg, struct conf **ret, struct error *err);

struct slurmd_options {
	struct loop *loop;
	const char *node_name;
	slurmd_load_fn load;
	void *load_arg;
	struct node_facts machine; /* what the machine is; borrowed */
	struct disk *machine_root; /* where /proc is, for the load in heartbeats; NULL: not known */
	const char *stepd_path;    /* the program for steps */
	const char *stepd_cpus; /* the machine's CPUs in our order, for binding; NULL: never bind */
	const char *log_path;   /* for the step daemons too; NULL: standard error */
	uid_t uid;              /* whom we run as: root starts jobs of everybody */
	bool clear;             /* throw away remains of earlier steps instead of reporting them */
	void (*stopped)(void *arg);                           /* somebody asked the daemon to end */
	void (*reloaded)(void *arg, const struct conf *conf); /* for log level and log file */
	void (*registered)(void *arg); /* the controller has taken note of the node */
	void *arg;
};

/* Loads the configuration and takes the spool directory; nothing is sent before slurmd_start. */
NODISCARD int slurmd_new(const struct slurmd_options *o, struct slurmd **ret, struct error *err);
void slurmd_free(struct slurmd *d); /* leaves the steps running; NULL is fine */
/* Finds the steps of an earlier life, then connects to the controller and registers. */
NODISCARD int slurmd_start(struct slurmd *d, struct error *err);
NODISCARD int slurmd_reload(struct slurmd *d, struct error *err);
const struct conf *slurmd_conf(const struct slurmd *d);

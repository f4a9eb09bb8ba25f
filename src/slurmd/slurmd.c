/* SPDX-License-Identifier: Apache-2.0 */
/* slurmd.c - the node daemon put together: configuration, facts, birth and end.
 *
 * Life: slurmd_new loads the configuration and opens the spool directory, slurmd_start takes over the
 * steps found there (adopt.c) and then links up with the controller (link.c), whose orders (orders.c)
 * become step daemons (stepd.c).  A reload replaces the configuration and links up again, because the
 * controller, its address or our own facts may have changed; steps do not notice.  slurmd_free leaves
 * every step running. */
#include "slurmd/slurmd.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "conf/conf.h"
#include "host/disk.h"
#include "host/loop.h"
#include "host/user.h"
#include "slurmd/impl.h"
#include "wire/auth.h"
#include "wire/authd.h"
#include "wire/conn.h"

#include <errno.h>

/* A name of three numbers, and ".sock". */
enum { SOCKET_NAME_MAX = 3 * 10 + 2 + 5 };

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; at && (at = strcasestr(at, word)); at += len)
		if ((at == list || at[-1] == ',') && (at[len] == 0 || at[len] == ','))
			return true;
	return false;
}

/* What is reported: the machine as it is, or as it is configured where the administrator wants that. */
static int facts_make(const struct slurmd *d, const struct conf *c, const struct node_conf *n,
		      struct arena *a, struct node_facts *ret, struct error *err)
{
	struct node_facts f = d->o.machine;

	if (has_word(c->main.slurmd_parameters, "config_overrides")) {
		f.cpus = n->cpus;
		f.sockets = n->sockets;
		f.cores_per_socket = n->cores_per_socket;
		f.threads_per_core = n->threads_per_core;
		f.real_memory_mib = n->real_memory_mib;
	}
	f.tmp_disk_mib = n->tmp_disk_mib;
	f.version = MUSTER_VERSION;
	f.slurmd_start_time = d->facts.slurmd_start_time ? d->facts.slurmd_start_time
							 : loop_now(d->loop);
	f.addr = n->addr;
	f.port = n->port;
	*ret = f;
	return conf_node_gres(c, n, a, &ret->gres, &ret->n_gres, err);
}

static int spool_open(const struct conf *c, const struct node_conf *n, struct arena *a,
		      struct disk **ret, struct error *err)
{
	const char *path = conf_expand_path(c->main.slurmd_spool_dir, n, a);
	size_t room = SOCKET_PATH_MAX - 1 - SOCKET_NAME_MAX;

	if (strlen(path) > room)
		return error_set(
			err, -ENAMETOOLONG,
			"SlurmdSpoolDir '%s' has %zu characters; sockets need a path of at most %zu",
			path, strlen(path), room);
	/* Users' shells pass through it to reach their scripts. */
	return disk_open(path, 0755, ret, err);
}

static int auth_open(const struct conf *c, struct auth **ret, struct error *err)
{
	uid_t slurm_user;

	if (user_uid(c->main.slurm_user, &slurm_user) < 0)
		return error_set(err, -ENOENT, "SlurmUser=%s: there is no such user", c->main.slurm_user);
	return auth_new(
		&(struct auth_options) {
			.type = c->main.auth_type,
			.key_path = c->auth_key,
			.cluster = c->main.cluster_name,
			.munge_socket = c->auth_socket,
			.key_owner = slurm_user,
		},
		ret, err);
}

/* Everything that comes out of a configuration; `d` changes only when all of it is good. */
static int conf_use(struct slurmd *d, struct conf *c, struct error *err)
{
	const struct node_conf *n = conf_node(c, d->o.node_name);
	AUTO_ARENA struct arena *a = arena_new();
	struct node_facts facts = {};
	struct disk *spool = NULL;
	struct auth *auth = NULL;
	int r;

	if (!n)
		return error_set(err, -ENOENT, "there is no NodeName '%s' in '%s'", d->o.node_name,
				 c->path);
	r = facts_make(d, c, n, a, &facts, err);
	if (r == 0)
		r = auth_open(c, &auth, err);
	if (r == 0)
		r = spool_open(c, n, a, &spool, err);
	if (r < 0) {
		auth_free(auth);
		return r;
	}
	link_close(d);
	authd_free(d->authd);
	d->authd = NULL;
	auth_free(d->auth);
	disk_close(d->spool);
	conf_free(d->conf);
	arena_free(d->arena);
	d->arena = TAKE_PTR(a);
	d->conf = c;
	d->node = n;
	d->facts = facts;
	d->auth = auth;
	d->spool = spool;
	return 0;
}

static int conf_take(struct slurmd *d, struct error *err)
{
	struct conf *c = NULL;
	int r = d->o.load(d->o.load_arg, &c, err);

	if (r < 0)
		return r;
	r = conf_use(d, c, err);
	if (r < 0)
		conf_free(c);
	return r;
}

int slurmd_new(const struct slurmd_options *o, struct slurmd **ret, struct error *err)
{
	struct slurmd *d = NEW(struct slurmd);
	int r;

	d->o = *o;
	d->loop = o->loop;
	r = conf_take(d, err);
	if (r < 0) {
		slurmd_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

int slurmd_start(struct slurmd *d, struct error *err)
{
	int r = authd_start(d->loop, d->auth, d->conf->auth_socket, &d->authd, err);

	return r < 0 ? r : adopt_start(d, err);
}

int slurmd_reload(struct slurmd *d, struct error *err)
{
	int r = conf_take(d, err);

	if (r < 0)
		return r;
	log_info("the configuration '%s' is in force", d->conf->path);
	if (d->o.reloaded)
		d->o.reloaded(d->o.arg, d->conf);
	r = authd_start(d->loop, d->auth, d->conf->auth_socket, &d->authd, err);
	if (r < 0)
		return r;
	if (!d->adopting)
		link_open(d);
	return 0;
}

const struct conf *slurmd_conf(const struct slurmd *d)
{
	return d->conf;
}

void slurmd_free(struct slurmd *d)
{
	struct held *h;

	if (!d)
		return;
	link_close(d);
	authd_free(d->authd);
	for (size_t i = 0; (h = map_next(&d->held, &i));) {
		conn_close(h->conn);
		held_free(h);
	}
	map_done(&d->held);
	for (size_t i = 0; i < d->clean.count; i++)
		free(d->clean.at[i]);
	vec_done(&d->clean);
	timer_free(d->retry);
	timer_free(d->heartbeat);
	timer_free(d->resend);
	auth_free(d->auth);
	disk_close(d->spool);
	conf_free(d->conf);
	arena_free(d->arena);
	free(d);
}

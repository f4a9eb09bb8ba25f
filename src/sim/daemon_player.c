/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and killing the real daemons. */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "conf/conf.h"
#include "host/disk.h"
#include "sim/cast.h"
#include "slurmctld/ctld.h"
#include "slurmd/slurmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int read_conf_text(void *arg, const char *path, struct buf *ret)
{
	const struct cast *c = arg;
	if (str_ends(path, "slurm.conf"))
		buf_puts(ret, c->conf_text);
	else if (str_ends(path, "gres.conf"))
		buf_puts(ret, "Name=gpu File=/dev/gpu[0-1]\n");
	else
		return -ENOENT;
	return 0;
}

int cast_load_conf(void *arg, struct conf **ret, struct error *err)
{
	return conf_load_with("/sim/slurm.conf", read_conf_text, arg, ret, err);
}

struct conf *cast_conf(struct cast *c)
{
	struct conf *conf;
	struct error err = {};
	if (cast_load_conf(c, &conf, &err) < 0) {
		fprintf(stderr, "simcluster: %s\n", err.text);
		abort();
	}
	return conf;
}

/* ---- controller -------------------------------------------------------------------------------- */

static void on_stop(void *arg)
{
	(void)arg;
}

/* The whole history goes into the hash, and nothing may contradict itself at any time. */
static void after_apply(void *arg, const struct event *ev)
{
	struct cast *c = arg;
	AUTO_BUF struct buf bytes = {};
	c->w->hash = hash_mix(c->w->hash, (uint64_t)ev->kind);
	c->w->hash = hash_mix(c->w->hash, (uint64_t)c->w->now);
	if (c->w->tell) {
		record_print(event_records[ev->kind], &ev->counters, &bytes);
		world_tell("ctld: %s %.300s", event_records[ev->kind]->name, buf_text(&bytes));
	}
	if (c->grind)
		cluster_check(&c->ctld->cluster);
}

void ctld_player_start(struct cast *c)
{
	struct error err = {};
	c->ctld_loop = loop_on(&c->control);
	if (disk_open("/state", 0700, &c->ctld_disk, &err) < 0)
		abort();
	struct ctld_options o = { .loop = c->ctld_loop,
				  .conf = cast_conf(c),
				  .auth = c->auth,
				  .disk = c->ctld_disk,
				  .slurm_uid = 0,
				  .on_stop = on_stop,
				  .arg = c };
	int e = ctld_new(&o, &c->ctld, &err);
	if (e < 0) {
		fprintf(stderr, "simcluster: the controller does not start again: %s\n", err.text);
		abort();
	}
	cluster_check(&c->ctld->cluster);
	c->ctld->after_apply = after_apply;
	c->ctld->after_apply_arg = c;
	world_tell("ctld: up, %zu jobs", c->ctld->cluster.jobs.count);
}

static void nothing(void *arg)
{
	(void)arg;
}

void ctld_player_crash(struct cast *c)
{
	world_tell("ctld: power is cut");
	c->crashes++;
	disk_crash(c->w, "/state");
	c->ctld->after_apply = NULL;
	c->ctld_loop->alive = false;
	ctld_stop(c->ctld, nothing, NULL);
	loop_kill(c->ctld_loop);
	ctld_free(c->ctld);
	c->ctld = NULL;
	disk_close(c->ctld_disk);
	loop_free(c->ctld_loop);
	c->ctld_loop = NULL;
}

/* ---- nodes ------------------------------------------------------------------------------------- */

void node_player_start(struct node_player *n)
{
	struct error err = {};
	char name[32];
	snprintf(name, sizeof(name), "n%u", n->index + 1);
	n->loop = loop_on(&n->machine);
	struct slurmd_options o = { .loop = n->loop,
				    .node_name = name,
				    .load = cast_load_conf,
				    .load_arg = n->cast,
				    .machine = { .boot_id = n->machine.boot_id },
				    .stepd_path = "slurmstepd",
				    .uid = 0,
				    .stopped = on_stop,
				    .arg = n };
	if (slurmd_new(&o, &n->slurmd, &err) < 0 || slurmd_start(n->slurmd, &err) < 0) {
		fprintf(stderr, "simcluster: %s does not start: %s\n", name, err.text);
		abort();
	}
	world_tell("n%u: slurmd up", n->index + 1);
}

void node_player_crash(struct node_player *n)
{
	if (!n->loop)
		return;
	world_tell("n%u: slurmd is killed", n->index + 1);
	n->cast->node_crashes++;
	loop_kill(n->loop);
	slurmd_free(n->slurmd);
	loop_free(n->loop);
	n->slurmd = NULL;
	n->loop = NULL;
}

void node_player_reboot(struct node_player *n)
{
	node_player_crash(n);
	world_tell("n%u: boots", n->index + 1);
	n->cast->boots++;
	stepd_players_kill(n->cast, &n->machine, 1);
	snprintf(n->machine.boot_id, sizeof(n->machine.boot_id), "boot-%u-%u", n->index, ++n->boots);
}

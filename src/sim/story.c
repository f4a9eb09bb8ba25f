/* SPDX-License-Identifier: Apache-2.0 */
/* One seed, one story: faults while users work, then peace, then the reckoning.
 *
 * Safety, at all times: the cluster never contradicts itself; a part of a step starts at most once in a
 * given attempt.  In the end: every acknowledged job is known, has ended, and ended as its script did,
 * unless it was cancelled, ran out of time or lost a node; nothing is left running or allocated; every
 * node is up. */
#include "sim/story.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "core/cluster.h"
#include "sched/layout.h"
#include "sim/cast.h"
#include "slurmctld/ctld.h"
#include "wire/auth.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void write_conf(struct cast *c)
{
	snprintf(c->conf_text, sizeof(c->conf_text),
		 "ClusterName=sim\nSlurmctldHost=control\nSlurmctldPort=6817\nSlurmUser=root\nAuthType=auth/slurm\n"
		 "AuthInfo=socket=/run/auth.sock,key=%s\nStateSaveLocation=/state\nSlurmdSpoolDir=/spool/%%n\n"
		 "SlurmdParameters=config_overrides\nReturnToService=2\nSlurmdTimeout=60\nKillWait=2\nMinJobAge=10000000\n"
		 "MaxBatchRequeue=1000\nDefMemPerCPU=10\nLicenses=sim:3\n"
		 "GresTypes=gpu,shard\n"
		 "NodeName=n[1-%u] CPUs=4 Sockets=1 CoresPerSocket=4 RealMemory=1000 Gres=gpu:2,shard:8\n"
		 "PartitionName=main Nodes=ALL Default=YES\n",
		 c->key_path, c->node_count);
}

static void cast_init(struct cast *c, struct world *w, const struct story_options *o)
{
	c->w = w;
	c->node_count = 2 + (uint32_t)world_draw(w, 4);
	c->user_count = 1 + (uint32_t)world_draw(w, 3);
	c->grind = true;
	snprintf(c->key_path, sizeof(c->key_path), "%s", o->key_path);
	write_conf(c);
	struct error err = {};
	struct auth_options auth = { .type = "auth/slurm", .key_path = c->key_path, .cluster = "sim" };
	if (auth_new(&auth, &c->auth, &err) < 0) {
		fprintf(stderr, "simcluster: %s\n", err.text);
		abort();
	}
	w->spawn = stepd_player_spawn;
	w->spawn_arg = c;
	snprintf(c->control.name, sizeof(c->control.name), "control");
	ctld_player_start(c);
	c->nodes = mem_alloc(c->node_count * sizeof(*c->nodes));
	for (uint32_t i = 0; i < c->node_count; i++) {
		struct node_player *n = &c->nodes[i];
		*n = (struct node_player){ .cast = c, .index = i };
		snprintf(n->machine.name, sizeof(n->machine.name), "n%u", i + 1);
		snprintf(n->machine.boot_id, sizeof(n->machine.boot_id), "boot-%u-0", i);
		node_player_start(n);
	}
	c->users = mem_alloc(c->user_count * sizeof(*c->users));
	for (uint32_t i = 0; i < c->user_count; i++) {
		struct user_player *u = &c->users[i];
		*u = (struct user_player){ .cast = c, .uid = 1000 + i, .left = 3 + (unsigned)world_draw(w, 12) };
		snprintf(u->machine.name, sizeof(u->machine.name), "user%u", i);
		user_player_start(u);
	}
}

static void cast_done(struct cast *c)
{
	for (uint32_t i = 0; i < c->user_count; i++)
		user_player_stop(&c->users[i]);
	for (uint32_t i = 0; i < c->node_count; i++)
		if (c->nodes[i].loop)
			node_player_crash(&c->nodes[i]);
	stepd_players_free(c);
	if (c->ctld)
		ctld_player_crash(c);
	struct run *r;
	for (size_t i = 0; (r = map_next(&c->runs, &i));)
		free(r);
	map_done(&c->runs);
	vec_done(&c->acked);
	auth_free(c->auth);
	free(c->nodes);
	free(c->users);
}

/* ---- faults ------------------------------------------------------------------------------------ */

/* Each seed draws which faults it has at all. */
struct menu {
	bool ctld, slurmd, boot, stepd, net, cut, slow_disk;
};

static struct menu draw_menu(struct world *w)
{
	struct menu m = { world_draw(w, 4) != 0, world_draw(w, 2) != 0, world_draw(w, 3) == 0, world_draw(w, 4) == 0,
			  world_draw(w, 2) != 0, world_draw(w, 3) == 0, world_draw(w, 3) == 0 };
	if (m.net) {
		w->faults.link_break = 20 + (unsigned)world_draw(w, 200);
		w->faults.slow = 10 + (unsigned)world_draw(w, 50);
		w->faults.latency = 500 + (usec_t)world_draw(w, 200000);
	}
	if (m.slow_disk)
		w->faults.sync = 200000;
	return m;
}

static void one_fault(struct cast *c, const struct menu *m)
{
	struct world *w = c->w;
	struct node_player *n = &c->nodes[world_draw(w, c->node_count)];
	switch (world_draw(w, 6)) {
	case 0:
	case 1:
		if (m->ctld && c->ctld)
			ctld_player_crash(c);
		else if (!c->ctld)
			ctld_player_start(c);
		break;
	case 2:
		if (m->slurmd && n->loop)
			node_player_crash(n);
		break;
	case 3:
		if (m->boot)
			node_player_reboot(n);
		break;
	case 4:
		if (m->stepd)
			stepd_players_kill(c, NULL, 3);
		break;
	default:
		if (m->cut) {
			n->machine.cut = !n->machine.cut;
			world_tell("%s: %s", n->machine.name, n->machine.cut ? "cut off" : "reachable again");
		}
	}
}

static void repair(struct cast *c, bool all)
{
	if (!c->ctld && (all || world_chance(c->w, 2)))
		ctld_player_start(c);
	for (uint32_t i = 0; i < c->node_count; i++) {
		struct node_player *n = &c->nodes[i];
		if (!n->loop && (all || world_chance(c->w, 2)))
			node_player_start(n);
		if (all)
			n->machine.cut = false;
	}
	if (all)
		c->w->faults = (struct faults){ .latency = 500, .sync = 2000 };
}

static void run_until(struct cast *c, usec_t when)
{
	while (c->w->heap.count && c->w->heap.at[0].when <= when)
		world_step(c->w);
	if (c->w->now < when)
		c->w->now = when;
}

/* ---- the reckoning ----------------------------------------------------------------------------- */

static bool fails(const struct story_options *o, const char *what, uint64_t a, uint64_t b)
{
	fprintf(stderr, "simcluster: seed %llu: %s (%llu, %llu)\n  run it again: simcluster --seed %llu --trace\n",
		(unsigned long long)o->seed, what, (unsigned long long)a, (unsigned long long)b,
		(unsigned long long)o->seed);
	return false;
}

static bool check_runs(const struct cast *c, const struct story_options *o)
{
	const struct run *r;
	for (size_t i = 0; (r = map_next(&c->runs, &i));)
		if (r->starts > 1)
			return fails(o, "a step's part was started twice (job, attempt)", r->job_id, r->attempt);
	return true;
}

static bool is_settled(const struct cast *c)
{
	if (!c->ctld || c->ctld->cluster.pending.count || c->ctld->cluster.active.count)
		return false;
	for (uint32_t i = 0; i < c->user_count; i++)
		if (c->users[i].left || c->users[i].token || c->users[i].wish != WISH_SUBMIT)
			return false;
	return stepd_players_alive(c) == 0;
}

/* Did the last attempt's script really run and end as the record says? */
static bool check_job(const struct cast *c, const struct job *j, const struct story_options *o)
{
	if (!job_is_ended(j) || j->completing)
		return fails(o, "a job has not ended (job, state)", j->id, (uint64_t)j->state);
	if (!j->spec.batch || (j->state != JOB_STATE_COMPLETED && j->state != JOB_STATE_FAILED))
		return true; /* an allocation, cancelled, out of time, lost with its node */
	uint64_t key = hash_mix(hash_mix(((uint64_t)j->id << 32) | j->attempt, STEP_BATCH), j->alloc[0].node);
	const struct run *r = map_get(&c->runs, key);
	if (!r || !r->starts || !r->ended)
		return fails(o, "a job ended that never ran (job, attempt)", j->id, j->attempt);
	if (!r->killed && j->exit_code != expected_exit(j->id))
		return fails(o, "an exit code got lost (job, code)", j->id, j->exit_code);
	if (!r->killed && (j->exit_code == 0) != (j->state == JOB_STATE_COMPLETED))
		return fails(o, "a state contradicts the exit code (job, state)", j->id, (uint64_t)j->state);
	return true;
}

static bool check_acked(const struct cast *c, const struct story_options *o)
{
	for (size_t i = 0; i < c->acked.count; i++)
		if (!cluster_job(&c->ctld->cluster, c->acked.at[i].job_id))
			return fails(o, "an acknowledged job is lost (job)", c->acked.at[i].job_id, 0);
	return true;
}

static bool reckon(struct cast *c, const struct story_options *o)
{
	if (!is_settled(c))
		return fails(o, "the queue does not drain (pending, active)", c->ctld->cluster.pending.count,
			     c->ctld->cluster.active.count);
	if (!check_acked(c, o) || !check_runs(c, o))
		return false;
	const struct job_entry *e;
	for (size_t i = 0; (e = map_next(&c->ctld->cluster.jobs, &i));)
		if (!check_job(c, &e->job, o))
			return false;
	for (uint32_t i = 0; i < c->node_count; i++) {
		const struct node *n = cluster_node(&c->ctld->cluster, i);
		if (!n->responding || n->down || n->job_count)
			return fails(o, "a node did not come back clean (node, jobs)", i, n->job_count);
	}
	return true;
}

/* ---- the story --------------------------------------------------------------------------------- */

bool story_run(const struct story_options *o, struct story_result *ret)
{
	struct world *w = world_new(o->seed);
	struct cast *c = NEW(struct cast);
	w->tell = o->tell;
	cast_init(c, w, o);
	struct menu menu = draw_menu(w);
	usec_t begin = w->now;
	for (unsigned i = 0; i < o->faults; i++) {
		run_until(c, w->now + (usec_t)world_draw(w, 4000000));
		one_fault(c, &menu);
		repair(c, false);
		if (c->ctld && !check_acked(c, o))
			break;
	}
	repair(c, true);
	world_tell("---- peace ----");
	for (usec_t hour = 0; hour < 4 && !is_settled(c); hour++)
		for (int minute = 0; minute < 60 && !is_settled(c); minute++)
			run_until(c, w->now + USEC_PER_MIN);
	run_until(c, w->now + USEC_PER_MIN); /* the last words arrive */
	bool ok = reckon(c, o);
	*ret = (struct story_result){ .hash = w->hash,
				      .crashes = c->crashes,
				      .node_crashes = c->node_crashes,
				      .boots = c->boots,
				      .jobs = (unsigned)c->acked.count,
				      .virtual_usec = w->now - begin };
	cast_done(c);
	free(c);
	while (world_step(w)) /* what is still on its way gives back its memory */
		;
	world_free(w);
	return ok;
}

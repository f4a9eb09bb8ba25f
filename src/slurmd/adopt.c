/* SPDX-License-Identifier: Apache-2.0 */
/* adopt.c - finding the steps that an earlier node daemon left running.
 *
 * Every step daemon has a socket file in the spool directory.  Where one answers it is taken over;
 * where nobody listens the step daemon died while nobody watched, and its step is reported as lost.
 * The node registers only after the last one has answered, so that the controller is never told of a
 * node that has forgotten its steps. */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "host/disk.h"
#include "slurmd/impl.h"

#include <string.h>

struct scan {
	struct arena *arena;
	VEC(char *) names;
};

static void scan_one(void *arg, const char *name)
{
	struct scan *s = arg;

	if (str_ends(name, ".sock"))
		vec_push(&s->names, arena_strndup(s->arena, name, strlen(name) - strlen(".sock")));
}

void adopt_done_one(struct slurmd *d)
{
	if (--d->adopting == 0)
		link_open(d);
}

static void adopt_one(struct slurmd *d, const char *name)
{
	uint32_t job, attempt, step;
	struct held *h;

	if (!held_name_parse(name, &job, &attempt, &step)) {
		log_info("'%s/%s.sock' is not the socket of a step; left alone",
			 disk_root(d->spool), name);
		return;
	}
	h = held_new(d, job, attempt, step);
	h->adopting = true;
	h->clear = d->o.clear;
	d->adopting++;
	stepd_connect(h);
}

int adopt_start(struct slurmd *d, struct error *err)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct scan scan = { .arena = a };
	int r = disk_list(d->spool, ".", scan_one, &scan);

	if (r < 0)
		return error_set(err, r, "cannot read '%s': %s", disk_root(d->spool), strerror(-r));
	d->adopting = 1; /* ours, until all are counted */
	for (size_t i = 0; i < scan.names.count; i++)
		adopt_one(d, scan.names.at[i]);
	vec_done(&scan.names);
	adopt_done_one(d);
	return 0;
}

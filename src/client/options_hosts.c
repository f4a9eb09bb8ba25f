/* SPDX-License-Identifier: Apache-2.0 */
/* -m arbitrary: the file that SLURM_HOSTFILE names has one node for each task, in the order of the ranks.
 *
 * srun(1): it decides which nodes there are and how many, so --nodes cannot be given as well; of a
 * file that is longer than --ntasks the beginning counts. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "client/nodefile.h"
#include "client/options.h"
#include "sched/distribution.h"
#include "text/hostlist.h"

#include <errno.h>
#include <stdlib.h>

static int refuse(struct options *o, struct error *err, const char *text)
{
	o->exit_code = OPTION_EXIT_ERROR;
	return error_set(err, -EINVAL, "%s", text);
}

static bool is_known(char *const *names, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

static void take_hosts(struct options *o, const struct hostlist *hosts)
{
	struct resource_request *q = &o->at.spec.request;
	AUTO_BUF struct buf text = {}, nodes = {};
	char **once = ARENA_ARRAY(o->arena, char *, hosts->count);
	uint32_t count = 0;
	for (uint32_t i = 0; i < hosts->count; i++)
		if (!is_known(once, count, hosts->names[i]))
			once[count++] = hosts->names[i];
	hostlist_compress(hosts->names, hosts->count, &text);
	hostlist_compress(once, count, &nodes);
	q->task_hosts = arena_strdup(o->arena, buf_text(&text));
	q->node_list = arena_strdup(o->arena, buf_text(&nodes));
	q->has_ntasks = true;
	q->ntasks = hosts->count;
	q->nodes_min = q->nodes_max = count;
}

static int read_hosts(struct options *o, struct error *err)
{
	const char *path = getenv("SLURM_HOSTFILE"), *text = NULL;
	const struct resource_request *q = &o->at.spec.request;
	struct hostlist hosts;
	if (str_empty(path))
		return refuse(o, err,
			      "--distribution=arbitrary takes the node of each task from the file "
			      "that SLURM_HOSTFILE names, and it is not set");
	if (options_source(o, "nodes") != OPTION_UNSET && options_source(o, "nodes") != OPTION_ENV)
		return refuse(o, err,
			      "--distribution=arbitrary takes the nodes from SLURM_HOSTFILE; --nodes "
			      "cannot be given as well");
	int r = nodefile_read(path, o->arena, &text, err);
	if (r == 0)
		r = hostlist_expand(text, o->arena, &hosts, err);
	if (r < 0) {
		o->exit_code = OPTION_EXIT_ERROR;
		return error_wrap(err, r, "SLURM_HOSTFILE");
	}
	bool given = options_source(o, "ntasks") != OPTION_UNSET;
	if (given && q->has_ntasks && q->ntasks > hosts.count)
		return refuse(o, err,
			      arena_printf(o->arena,
					   "SLURM_HOSTFILE=%s has nodes for %u tasks, but --ntasks is %u",
					   path, hosts.count, q->ntasks));
	if (given && q->has_ntasks && q->ntasks)
		hosts.count = q->ntasks;
	take_hosts(o, &hosts);
	return 0;
}

int options_read_hosts(struct options *o, struct error *err)
{
	struct distribution d = distribution_of(o->at.spec.distribution);
	/* The rest is about the order of ranks and CPUs, which the choice of nodes need not know. */
	if (d.nodes == DIST_NODES_PLANE || d.pack || d.sockets == DIST_LEVEL_BLOCK)
		o->at.spec.request.distribution = o->at.spec.distribution;
	return d.nodes == DIST_NODES_ARBITRARY ? read_hosts(o, err) : 0;
}

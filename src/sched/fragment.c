/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/fragment.h"

#include "sched/demand.h"
#include "sched/pool.h"
#include "sched/view.h"
#include "text/gres.h"

#include <string.h>

static uint64_t devices_in(const struct gres_want *w)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < w->count; i++)
		total += gres_is_shared(w->at[i].name) ? 0 : w->at[i].count;
	return total;
}

/* What the request takes of one node when its tasks are spread evenly over the fewest nodes. */
static struct mix_kind share_of(const struct demand *d)
{
	uint32_t nodes = d->nodes_min ? d->nodes_min : 1;
	uint32_t tasks = (d->ntasks + nodes - 1) / nodes;
	struct mix_kind k = { .cpus = tasks * d->cpus_per_task };
	k.devices = devices_in(&d->per_node) + devices_in(&d->per_socket) * d->sockets_min +
		    devices_in(&d->per_task) * tasks + (devices_in(&d->per_job) + nodes - 1) / nodes;
	k.cpus = k.cpus < d->cpus_min ? d->cpus_min : k.cpus;
	k.mem = d->mem_per_node + d->mem_per_cpu * k.cpus + d->mem_per_gpu * k.devices;
	return k;
}

/* Kinds are kept few by rounding: nobody's placement hangs on one core more or less of somebody else. */
static uint64_t round_up(uint64_t v)
{
	uint64_t power = 1;
	while (power < v)
		power *= 2;
	return v > power / 4 * 3 ? power : power / 4 * 3;
}

void mix_add(struct mix *m, const struct demand *d, double times)
{
	struct mix_kind k = share_of(d);
	k.cpus = (uint32_t)round_up(k.cpus);
	k.mem = round_up(k.mem);
	struct mix_kind *rarest = &m->kinds[0];
	if (k.devices == 0)
		return; /* jobs without devices never miss one */
	times *= (double)k.devices; /* by what is at stake: one job of eight is worth eight of one */
	for (uint32_t i = 0; i < m->count; i++) {
		struct mix_kind *have = &m->kinds[i];
		if (have->devices == k.devices && have->cpus == k.cpus && have->mem == k.mem) {
			have->share += times;
			return;
		}
		rarest = have->share < rarest->share ? have : rarest;
	}
	k.share = times;
	if (m->count < MIX_KINDS)
		m->kinds[m->count++] = k;
	else
		*rarest = k;
}

static double tasks_of(const struct job *j)
{
	double tasks = 0;
	for (uint32_t k = 0; k < j->n_array_tasks; k++)
		tasks += j->array_tasks[k].last - j->array_tasks[k].first + 1;
	return tasks > 0 ? tasks : 1;
}

/* Neighbours in the queue often ask for the same: they are counted together. */
void mix_from_queue(struct mix *m, const struct sched_view *v)
{
	for (uint32_t i = 0, next; i < v->pending_count && i < MIX_LOOK; i = next) {
		const struct job *j = v->pending[i];
		struct demand d;
		double times = tasks_of(j);
		for (next = i + 1; next < v->pending_count && next < MIX_LOOK && j->eval_signature &&
				   v->pending[next]->eval_signature == j->eval_signature;
		     next++)
			times += tasks_of(v->pending[next]);
		if (demand_from(&j->spec.request, &d, NULL) == 0)
			mix_add(m, &d, times * d.nodes_min);
	}
}

double mix_fragment(const struct mix *m, uint64_t devices, uint32_t cpus, uint64_t mem)
{
	double lost = 0, total = 0;
	for (uint32_t i = 0; i < m->count; i++) {
		const struct mix_kind *k = &m->kinds[i];
		total += k->share;
		if (k->devices > devices || k->cpus > cpus || k->mem > mem)
			lost += k->share * (double)devices;
	}
	return total > 0 ? lost / total : 0;
}

double mix_growth(const struct mix *m, const struct pool_node *n, const struct demand *d)
{
	struct mix_kind k = share_of(d);
	uint64_t devices = pool_devices_free(n);
	uint64_t left = devices > k.devices ? devices - k.devices : 0;
	uint32_t cpus = n->free_cpus > k.cpus ? n->free_cpus - k.cpus : 0;
	uint64_t mem = n->free_mem > k.mem ? n->free_mem - k.mem : 0;
	if (d->whole_memory)
		mem = 0;
	if (d->exclusive)
		return -mix_fragment(m, devices, n->free_cpus, n->free_mem);
	return mix_fragment(m, left, cpus, mem) - mix_fragment(m, devices, n->free_cpus, n->free_mem);
}

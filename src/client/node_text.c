/* SPDX-License-Identifier: Apache-2.0 */
/* node_text.c - a node's resources in words.
 *
 * A node may list a kind of device in several entries, when gres.conf gives them different cores; to a
 * reader they are one kind, so entries of equal name and type are added up. */
#include "client/node_text.h"

#include "base/bitset.h"
#include "base/buf.h"
#include "base/str.h"
#include "client/job_text.h"
#include "client/table.h"
#include "schema/node.h"

uint32_t node_cpus(const struct node *n)
{
	return n->conf.cpus ? n->conf.cpus : n->facts.cpus;
}

uint32_t node_cpus_used(const struct node *n)
{
	return bitset_count(&n->used_cores);
}

static const char *type_of(const struct node_gres *g)
{
	return g->type ? g->type : "";
}

static bool is_same(const struct node_gres *a, const struct node_gres *b)
{
	return str_eq(a->name, b->name) && str_eq(type_of(a), type_of(b));
}

/* The first entry of its kind speaks for the others. */
static bool is_first(const struct node *n, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++)
		if (is_same(&n->gres[i], &n->gres[at]))
			return false;
	return true;
}

static uint64_t used_in(const struct node_gres *g)
{
	uint64_t devices = bitset_count(&g->used);
	return devices ? devices : g->used_count;
}

struct gres_sum {
	uint64_t count, used;
	struct bitset devices; /* in use, by index on the node */
};

static struct gres_sum sum_of_kind(const struct node *n, const struct node_gres *kind)
{
	struct gres_sum s = {};
	uint32_t bits = 1;
	for (uint32_t i = 0; i < n->n_gres; i++)
		if (is_same(&n->gres[i], kind) && n->gres[i].first + n->gres[i].used.bits > bits)
			bits = n->gres[i].first + n->gres[i].used.bits;
	bitset_init(&s.devices, bits);
	for (uint32_t i = 0; i < n->n_gres; i++) {
		const struct node_gres *g = &n->gres[i];
		if (!is_same(g, kind))
			continue;
		s.count += g->count;
		s.used += used_in(g);
		for (uint32_t d = bitset_next(&g->used, 0); d != BITSET_NONE;
		     d = bitset_next(&g->used, d + 1))
			bitset_add(&s.devices, g->first + d);
	}
	return s;
}

static void put_kind(const struct node_gres *g, uint64_t count, struct buf *out)
{
	if (out->len && out->data[out->len - 1] != '=')
		buf_putc(out, ',');
	buf_puts(out, g->name);
	if (*type_of(g))
		buf_printf(out, ":%s", g->type);
	buf_printf(out, ":%llu", (unsigned long long)count);
}

void node_print_gres(const struct node *n, struct buf *out)
{
	if (!str_empty(n->conf.gres)) {
		buf_puts(out, n->conf.gres);
		return;
	}
	for (uint32_t i = 0; i < n->n_gres; i++) {
		if (!is_first(n, i))
			continue;
		struct gres_sum s = sum_of_kind(n, &n->gres[i]);
		put_kind(&n->gres[i], s.count, out);
		bitset_done(&s.devices);
	}
}

/* (4/8,0/8): parts in use of each GPU, and how many it has. */
static void put_parts(const struct node *n, const struct node_gres *kind, struct buf *out)
{
	const char *joint = "(";
	for (uint32_t i = 0; i < n->n_gres; i++) {
		const struct node_gres *g = &n->gres[i];
		for (uint32_t d = 0; is_same(g, kind) && d < g->n_each; d++, joint = ",")
			buf_printf(out, "%s%u/%u", joint, d < g->n_each_used ? g->each_used[d] : 0,
				   g->each[d]);
	}
	buf_putc(out, ')');
}

/* What is only counted has no indexes. */
static bool has_devices(const struct node_gres *g)
{
	return g->used.bits || str_eq(g->name, "gpu");
}

void node_print_gres_used(const struct node *n, struct buf *out)
{
	for (uint32_t i = 0; i < n->n_gres; i++) {
		if (!is_first(n, i))
			continue;
		struct gres_sum s = sum_of_kind(n, &n->gres[i]);
		put_kind(&n->gres[i], s.used, out);
		if (n->gres[i].n_each)
			put_parts(n, &n->gres[i], out);
		else if (!bitset_empty(&s.devices)) {
			buf_puts(out, "(IDX:");
			bitset_print(&s.devices, out);
			buf_putc(out, ')');
		} else if (s.used == 0 && has_devices(&n->gres[i]))
			buf_puts(out, "(IDX:N/A)");
		bitset_done(&s.devices);
	}
}

/* ",gres/gpu=4": by name, whatever the type. */
static void put_gres_tres(const struct node *n, bool used, struct buf *out)
{
	for (uint32_t i = 0; i < n->n_gres; i++) {
		uint64_t total = 0;
		bool first = true;
		for (uint32_t k = 0; k < n->n_gres; k++) {
			if (!str_eq(n->gres[k].name, n->gres[i].name))
				continue;
			first = first && k >= i;
			total += used ? used_in(&n->gres[k]) : n->gres[k].count;
		}
		if (first && total)
			buf_printf(out, ",gres/%s=%llu", n->gres[i].name,
				   (unsigned long long)total);
	}
}

void node_print_cfg_tres(const struct node *n, const struct show_context *c, struct buf *out)
{
	buf_printf(out, "cpu=%u,mem=", node_cpus(n));
	text_put_memory(c, n->conf.real_memory_mib, out);
	buf_printf(out, ",billing=%u", node_cpus(n));
	put_gres_tres(n, false, out);
}

void node_print_alloc_tres(const struct node *n, const struct show_context *c, struct buf *out)
{
	uint32_t cpus = node_cpus_used(n);
	if (!cpus && !n->used_mem_mib)
		return;
	buf_printf(out, "cpu=%u", cpus);
	if (n->used_mem_mib) {
		buf_puts(out, ",mem=");
		text_put_memory(c, n->used_mem_mib, out);
	}
	put_gres_tres(n, true, out);
}

void node_print_user(const struct node *n, struct buf *out)
{
	if (!str_empty(n->user_reason))
		buf_puts(out, n->user_reason);
	else if (n->reason_uid == 0)
		buf_puts(out, "root");
	else
		text_put_u64(out, n->reason_uid);
}

const char *node_address(const struct node *n)
{
	return !str_empty(n->conf.addr) ? n->conf.addr : node_hostname(n);
}

const char *node_hostname(const struct node *n)
{
	if (!str_empty(n->facts.hostname))
		return n->facts.hostname;
	return !str_empty(n->conf.hostname) ? n->conf.hostname : n->conf.name;
}

const char *node_active_features(const struct node *n)
{
	return !str_empty(n->features) ? n->features : n->conf.features;
}

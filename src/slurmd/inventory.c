/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.c - see inventory.h.
 *
 * CPUs are counted as the controller counts them: all threads of the first core of the first socket,
 * then its next core, and so on.  The kernel numbers them differently on many machines (all first
 * threads, then all second ones), so the order found here is what binding needs. */
#include "slurmd/inventory.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/time.h"
#include "base/vec.h"
#include "host/disk.h"
#include "schema/node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS_MAX = 65536 };

struct cpu {
	int64_t socket, core;
	uint32_t number;
};

typedef VEC(struct cpu) cpu_list;

#if defined(__x86_64__)
#define ARCH "x86_64"
#elif defined(__aarch64__)
#define ARCH "aarch64"
#elif defined(__powerpc64__)
#define ARCH "ppc64le"
#else
#define ARCH "unknown"
#endif

/* A file of one line; "" when it cannot be read. */
static char *line_of(struct disk *root, struct arena *a, const char *path)
{
	AUTO_BUF struct buf b = {};

	if (disk_read(root, path, &b) < 0)
		return arena_strdup(a, "");
	return str_trim(arena_strdup(a, buf_text(&b)));
}

static int64_t number_of(struct disk *root, struct arena *a, const char *path, int64_t otherwise)
{
	int64_t n;

	return str_to_i64(line_of(root, a, path), &n) < 0 ? otherwise : n;
}

/* The number behind a key at the start of a line: "MemTotal:  65806424 kB". */
static bool number_after(const char *text, const char *key, unsigned long long *ret)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (str_starts(line, key))
			return sscanf(line + strlen(key), " %llu", ret) == 1;
	}
	return false;
}

static void cpu_add(struct disk *root, struct arena *a, uint32_t number, cpu_list *out)
{
	const char *dir = arena_printf(a, "sys/devices/system/cpu/cpu%u/topology", number);
	struct cpu c = {
		.number = number,
		/* Machines without sockets say -1. */
		.socket = number_of(root, a, arena_printf(a, "%s/physical_package_id", dir), 0),
		.core = number_of(root, a, arena_printf(a, "%s/core_id", dir), number),
	};

	c.socket = c.socket < 0 ? 0 : c.socket;
	vec_push(out, c);
}

/* "0-3,8": the kernel's list of CPUs that are on. */
static void cpus_read(struct disk *root, struct arena *a, cpu_list *out)
{
	const char *at = line_of(root, a, "sys/devices/system/cpu/online");

	while (*at) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;
		if (end == at)
			return;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long i = first; i <= last && i < CPUS_MAX; i++)
			cpu_add(root, a, (uint32_t)i, out);
		at = *end == ',' ? end + 1 : end;
	}
}

static int cpu_compare(const void *pa, const void *pb)
{
	const struct cpu *a = pa, *b = pb;

	if (a->socket != b->socket)
		return a->socket < b->socket ? -1 : 1;
	if (a->core != b->core)
		return a->core < b->core ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Counts along the sorted list. */
static void topology_count(const cpu_list *cpus, struct node_facts *ret)
{
	uint32_t sockets = 0, cores = 0, threads = 0, threads_max = 1;

	for (size_t i = 0; i < cpus->count; i++) {
		const struct cpu *c = &cpus->at[i], *before = i ? c - 1 : NULL;
		bool new_socket = !before || before->socket != c->socket;
		bool new_core = new_socket || before->core != c->core;
		sockets += new_socket;
		cores += new_core;
		threads = new_core ? 1 : threads + 1;
		threads_max = threads > threads_max ? threads : threads_max;
	}
	ret->cpus = (uint32_t)cpus->count;
	ret->sockets = sockets;
	ret->cores_per_socket = cores / sockets;
	ret->threads_per_core = threads_max;
}

/* Runs of neighbours are folded: 0,8,1,9 stays, 0-15 is short. */
static char *order_print(const cpu_list *cpus, struct arena *a)
{
	AUTO_BUF struct buf b = {};

	for (size_t i = 0, k; i < cpus->count; i = k) {
		for (k = i + 1;
		     k < cpus->count && cpus->at[k].number == cpus->at[k - 1].number + 1;)
			k++;
		buf_printf(&b, "%s%u", i ? "," : "", cpus->at[i].number);
		if (k > i + 1)
			buf_printf(&b, "-%u", cpus->at[k - 1].number);
	}
	return arena_strdup(a, buf_text(&b));
}

int inventory_read(struct disk *root, struct arena *a, struct node_facts *ret, char **ret_cpus,
		   struct error *err)
{
	AUTO_BUF struct buf mem = {}, stat = {};
	unsigned long long n = 0;
	cpu_list cpus = {};

	cpus_read(root, a, &cpus);
	if (!cpus.count)
		return error_set(
			err, -ENODEV,
			"cannot find the machine's CPUs in '%ssys/devices/system/cpu/online'",
			disk_root(root));
	qsort(cpus.at, cpus.count, sizeof(*cpus.at), cpu_compare);
	*ret = (struct node_facts) {
		.arch = ARCH,
		.os = arena_printf(a, "%s %s %s", line_of(root, a, "proc/sys/kernel/ostype"),
				   line_of(root, a, "proc/sys/kernel/osrelease"),
				   line_of(root, a, "proc/sys/kernel/version")),
		.boot_id = line_of(root, a, "proc/sys/kernel/random/boot_id"),
		.hostname = line_of(root, a, "proc/sys/kernel/hostname"),
	};
	topology_count(&cpus, ret);
	*ret_cpus = order_print(&cpus, a);
	vec_done(&cpus);
	if (disk_read(root, "proc/meminfo", &mem) == 0 &&
	    number_after(buf_text(&mem), "MemTotal:", &n))
		ret->real_memory_mib = n / 1024;
	if (disk_read(root, "proc/stat", &stat) == 0 && number_after(buf_text(&stat), "btime", &n))
		ret->boot_time = (usec_t)n * USEC_PER_SEC;
	return 0;
}

void inventory_print(struct disk *root, const char *name, const struct node_facts *f,
		     struct buf *out)
{
	AUTO_BUF struct buf up = {};
	unsigned long long sec = 0;

	buf_printf(out,
		   "NodeName=%s CPUs=%u Boards=1 SocketsPerBoard=%u CoresPerSocket=%u "
		   "ThreadsPerCore=%u RealMemory=%llu\n",
		   name, f->cpus, f->sockets, f->cores_per_socket, f->threads_per_core,
		   (unsigned long long)f->real_memory_mib);
	if (disk_read(root, "proc/uptime", &up) == 0)
		(void)!sscanf(buf_text(&up), "%llu", &sec);
	buf_printf(out, "UpTime=%llu-%02llu:%02llu:%02llu\n", sec / 86400, sec / 3600 % 24,
		   sec / 60 % 60, sec % 60);
}

void inventory_load(struct disk *root, double *ret_load, uint64_t *ret_free_mib)
{
	AUTO_BUF struct buf load = {}, mem = {};
	unsigned long long n;

	if (disk_read(root, "proc/loadavg", &load) == 0)
		(void)!sscanf(buf_text(&load), "%lf", ret_load);
	if (disk_read(root, "proc/meminfo", &mem) == 0 &&
	    number_after(buf_text(&mem), "MemFree:", &n))
		*ret_free_mib = n / 1024;
}

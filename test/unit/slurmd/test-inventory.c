/* SPDX-License-Identifier: Apache-2.0 */
/* Machines described by files, and the names of steps. */
#include "../cm.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "host/disk.h"
#include "sched/layout.h"
#include "schema/node.h"
#include "slurmd/impl.h"
#include "slurmd/inventory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct machine {
	const char *online;
	uint32_t sockets, cores, threads; /* how the files are laid out */
	bool threads_last; /* the kernel counts first threads first, as on most x86 */
	uint32_t want_sockets, want_cores, want_threads, want_cpus;
	const char *want_order;
};

static const struct machine machines[] = {
	{ "0-7", 2, 4, 1, false, 2, 4, 1, 8, "0-7" },
	{ "0-7", 2, 2, 2, true, 2, 2, 2, 8, "0,4,1,5,2,6,3,7" },
	{ "0-7", 2, 2, 2, false, 2, 2, 2, 8, "0-7" },
	{ "0", 1, 1, 1, false, 1, 1, 1, 1, "0" },
	{ "0-1,4-5", 2, 4, 1, false, 2, 2, 1, 4, "0-1,4-5" }, /* some are switched off */
};

static char dir[64];

static void put(struct disk *d, const char *path, const char *fmt, unsigned value)
{
	char text[64], full[256];
	AUTO_ARENA struct arena *a = arena_new();
	char *at = arena_strdup(a, path);

	for (char *slash = at; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = 0;
		assert_int_equal(disk_mkdir(d, at, 0755), 0);
	}
	snprintf(full, sizeof(full), "%s", path);
	switch (fmt[0]) {
	case '%':
		snprintf(text, sizeof(text), "%u\n", value);
		break;
	default:
		snprintf(text, sizeof(text), "%s\n", fmt);
		break;
	}
	assert_int_equal(disk_replace(d, full, text, strlen(text)), 0);
}

static struct disk *machine_build(const struct machine *m)
{
	struct disk *d;
	uint32_t cores = m->sockets * m->cores;

	snprintf(dir, sizeof(dir), "/tmp/muster-inventory-XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(disk_open(dir, 0755, &d, NULL), 0);
	put(d, "sys/devices/system/cpu/online", m->online, 0);
	for (uint32_t i = 0; i < cores * m->threads; i++) {
		uint32_t core = m->threads_last ? i % cores : i / m->threads;
		char path[128];
		snprintf(path, sizeof(path),
			 "sys/devices/system/cpu/cpu%u/topology/physical_package_id", i);
		put(d, path, "%", core / m->cores);
		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u/topology/core_id", i);
		put(d, path, "%", core % m->cores);
	}
	put(d, "proc/meminfo", "MemTotal:       65806424 kB\nMemFree:         1024000 kB", 0);
	put(d, "proc/sys/kernel/random/boot_id", "f0f1", 0);
	put(d, "proc/stat", "cpu 1 2 3\nbtime 1794715362", 0);
	put(d, "proc/uptime", "93784.27 1.0", 0);
	put(d, "proc/loadavg", "1.25 0.5 0.1 1/100 7", 0);
	return d;
}

static void machine_remove(struct disk *d)
{
	char command[128];

	disk_close(d);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	assert_int_equal(system(command), 0);
}

static void test_machines(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(machines); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf line = {};
		const struct machine *m = &machines[i];
		struct disk *d = machine_build(m);
		struct node_facts f;
		struct error err = {};
		char *cpus;

		assert_int_equal(inventory_read(d, a, &f, &cpus, &err), 0);
		assert_int_equal(f.sockets, m->want_sockets);
		assert_int_equal(f.cores_per_socket, m->want_cores);
		assert_int_equal(f.threads_per_core, m->want_threads);
		assert_int_equal(f.cpus, m->want_cpus);
		assert_string_equal(cpus, m->want_order);
		assert_int_equal(f.real_memory_mib, 64264);
		assert_string_equal(f.boot_id, "f0f1");
		assert_true(f.boot_time == 1794715362 * USEC_PER_SEC);
		inventory_print(d, "n1", &f, &line);
		assert_non_null(strstr(buf_text(&line), "NodeName=n1 CPUs="));
		assert_non_null(strstr(buf_text(&line), "\nUpTime=1-02:03:04\n"));
		machine_remove(d);
	}
}

static void test_load(void **state)
{
	(void)state;
	struct disk *d = machine_build(&machines[0]);
	double load = 0;
	uint64_t free_mib = 0;

	inventory_load(d, &load, &free_mib);
	assert_true(load == 1.25);
	assert_int_equal(free_mib, 1000);
	machine_remove(d);
}

static void test_no_machine(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	struct node_facts f;
	struct error err = {};
	struct disk *d;
	char *cpus;

	snprintf(dir, sizeof(dir), "/tmp/muster-inventory-XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(disk_open(dir, 0755, &d, NULL), 0);
	assert_true(inventory_read(d, a, &f, &cpus, &err) < 0);
	assert_non_null(strstr(err.text, "CPUs"));
	machine_remove(d);
}

static void test_names(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		bool good;
		uint32_t job, attempt, step;
	} cases[] = {
		{ "7.1.b", true, 7, 1, STEP_BATCH },
		{ "7.2.0", true, 7, 2, 0 },
		{ "4294967295.4294967295.4294967290", true, UINT32_MAX, UINT32_MAX,
		  UINT32_MAX - 5 },
		{ "7.1", false },
		{ "7.1.", false },
		{ "7.1.x", false },
		{ "07.1.0", false },
		{ "7.1.0.0", false },
		{ "-7.1.0", false },
		{ "auth", false },
		{ "", false },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint32_t job, attempt, step;
		char again[HELD_NAME_MAX];
		assert_int_equal(held_name_parse(cases[i].name, &job, &attempt, &step),
				 cases[i].good);
		if (!cases[i].good)
			continue;
		assert_int_equal(job, cases[i].job);
		assert_int_equal(attempt, cases[i].attempt);
		assert_int_equal(step, cases[i].step);
		held_name(job, attempt, step, again);
		assert_string_equal(again, cases[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_no_machine),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

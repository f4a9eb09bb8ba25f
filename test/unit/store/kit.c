/* SPDX-License-Identifier: Apache-2.0 */
#include "kit.h"

#include "base/arena.h"
#include "base/error.h"
#include "host/disk.h"
#include "host/loop.h"
#include "schema/events.h"

#include "../cm.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

uint64_t kit_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15u);
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

/* ---- events ------------------------------------------------------------------------------------- */

struct event *kit_event(uint64_t seed, uint64_t n, struct arena *a)
{
	uint64_t rnd = seed ^ n * 0xD6E8FEB86659FD93u;
	struct event *ev = ARENA_NEW(a, struct event);
	switch (kit_random(&rnd) % 4) {
	case 0:
		ev->kind = EVENT_JOB_PURGED;
		ev->job_purged.job_id = (uint32_t)n;
		break;
	case 1: {
		ev->kind = EVENT_BLOB_ADDED;
		size_t len = kit_random(&rnd) % 60;
		uint8_t *data = arena_alloc(a, len + 1);
		for (size_t i = 0; i < len; i++)
			data[i] = (uint8_t)kit_random(&rnd);
		ev->blob_added.id = n;
		ev->blob_added.data = (struct bytes) { data, len };
		break;
	}
	case 2:
		ev->kind = EVENT_JOB_SUBMITTED;
		ev->job_submitted.job.id = (uint32_t)n;
		ev->job_submitted.job.spec.name = arena_printf(a, "job-%llu",
							       (unsigned long long)n);
		ev->job_submitted.job.spec.work_dir = arena_strdup(a, "/home/ada/run");
		break;
	default:
		ev->kind = EVENT_NODE_CHANGED;
		ev->node_changed.node = (uint32_t)n;
		ev->node_changed.has_reason = true;
		ev->node_changed.reason = arena_strdup(a, "fan");
		break;
	}
	return ev;
}

bool kit_is_event(uint64_t seed, uint64_t n, const struct event *ev)
{
	AUTO_ARENA struct arena *a = arena_new();
	const struct event *want = kit_event(seed, n, a);
	return want->kind == ev->kind &&
	       record_equal(event_records[ev->kind], &want->counters, &ev->counters);
}

/* ---- the journal -------------------------------------------------------------------------------- */

void kit_init(struct kit *k, uint64_t seed)
{
	*k = (struct kit) { .seed = seed };
	/* Thousands of syncs: in memory where there is such a place, the code is the same. */
	snprintf(k->dir, sizeof(k->dir), "/dev/shm/muster-store-XXXXXX");
	if (!mkdtemp(k->dir)) {
		snprintf(k->dir, sizeof(k->dir), "/tmp/muster-store-XXXXXX");
		assert_non_null(mkdtemp(k->dir));
	}
	k->loop = loop_new();
	assert_int_equal(disk_open(k->dir, 0700, &k->disk, NULL), 0);
}

static void remove_file(void *arg, const char *name)
{
	kit_remove(arg, name);
}

void kit_done(struct kit *k)
{
	kit_close(k);
	kit_clear(k);
	disk_close(k->disk);
	loop_free(k->loop);
	rmdir(k->dir);
}

static void check_restored(void *arg, const struct event *ev)
{
	struct kit *k = arg;
	if (!kit_is_event(k->seed, ++k->restored, ev))
		k->mismatch = true;
}

static void on_commit(void *arg, uint64_t position, int status)
{
	struct kit *k = arg;
	assert_true(position >= k->committed);
	k->committed = position;
	k->status = status;
	if (k->stop_on_commit && (status < 0 || position == journal_position(k->journal)))
		loop_stop(k->loop);
}

int kit_open(struct kit *k, struct error *err)
{
	k->restored = 0;
	k->mismatch = false;
	int r = journal_open(k->disk, k->loop, check_restored, k, &k->journal, &k->stats, err);
	if (r == 0) {
		k->committed = journal_synced(k->journal);
		k->status = 0;
		journal_on_commit(k->journal, on_commit, k);
	}
	return r;
}

void kit_close(struct kit *k)
{
	journal_close(k->journal);
	k->journal = NULL;
}

void kit_append(struct kit *k, uint64_t count)
{
	AUTO_ARENA struct arena *a = arena_new();
	for (uint64_t i = 0; i < count; i++) {
		uint64_t n = journal_position(k->journal) + 1;
		assert_int_equal(journal_append(k->journal, kit_event(k->seed, n, a)), n);
	}
}

void kit_commit(struct kit *k)
{
	if (journal_synced(k->journal) == journal_position(k->journal))
		return;
	k->stop_on_commit = true;
	journal_commit(k->journal);
	loop_run(k->loop);
	k->stop_on_commit = false;
}

/* ---- files -------------------------------------------------------------------------------------- */

struct buf kit_read(const struct kit *k, const char *name)
{
	struct buf b = {};
	assert_int_equal(disk_read(k->disk, name, &b), 0);
	return b;
}

void kit_write(const struct kit *k, const char *name, const void *data, size_t len)
{
	AUTO_BUF struct buf path = {};
	buf_printf(&path, "%s/%s", k->dir, name);
	FILE *f = fopen(buf_text(&path), "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

void kit_remove(const struct kit *k, const char *name)
{
	assert_int_equal(disk_remove(k->disk, name), 0);
}

bool kit_has(const struct kit *k, const char *name)
{
	AUTO_BUF struct buf path = {};
	buf_printf(&path, "%s/%s", k->dir, name);
	struct stat st;
	return stat(buf_text(&path), &st) == 0;
}

void kit_clear(const struct kit *k)
{
	assert_int_equal(disk_list(k->disk, ".", remove_file, (void *)(uintptr_t)k), 0);
}

struct copy {
	const struct kit *from, *to;
};

static void copy_file(void *arg, const char *name)
{
	const struct copy *c = arg;
	AUTO_BUF struct buf data = kit_read(c->from, name);
	kit_write(c->to, name, data.data ? data.data : (const uint8_t *)"", data.len);
}

void kit_copy(const struct kit *from, const struct kit *to)
{
	struct copy c = { from, to };
	kit_clear(to);
	assert_int_equal(disk_list(from->disk, ".", copy_file, &c), 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The journal in good weather, the group commit, and a disk that says no. */
#include "base/arena.h"
#include "base/error.h"
#include "host/disk.h"
#include "host/loop.h"
#include "schema/events.h"
#include "store/journal.h"

#include "../cm.h"
#include "kit.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

static void test_empty_then_events_then_reopened(void **state)
{
	(void)state;
	struct kit k;
	kit_init(&k, 1);
	assert_int_equal(kit_open(&k, NULL), 0);
	assert_int_equal(journal_position(k.journal), 0);
	assert_int_equal(k.restored, 0);
	journal_commit(k.journal); /* nothing is new */
	uint64_t total = 0;
	for (uint64_t round = 0; round < 5; round++) {
		kit_append(&k, round * 7);
		kit_commit(&k);
		total += round * 7;
		assert_int_equal(journal_synced(k.journal), total);
		assert_int_equal(k.committed, total);
		uint64_t size = journal_size(k.journal);
		kit_close(&k);
		assert_int_equal(kit_open(&k, NULL), 0);
		assert_int_equal(k.restored, total);
		assert_int_equal(k.stats.events_restored, total);
		assert_int_equal(k.stats.bytes_cut, 0);
		assert_int_equal(journal_position(k.journal), total);
		assert_int_equal(journal_size(k.journal), size);
		assert_false(k.mismatch);
	}
	kit_done(&k);
}

static void test_uncommitted_is_not_on_disk(void **state)
{
	(void)state;
	struct kit k;
	kit_init(&k, 2);
	assert_int_equal(kit_open(&k, NULL), 0);
	kit_append(&k, 3);
	kit_commit(&k);
	kit_append(&k, 4);
	kit_close(&k);
	assert_int_equal(kit_open(&k, NULL), 0);
	assert_int_equal(k.restored, 3);
	kit_done(&k);
}

/* ---- group commit ------------------------------------------------------------------------------- */

struct group {
	struct kit *kit;
	uint64_t calls, positions[16];
};

static void group_done(void *arg, uint64_t position, int status)
{
	struct group *g = arg;
	assert_int_equal(status, 0);
	assert_int_equal(position, journal_synced(g->kit->journal));
	g->positions[g->calls++] = position;
	if (position == journal_position(g->kit->journal))
		loop_stop(g->kit->loop);
}

static void test_what_arrives_during_a_commit_shares_the_next(void **state)
{
	(void)state;
	struct kit k;
	kit_init(&k, 3);
	assert_int_equal(kit_open(&k, NULL), 0);
	struct group g = { .kit = &k };
	journal_on_commit(k.journal, group_done, &g);
	kit_append(&k, 1);
	journal_commit(k.journal); /* under way from here on */
	for (int i = 0; i < 100; i++) {
		kit_append(&k, 1);
		journal_commit(k.journal);
	}
	assert_int_equal(journal_synced(k.journal), 0);
	loop_run(k.loop);
	assert_int_equal(g.calls, 2);
	assert_int_equal(g.positions[0], 1);
	assert_int_equal(g.positions[1], 101);
	kit_done(&k);
}

/* ---- failure ------------------------------------------------------------------------------------ */

static void test_a_full_disk_stops_the_journal(void **state)
{
	(void)state;
	struct kit k;
	kit_init(&k, 4);
	assert_int_equal(kit_open(&k, NULL), 0);
	kit_append(&k, 10);
	kit_commit(&k);
	struct rlimit old, lim;
	getrlimit(RLIMIT_FSIZE, &old);
	lim = old;
	lim.rlim_cur = journal_size(k.journal) + 100;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &lim);
	kit_append(&k, 20);
	kit_commit(&k);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(k.status, -EFBIG);
	assert_int_equal(k.committed, 10);
	assert_int_equal(journal_synced(k.journal), 10);
	kit_append(&k, 1);
	journal_commit(k.journal); /* refused: nothing further reaches the disk */
	kit_close(&k);
	assert_int_equal(kit_open(&k, NULL), 0);
	assert_int_equal(k.restored, 10);
	assert_int_equal(k.stats.bytes_cut, 0);
	kit_done(&k);
}

static void test_one_process_at_a_time(void **state)
{
	(void)state;
	struct kit k;
	kit_init(&k, 5);
	assert_int_equal(kit_open(&k, NULL), 0);
	struct disk *other = NULL;
	assert_int_equal(disk_open(k.dir, 0700, &other, NULL), 0);
	struct error err = {};
	struct journal *j = NULL;
	assert_int_equal(journal_open(other, k.loop, NULL, NULL, &j, NULL, &err), -EWOULDBLOCK);
	assert_non_null(strstr(err.text, k.dir));
	disk_close(other);
	kit_done(&k);
}

/* ---- snapshots ---------------------------------------------------------------------------------- */

struct snap {
	struct kit *kit;
	uint64_t upto;
	int status, calls;
};

/* The state of these tests is the list of events itself. */
static void write_all(void *arg, struct snapshot_writer *w)
{
	struct snap *s = arg;
	AUTO_ARENA struct arena *a = arena_new();
	for (uint64_t n = 1; n <= s->upto; n++) {
		snapshot_emit(w, kit_event(s->kit->seed, n, a));
		arena_clear(a);
	}
}

static void snap_done(void *arg, int status)
{
	struct snap *s = arg;
	s->status = status;
	s->calls++;
	loop_stop(s->kit->loop);
}

static int snapshot(struct kit *k)
{
	struct snap s = { .kit = k, .upto = journal_position(k->journal) };
	journal_snapshot(k->journal, s.upto, write_all, snap_done, &s);
	loop_run(k->loop);
	assert_int_equal(s.calls, 1);
	return s.status;
}

static void test_snapshot_replaces_the_segments(void **state)
{
	(void)state;
	struct kit k;
	kit_init(&k, 6);
	assert_int_equal(kit_open(&k, NULL), 0);
	assert_int_equal(snapshot(&k), 0); /* of nothing */
	kit_append(&k, 20000);             /* several chunks */
	kit_commit(&k);
	assert_int_equal(snapshot(&k), 0);
	assert_int_equal(journal_size(k.journal), 0);
	assert_false(kit_has(&k, SEGMENT_1));
	assert_false(kit_has(&k, "snapshot-00000000000000000000"));
	assert_true(kit_has(&k, "snapshot-00000000000000020000"));
	assert_true(kit_has(&k, "journal-00000000000000020001"));
	assert_int_equal(snapshot(&k), 0); /* again, nothing new */
	kit_append(&k, 5);
	kit_commit(&k);
	kit_close(&k);
	assert_int_equal(kit_open(&k, NULL), 0);
	assert_int_equal(k.restored, 20005);
	assert_int_equal(k.stats.snapshot_position, 20000);
	assert_false(k.mismatch);
	assert_int_equal(journal_position(k.journal), 20005);
	kit_append(&k, 5);
	assert_int_equal(snapshot(&k),
			 0); /* its events are not committed yet: it commits them first */
	assert_int_equal(journal_synced(k.journal), 20010);
	kit_close(&k);
	assert_int_equal(kit_open(&k, NULL), 0);
	assert_int_equal(k.restored, 20010);
	assert_false(k.mismatch);
	kit_done(&k);
}

static void test_snapshot_while_commits_go_on(void **state)
{
	(void)state;
	struct kit k;
	kit_init(&k, 7);
	assert_int_equal(kit_open(&k, NULL), 0);
	kit_append(&k, 1000);
	journal_commit(k.journal);
	kit_append(&k, 1000);
	struct snap s = { .kit = &k, .upto = journal_position(k.journal) };
	journal_snapshot(k.journal, s.upto, write_all, snap_done, &s);
	kit_append(&k, 1000);
	journal_commit(k.journal);
	loop_run(k.loop);
	assert_int_equal(s.status, 0);
	kit_commit(&k);
	kit_close(&k);
	assert_int_equal(kit_open(&k, NULL), 0);
	assert_int_equal(k.restored, 3000);
	assert_int_equal(k.stats.snapshot_position, 2000);
	assert_false(k.mismatch);
	kit_done(&k);
}

static void test_failed_snapshot_leaves_the_journal_alone(void **state)
{
	(void)state;
	struct kit k;
	kit_init(&k, 8);
	assert_int_equal(kit_open(&k, NULL), 0);
	kit_append(&k, 500);
	kit_commit(&k);
	struct rlimit old, lim;
	getrlimit(RLIMIT_FSIZE, &old);
	lim = old;
	lim.rlim_cur = 1000;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &lim);
	assert_int_equal(snapshot(&k), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_false(kit_has(&k, "snapshot-00000000000000000500.tmp"));
	kit_append(&k, 5);
	kit_commit(&k);
	assert_int_equal(snapshot(&k), 0);
	kit_close(&k);
	assert_int_equal(kit_open(&k, NULL), 0);
	assert_int_equal(k.restored, 505);
	kit_done(&k);
}

static void write_none(void *arg, struct snapshot_writer *w)
{
	(void)arg;
	(void)w;
}

static void test_snapshot_of_events_that_fail_to_commit_is_not_placed(void **state)
{
	(void)state;
	struct kit k;
	kit_init(&k, 9);
	assert_int_equal(kit_open(&k, NULL), 0);
	kit_append(&k, 500);
	struct rlimit old, lim;
	getrlimit(RLIMIT_FSIZE, &old);
	lim = old;
	lim.rlim_cur = 1000; /* enough for the snapshot, not for the batch */
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &lim);
	struct snap s = { .kit = &k };
	journal_snapshot(k.journal, 500, write_none, snap_done, &s);
	loop_run(k.loop);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(s.status, -EFBIG);
	assert_int_equal(k.status, -EFBIG);
	assert_false(kit_has(&k, "snapshot-00000000000000000500"));
	kit_close(&k);
	assert_int_equal(kit_open(&k, NULL), 0);
	assert_int_equal(k.restored, 0);
	kit_done(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_then_events_then_reopened),
		cmocka_unit_test(test_uncommitted_is_not_on_disk),
		cmocka_unit_test(test_what_arrives_during_a_commit_shares_the_next),
		cmocka_unit_test(test_a_full_disk_stops_the_journal),
		cmocka_unit_test(test_one_process_at_a_time),
		cmocka_unit_test(test_snapshot_replaces_the_segments),
		cmocka_unit_test(test_snapshot_while_commits_go_on),
		cmocka_unit_test(test_failed_snapshot_leaves_the_journal_alone),
		cmocka_unit_test(test_snapshot_of_events_that_fail_to_commit_is_not_placed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

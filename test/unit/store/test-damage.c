/* SPDX-License-Identifier: Apache-2.0 */
/* The journal in bad weather: every byte flipped, every length cut, files missing, and crashes at
 * random moments.  The rule in all of them: what comes back is a prefix of what was appended, and
 * nothing that was on disk with something whole behind it is lost without an error. */
#include "base/arena.h"
#include "base/crc.h"
#include "base/error.h"
#include "host/disk.h"
#include "host/loop.h"
#include "schema/events.h"
#include "store/entry.h"
#include "store/journal.h"

#include "../cm.h"
#include "kit.h"

#include <errno.h>
#include <stdlib.h>

#define EVENTS 12

static void make_small(struct kit *k, uint64_t seed)
{
	kit_init(k, seed);
	assert_int_equal(kit_open(k, NULL), 0);
	for (int i = 0; i < EVENTS; i += 3) {
		kit_append(k, 3);
		kit_commit(k);
	}
	kit_close(k);
}

/* Where the last record begins. */
static size_t last_record(const struct buf *data)
{
	struct entry e;
	size_t at = 0;
	while (entry_get(data->data + at, data->len - at, &e) && at + e.size < data->len)
		at += e.size;
	return at;
}

static void test_every_byte_flipped(void **state)
{
	(void)state;
	struct kit k;
	make_small(&k, 11);
	AUTO_BUF struct buf good = kit_read(&k, SEGMENT_1);
	size_t last = last_record(&good);
	for (size_t i = 0; i < good.len; i++) {
		for (int bit = 0; bit < 8; bit += 7) { /* the lowest and the highest */
			AUTO_BUF struct buf bad = {};
			buf_put(&bad, good.data, good.len);
			bad.data[i] ^= (uint8_t)(1 << bit);
			kit_write(&k, SEGMENT_1, bad.data, bad.len);
			struct error err = {};
			int r = kit_open(&k, &err);
			if (i < last) {
				assert_int_equal(r, -EBADMSG);
				assert_non_null(strstr(err.text, SEGMENT_1));
				assert_non_null(strstr(err.text, "byte "));
				assert_non_null(strstr(err.text, "position "));
			} else {
				assert_int_equal(r, 0);
				assert_int_equal(k.restored, EVENTS - 1);
				assert_int_equal(k.stats.bytes_cut, good.len - last);
			}
			assert_false(k.mismatch);
			kit_close(&k);
		}
	}
	kit_done(&k);
}

static void test_cut_at_every_byte_then_goes_on(void **state)
{
	(void)state;
	struct kit k;
	make_small(&k, 12);
	AUTO_BUF struct buf good = kit_read(&k, SEGMENT_1);
	uint64_t whole = 0,
		 end = 0; /* records that fit into the first `len` bytes, and their end */
	struct entry e;
	for (size_t len = 0; len <= good.len; len++) {
		while (entry_get(good.data + end, len - end, &e)) {
			whole++;
			end += e.size;
		}
		kit_write(&k, SEGMENT_1, good.data, len);
		assert_int_equal(kit_open(&k, NULL), 0);
		assert_int_equal(k.restored, whole);
		assert_int_equal(k.stats.bytes_cut, len - end);
		assert_false(k.mismatch);
		kit_append(&k, 2); /* what was cut must not come back behind these */
		kit_commit(&k);
		kit_close(&k);
		assert_int_equal(kit_open(&k, NULL), 0);
		assert_int_equal(k.restored, whole + 2);
		assert_int_equal(k.stats.bytes_cut, 0);
		assert_false(k.mismatch);
		kit_close(&k);
	}
	kit_done(&k);
}

/* ---- a table of damages ------------------------------------------------------------------------- */

static void put_raw(struct buf *b, uint64_t position, uint32_t kind, const char *body)
{
	AUTO_BUF struct buf rest = {};
	for (int i = 0; i < 8; i++)
		buf_putc(&rest, (char)(position >> (8 * i)));
	buf_putc(&rest, (char)kind);
	buf_putc(&rest, (char)(kind >> 8));
	buf_puts(&rest, body);
	uint32_t head[2] = { (uint32_t)rest.len, crc32c(0, rest.data, rest.len) };
	buf_put(b, head, sizeof(head));
	buf_put(b, rest.data, rest.len);
}

struct damage {
	const char *what;
	void (*change)(struct kit *k, struct buf *segment);
	int code;
	const char *says;  /* in the error */
	uint64_t restored; /* when it opens */
	uint64_t cut;
};

static void unknown_event(struct kit *k, struct buf *b)
{
	(void)k;
	put_raw(b, EVENTS + 1, 9, "");
}

static void huge_event_number(struct kit *k, struct buf *b)
{
	(void)k;
	put_raw(b, EVENTS + 1, 65535, "");
}

static void end_in_a_segment(struct kit *k, struct buf *b)
{
	(void)k;
	put_raw(b, EVENTS + 1, 0, "");
}

static void malformed_event(struct kit *k, struct buf *b)
{
	(void)k;
	put_raw(b, EVENTS + 1, EVENT_JOB_PURGED, "\x08"); /* a field without its value */
}

static void position_gap(struct kit *k, struct buf *b)
{
	(void)k;
	put_raw(b, EVENTS + 2, EVENT_JOB_PURGED, "");
}

static void position_again(struct kit *k, struct buf *b)
{
	(void)k;
	put_raw(b, EVENTS, EVENT_JOB_PURGED, "");
}

static void zeros_behind(struct kit *k, struct buf *b)
{
	(void)k;
	static const char zeros[4096];
	buf_put(b, zeros, sizeof(zeros));
}

static void hole_before_a_record(struct kit *k, struct buf *b)
{
	(void)k;
	static const char zeros[512];
	buf_put(b, zeros, sizeof(zeros));
	put_raw(b, EVENTS + 2, EVENT_JOB_PURGED, "");
}

static void first_segment_missing(struct kit *k, struct buf *b)
{
	kit_write(k, "journal-00000000000000000013", "", 0);
	kit_remove(k, SEGMENT_1);
	(void)b;
}

static void middle_segment_missing(struct kit *k, struct buf *b)
{
	(void)b;
	kit_write(k, "journal-00000000000000000020", "", 0);
}

static void torn_before_another_segment(struct kit *k, struct buf *b)
{
	kit_write(k, "journal-00000000000000000013", "", 0);
	buf_puts(b, "torn");
}

static void empty_next_segment(struct kit *k, struct buf *b)
{
	(void)b;
	kit_write(k, "journal-00000000000000000013", "", 0);
}

static void half_a_snapshot(struct kit *k, struct buf *b)
{
	kit_write(k, "snapshot-00000000000000000003.tmp", b->data, 50);
}

static void snapshot_without_end(struct kit *k, struct buf *b)
{
	struct entry e;
	assert_true(entry_get(b->data, b->len, &e));
	kit_write(k, "snapshot-00000000000000000003", b->data, e.size);
}

static void snapshot_of_another_name(struct kit *k, struct buf *b)
{
	(void)b;
	AUTO_BUF struct buf s = {};
	entry_put_end(&s, 1, 4);
	kit_write(k, "snapshot-00000000000000000003", s.data, s.len);
}

static void something_behind_the_snapshot(struct kit *k, struct buf *b)
{
	(void)b;
	AUTO_BUF struct buf s = {};
	entry_put_end(&s, 1, 3);
	buf_puts(&s, "x");
	kit_write(k, "snapshot-00000000000000000003", s.data, s.len);
}

static void snapshot_beyond_the_journal(struct kit *k, struct buf *b)
{
	(void)b;
	AUTO_BUF struct buf s = {};
	entry_put_end(&s, 1, EVENTS + 1);
	kit_write(k, "snapshot-00000000000000000013", s.data, s.len);
}

static void snapshot_alone(struct kit *k, struct buf *b)
{
	(void)b;
	AUTO_BUF struct buf s = {};
	entry_put_end(&s, 1, 3);
	kit_write(k, "snapshot-00000000000000000003", s.data, s.len);
	kit_remove(k, SEGMENT_1);
}

static void other_files(struct kit *k, struct buf *b)
{
	(void)b;
	kit_write(k, "journal-old", "x", 1);
	kit_write(k, "journal-1", "x", 1);
	kit_write(k, "slurmctld.pid", "x", 1);
}

static const struct damage damages[] = {
	{ "unknown event", unknown_event, -EPROTONOSUPPORT, "event number 9", 0, 0 },
	{ "huge event number", huge_event_number, -EPROTONOSUPPORT, "65535", 0, 0 },
	{ "end mark in a segment", end_in_a_segment, -EPROTONOSUPPORT, "event number 0", 0, 0 },
	{ "malformed event", malformed_event, -EBADMSG, "position 13", 0, 0 },
	{ "gap", position_gap, -EBADMSG, "position 13", 0, 0 },
	{ "position twice", position_again, -EBADMSG, "position 13", 0, 0 },
	{ "zeros behind", zeros_behind, 0, NULL, EVENTS, 4096 },
	{ "hole before a record", hole_before_a_record, -EBADMSG, "truncate -s", 0, 0 },
	{ "first segment missing", first_segment_missing, -EBADMSG, "missing", 0, 0 },
	{ "middle segment missing", middle_segment_missing, -EBADMSG, "missing", 0, 0 },
	{ "torn before another segment", torn_before_another_segment, -EBADMSG, "later segments", 0,
	  0 },
	{ "empty next segment", empty_next_segment, 0, NULL, EVENTS, 0 },
	{ "half a snapshot", half_a_snapshot, 0, NULL, EVENTS, 0 },
	{ "snapshot without end", snapshot_without_end, -EBADMSG, "stops short", 0, 0 },
	{ "snapshot of another name", snapshot_of_another_name, -EBADMSG, "another name", 0, 0 },
	{ "something behind it", something_behind_the_snapshot, -EBADMSG, "follows the end", 0, 0 },
	{ "snapshot beyond the journal", snapshot_beyond_the_journal, -EBADMSG,
	  "before its snapshot", 0, 0 },
	{ "snapshot alone", snapshot_alone, -EBADMSG, "no journal", 0, 0 },
	{ "other files", other_files, 0, NULL, EVENTS, 0 },
};

static void test_table_of_damages(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(damages); i++) {
		const struct damage *d = &damages[i];
		struct kit k;
		make_small(&k, 13);
		AUTO_BUF struct buf b = kit_read(&k, SEGMENT_1);
		size_t before = b.len;
		d->change(&k, &b);
		if (b.len != before)
			kit_write(&k, SEGMENT_1, b.data, b.len);
		struct error err = {};
		int r = kit_open(&k, &err);
		if (r != d->code || (d->says && !strstr(err.text, d->says)))
			fail_msg("%s: %d '%s'", d->what, r, err.text);
		if (r == 0) {
			assert_int_equal(k.restored, d->restored);
			assert_int_equal(k.stats.bytes_cut, d->cut);
			assert_false(k.mismatch);
		} else {
			assert_non_null(strstr(err.text, k.dir));
		}
		kit_done(&k);
	}
}

/* ---- snapshots ---------------------------------------------------------------------------------- */

struct snap {
	struct kit *kit;
	uint64_t upto;
	bool over;
	int status;
};

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
	s->over = true;
	s->status = status;
	loop_stop(s->kit->loop);
}

static void test_every_byte_of_a_snapshot_flipped_or_cut(void **state)
{
	(void)state;
	struct kit k;
	make_small(&k, 14);
	assert_int_equal(kit_open(&k, NULL), 0);
	struct snap s = { .kit = &k, .upto = EVENTS };
	journal_snapshot(k.journal, EVENTS, write_all, snap_done, &s);
	loop_run(k.loop);
	kit_close(&k);
	static const char name[] = "snapshot-00000000000000000012";
	AUTO_BUF struct buf good = kit_read(&k, name);
	for (size_t i = 0; i < good.len; i++) {
		struct error err = {};
		good.data[i] ^= 1;
		kit_write(&k, name, good.data, good.len);
		good.data[i] ^= 1;
		assert_int_equal(kit_open(&k, &err), -EBADMSG);
		assert_non_null(strstr(err.text, name));
		kit_write(&k, name, good.data, i);
		assert_int_equal(kit_open(&k, &err), -EBADMSG);
		assert_false(k.mismatch);
	}
	kit_write(&k, name, good.data, good.len);
	assert_int_equal(kit_open(&k, NULL), 0);
	assert_int_equal(k.restored, EVENTS);
	kit_done(&k);
}

/* What a crash between two removals leaves: older snapshots and segments that are not needed. */
static void test_leftovers_of_a_snapshot_are_removed(void **state)
{
	(void)state;
	struct kit k, before;
	make_small(&k, 15);
	kit_init(&before, 15);
	kit_copy(&k, &before);
	assert_int_equal(kit_open(&k, NULL), 0);
	struct snap s = { .kit = &k, .upto = EVENTS };
	journal_snapshot(k.journal, EVENTS, write_all, snap_done, &s);
	loop_run(k.loop);
	kit_close(&k);
	AUTO_BUF struct buf old = kit_read(&before, SEGMENT_1);
	kit_write(&k, SEGMENT_1, old.data, old.len);
	AUTO_BUF struct buf end = {};
	entry_put_end(&end, 1, 2);
	kit_write(&k, "snapshot-00000000000000000002", end.data, end.len);
	kit_write(&k, "snapshot-00000000000000000099.tmp", "x", 1);
	assert_int_equal(kit_open(&k, NULL), 0);
	assert_int_equal(k.restored, EVENTS);
	assert_false(k.mismatch);
	assert_false(kit_has(&k, SEGMENT_1));
	assert_false(kit_has(&k, "snapshot-00000000000000000002"));
	assert_false(kit_has(&k, "snapshot-00000000000000000099.tmp"));
	kit_append(&k, 1);
	kit_commit(&k);
	kit_done(&k);
	kit_done(&before);
}

/* ---- crashes ------------------------------------------------------------------------------------ */

/* What the disk has after a crash: everything up to the last sync, and of what was written behind it
 * a random part, whose last bytes may be wrong. */
static void crash(const struct kit *now, const struct kit *synced, const struct kit *after,
		  const char *segment, uint64_t *rnd)
{
	kit_copy(now, after);
	AUTO_BUF struct buf have = kit_read(now, segment);
	AUTO_BUF struct buf safe = {};
	if (kit_has(synced, segment))
		safe = kit_read(synced, segment);
	assert_true(have.len >= safe.len);
	size_t loose = have.len - safe.len;
	size_t len = safe.len + (loose > 0 ? kit_random(rnd) % (loose + 1) : 0);
	if (len > safe.len && kit_random(rnd) % 2)
		have.data[len - 1] ^= 0x40;
	kit_write(after, segment, have.data ? have.data : (const uint8_t *)"", len);
}

struct last_name {
	char name[64];
};

static void note_segment(void *arg, const char *name)
{
	struct last_name *l = arg;
	if (strncmp(name, "journal-", 8) == 0)
		snprintf(l->name, sizeof(l->name), "%s", name);
}

static void one_life(uint64_t seed)
{
	struct kit live, safe, after;
	uint64_t rnd = seed;
	kit_init(&live, seed);
	kit_init(&safe, seed);
	kit_init(&after, seed);
	for (int lives = 0; lives < 3; lives++) {
		assert_int_equal(kit_open(&live, NULL), 0);
		assert_false(live.mismatch);
		for (uint64_t turns = kit_random(&rnd) % 6; turns > 0; turns--) {
			kit_append(&live, kit_random(&rnd) % 20);
			kit_commit(&live);
			if (kit_random(&rnd) % 4 == 0) {
				struct snap s = { .kit = &live,
						  .upto = journal_position(live.journal) };
				journal_snapshot(live.journal, s.upto, write_all, snap_done, &s);
				loop_run(live.loop);
				assert_int_equal(s.status, 0);
			}
		}
		uint64_t synced = journal_synced(live.journal);
		kit_copy(&live, &safe);
		kit_append(&live, kit_random(&rnd) % 20);
		uint64_t appended = journal_position(live.journal);
		kit_commit(&live); /* pretend that the crash comes in the middle of this one */
		kit_close(&live);
		struct last_name last = {};
		assert_int_equal(disk_list(live.disk, ".", note_segment, &last), 0);
		crash(&live, &safe, &after, last.name, &rnd);

		struct error err = {};
		if (kit_open(&after, &err) < 0)
			fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
		assert_false(after.mismatch);
		assert_true(after.restored >= synced && after.restored <= appended);
		assert_int_equal(after.restored, journal_position(after.journal));
		kit_close(&after);
		kit_copy(&after, &live); /* and life goes on from there */
	}
	kit_done(&live);
	kit_done(&safe);
	kit_done(&after);
}

static void test_crashes_keep_what_was_synced(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++)
		one_life(seed);
}

static void take_snapshot(struct kit *k)
{
	struct snap s = { .kit = k, .upto = journal_position(k->journal) };
	journal_snapshot(k->journal, s.upto, write_all, snap_done, &s);
	loop_run(k->loop);
	assert_int_equal(s.status, 0);
}

static void opens_with(struct kit *k, uint64_t events)
{
	struct error err = {};
	if (kit_open(k, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(k->restored, events);
	assert_false(k->mismatch);
	kit_close(k);
}

/* The steps of a snapshot in the order in which they reach the disk; each is a place to die. */
static void test_crash_at_every_step_of_a_snapshot(void **state)
{
	(void)state;
	static const char seg_old[] = "journal-00000000000000000031",
			  seg_new[] = "journal-00000000000000000061",
			  snap_old[] = "snapshot-00000000000000000030",
			  snap_new[] = "snapshot-00000000000000000060",
			  snap_tmp[] = "snapshot-00000000000000000060.tmp";
	struct kit k, before, at;
	kit_init(&k, 77);
	kit_init(&before, 77);
	kit_init(&at, 77);
	assert_int_equal(kit_open(&k, NULL), 0);
	kit_append(&k, 30);
	kit_commit(&k);
	take_snapshot(&k);
	kit_append(&k, 30);
	kit_commit(&k);
	kit_copy(&k, &before);
	take_snapshot(&k);
	kit_close(&k);
	assert_true(kit_has(&k, seg_new) && kit_has(&k, snap_new));
	assert_false(kit_has(&k, seg_old) || kit_has(&k, snap_old));
	assert_true(kit_has(&before, seg_old) && kit_has(&before, snap_old));
	AUTO_BUF struct buf whole = kit_read(&k, snap_new);

	for (size_t len = 0; len <= whole.len; len++) { /* the file beside grows */
		kit_copy(&before, &at);
		kit_write(&at, seg_new, "", 0);
		kit_write(&at, snap_tmp, whole.data, len);
		opens_with(&at, 60);
		assert_false(kit_has(&at, snap_tmp));
	}
	for (int step = 0; step < 3;
	     step++) { /* renamed; the old snapshot goes; the old segment goes */
		kit_copy(&before, &at);
		kit_write(&at, seg_new, "", 0);
		kit_write(&at, snap_new, whole.data, whole.len);
		if (step > 0)
			kit_remove(&at, snap_old);
		if (step > 1)
			kit_remove(&at, seg_old);
		opens_with(&at, 60);
		assert_false(kit_has(&at, seg_old) || kit_has(&at, snap_old));
	}
	kit_done(&k);
	kit_done(&before);
	kit_done(&at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte_flipped),
		cmocka_unit_test(test_cut_at_every_byte_then_goes_on),
		cmocka_unit_test(test_table_of_damages),
		cmocka_unit_test(test_every_byte_of_a_snapshot_flipped_or_cut),
		cmocka_unit_test(test_leftovers_of_a_snapshot_are_removed),
		cmocka_unit_test(test_crashes_keep_what_was_synced),
		cmocka_unit_test(test_crash_at_every_step_of_a_snapshot),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* decode(encode(x)) = x for every record, filled at random; malformed bytes are refused. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "schema/errors.h"
#include "schema/events.h"
#include "schema/messages.h"

#include "../cm.h"
#include "../fill.h"

#include <errno.h>

static void round_trip(const struct record *r, uint64_t seed)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf bytes = {};
	void *original = arena_alloc(a, r->size), *read = arena_alloc(a, r->size);
	void *copied = mem_alloc(r->size), *heap = mem_alloc(r->size);
	fill_record(r, original, a, &seed);
	record_encode(r, original, &bytes);

	struct error err = {};
	if (record_decode(r, read, bytes.data, bytes.len, a, &err) < 0)
		fail_msg("%s: %s", r->name, err.text);
	assert_true(record_equal(r, original, read));
	assert_int_equal(record_decode(r, heap, bytes.data, bytes.len, NULL, NULL), 0);
	assert_true(record_equal(r, original, heap));
	record_copy(r, copied, heap, NULL);
	assert_true(record_equal(r, original, copied));

	for (size_t cut = 0; cut < bytes.len; cut += 1 + bytes.len / 50) { /* never crashes */
		void *part = mem_alloc(r->size);
		(void)!record_decode(r, part, bytes.data, cut, NULL, NULL);
		record_done(r, part);
		free(part);
	}
	for (int n = 0; n < 20 && bytes.len; n++) {
		bytes.data[fill_draw(&seed) % bytes.len] ^= (uint8_t)(1u << (fill_draw(&seed) % 8));
		void *bent = mem_alloc(r->size);
		(void)!record_decode(r, bent, bytes.data, bytes.len, NULL, NULL);
		record_done(r, bent);
		free(bent);
	}
	record_done(r, heap);
	record_done(r, copied);
	free(heap);
	free(copied);
}

static void every_record_round_trips(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		for (int i = 0; i < EVENT_KIND_COUNT; i++)
			if (event_records[i])
				round_trip(event_records[i], seed * 7919);
		for (int i = 0; i < MSG_COUNT; i++) {
			if (message_descs[i].request)
				round_trip(message_descs[i].request, seed * 104729);
			if (message_descs[i].reply)
				round_trip(message_descs[i].reply, seed * 1299709);
		}
	}
}

static void unknown_tags_are_skipped(void **state)
{
	(void)state;
	const uint8_t bytes[] = { 0xf8, 0x3e, 7, 0xfa, 0x3e, 2, 'h', 'i', 0x08, 42 };
	struct job_requeued ev = {};
	assert_int_equal(record_decode(&job_requeued_record, &ev, bytes, sizeof(bytes), NULL, NULL), 0);
	assert_int_equal(ev.job_id, 42);
}

static void limits_are_kept(void **state)
{
	(void)state;
	AUTO_BUF struct buf out = {};
	char *name = mem_alloc(400);
	memset(name, 'x', 300);
	struct partition_removed ev = { .name = name };
	record_encode(&partition_removed_record, &ev, &out);
	struct partition_removed back = {};
	struct error err = {};
	assert_int_equal(record_decode(&partition_removed_record, &back, out.data, out.len, NULL, &err),
			 -EMSGSIZE);
	assert_string_equal(err.text, "name of partition_removed is longer than 256 bytes");
	free(name);
}

/* Five bytes that ask for 128 KiB each, as often as they fit. */
static void sets_of_bits_are_bounded(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf out = {};
	const uint8_t set[] = { 2 << 3 | 2, 3, 0x80, 0x80, 0x40 };
	for (int i = 0; i < 2000; i++)
		buf_put(&out, set, sizeof(set));
	struct partition_configured ev = {};
	struct error err = {};
	assert_true(record_decode(&partition_configured_record, &ev, out.data, out.len, a, &err) < 0);
	assert_true(arena_used(a) < 8u << 20);
}

static void masks_choose_fields(void **state)
{
	(void)state;
	AUTO_BUF struct buf out = {};
	struct job_node_clean ev = { .job_id = 7, .attempt = 2, .node = 3 };
	struct field_mask mask = {};
	field_mask_add(&mask, record_field(&job_node_clean_record, "node")->tag);
	record_encode_some(&job_node_clean_record, &ev, &mask, &out);
	struct job_node_clean back = {};
	assert_int_equal(record_decode(&job_node_clean_record, &back, out.data, out.len, NULL, NULL), 0);
	assert_int_equal(back.job_id, 0);
	assert_int_equal(back.node, 3);
}

static void masks_reach_into_one_nested_record(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf out = {};
	struct job job = { .id = 7, .uid = 3, .spec = { .name = arena_strdup(a, "x"), .comment = arena_strdup(a, "y") } };
	struct field_mask spec = {}, mask = { .sub_tag = record_field(&job_record, "spec")->tag, .sub = &spec };
	field_mask_add(&mask, mask.sub_tag);
	field_mask_add(&mask, record_field(&job_record, "id")->tag);
	field_mask_add(&spec, record_field(&job_spec_record, "name")->tag);
	record_encode_some(&job_record, &job, &mask, &out);
	struct job back = {};
	assert_int_equal(record_decode(&job_record, &back, out.data, out.len, a, NULL), 0);
	assert_int_equal(back.id, 7);
	assert_int_equal(back.uid, 0);
	assert_string_equal(back.spec.name, "x");
	assert_null(back.spec.comment);
}

/* Lists that are long in bytes are counted before they are read; other fields stand between. */
static void long_lists_arrive_whole(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf out = {};
	struct job_list list = { .n_jobs = 3000, .jobs = ARENA_ARRAY(a, struct job, 3000), .time = 9 };
	for (uint32_t i = 0; i < list.n_jobs; i++)
		list.jobs[i] = (struct job){ .id = i + 1, .user = arena_printf(a, "somebody called user%u", i) };
	record_encode(&job_list_record, &list, &out);
	record_encode(&job_list_record, &list, &out); /* a second half: lists are joined */
	struct job_list arena = {}, heap = {};
	assert_int_equal(record_decode(&job_list_record, &arena, out.data, out.len, a, NULL), 0);
	assert_int_equal(record_decode(&job_list_record, &heap, out.data, out.len, NULL, NULL), 0);
	assert_int_equal(arena.n_jobs, 6000);
	assert_int_equal(arena.jobs[5999].id, 3000);
	assert_true(record_equal(&job_list_record, &arena, &heap));
	record_done(&job_list_record, &heap);
	for (size_t cut = 0; cut < out.len; cut += out.len / 40) {
		struct job_list part = {};
		(void)!record_decode(&job_list_record, &part, out.data, cut, NULL, NULL);
		record_done(&job_list_record, &part);
	}
}

static void enums_and_attributes(void **state)
{
	(void)state;
	int v;
	assert_true(enum_parse(&job_state_enum, "oom", &v));
	assert_int_equal(v, JOB_STATE_OUT_OF_MEMORY);
	assert_string_equal(enum_text(&error_code_enum, E_INVALID_JOB_ID), "Invalid job id specified");
	char value[16];
	assert_true(field_attr(record_field_by_key(&partition_conf_record, "gracetime"), "use", value, sizeof(value)));
	assert_string_equal(value, "no");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_record_round_trips), cmocka_unit_test(unknown_tags_are_skipped),
		cmocka_unit_test(limits_are_kept),          cmocka_unit_test(masks_choose_fields),
		cmocka_unit_test(enums_and_attributes),     cmocka_unit_test(sets_of_bits_are_bounded),
		cmocka_unit_test(masks_reach_into_one_nested_record), cmocka_unit_test(long_lists_arrive_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Hostlists: what they expand and fold to, what is refused, and the laws that tie both together. */
#include "text/hostlist.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"

#include "../cm.h"
#include "../draw.h"

#include <errno.h>
#include <time.h>

static void join(const struct hostlist *h, struct buf *out)
{
	for (uint32_t i = 0; i < h->count; i++)
		buf_printf(out, i ? " %s" : "%s", h->names[i]);
}

static void expands(void **state)
{
	(void)state;
	static const struct {
		const char *text, *names;
	} rows[] = {
		{ "", "" },
		{ "n1", "n1" },
		{ "n[1-3,7]", "n1 n2 n3 n7" },
		{ "node[1-3,7],x[01-02]y", "node1 node2 node3 node7 x01y x02y" },
		{ "n[9-11]", "n9 n10 n11" },
		{ "n[09-11]", "n09 n10 n11" },
		{ "n[98-101]", "n98 n99 n100 n101" },
		{ "n[010-12]", "n010 n011 n012" },
		{ "n[1,01,001]", "n1 n01 n001" },
		{ "rack[1-2]n[01-02]", "rack1n01 rack1n02 rack2n01 rack2n02" },
		{ "a[0-1]b[0-1]c[0-1]d",
		  "a0b0c0d a0b0c1d a0b1c0d a0b1c1d a1b0c0d a1b0c1d a1b1c0d a1b1c1d" },
		{ "[1-2]", "1 2" },
		{ "[1-2][3-4]", "13 14 23 24" },
		{ "b,a,b", "b a b" },
		{ " a, b\tc\n,,d,", "a b c d" },
		{ "/dev/nvidia[0-1]", "/dev/nvidia0 /dev/nvidia1" },
		{ "n[999999999999999999]", "n999999999999999999" },
		{ "login.example.org", "login.example.org" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf out = {};
		struct hostlist h;
		struct error err = {};
		if (hostlist_expand(rows[i].text, a, &h, &err) < 0)
			fail_msg("%s: %s", rows[i].text, err.text);
		join(&h, &out);
		assert_string_equal(buf_text(&out), rows[i].names);
	}
}

static void refuses(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int code;
		const char *message;
	} rows[] = {
		{ "node[3-1]", -EINVAL,
		  "node list 'node[3-1]': range '3-1' counts down, write '1-3'" },
		{ "n[1-3", -EINVAL, "node list 'n[1-3': ']' is missing after '[1-3'" },
		{ "n[1-[3]]", -EINVAL, "node list 'n[1-[3]]': ']' is missing after '[1-[3]]'" },
		{ "n1]", -EINVAL, "node list 'n1]': '[' is missing before ']'" },
		{ "n[]", -EINVAL,
		  "node list 'n[]': write numbers and ranges as [1-3,7] instead of ''" },
		{ "n[1,]", -EINVAL,
		  "node list 'n[1,]': write numbers and ranges as [1-3,7] instead of ''" },
		{ "n[a-b]", -EINVAL,
		  "node list 'n[a-b]': write numbers and ranges as [1-3,7] instead of 'a-b'" },
		{ "n[1-]", -EINVAL,
		  "node list 'n[1-]': write numbers and ranges as [1-3,7] instead of '1-'" },
		{ "n[1-2-3]", -EINVAL,
		  "node list 'n[1-2-3]': write numbers and ranges as [1-3,7] instead of '1-2-3'" },
		{ "n[1-4000000000]", -E2BIG,
		  "node list 'n[1-4000000000]': range '1-4000000000' has more than 1048576 names" },
		{ "n[1-2000]x[1-2000]", -E2BIG,
		  "node list 'n[1-2000]x[1-2000]': 'n[1-2000]x[1-2000]' makes more than 1048576 names" },
		{ "a,n[1-1048576]", -E2BIG,
		  "node list 'a,n[1-1048576]': 'n[1-1048576]' makes more than 1048576 names" },
		{ "n[1234567890123456789]", -EINVAL,
		  "node list 'n[1234567890123456789]': at most 18 digits fit a number, unlike "
		  "'1234567890123456789'" },
		{ "torus{pod1}", -EINVAL,
		  "node list 'torus{pod1}': names of blocks and switches are not known here: 'torus{pod1}'" },
		{ "n\001", -EINVAL,
		  "node list 'n\001': a name has no control characters, unlike 'n'" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct hostlist h = { NULL, 77 };
		struct error err = {};
		assert_int_equal(hostlist_expand(rows[i].text, a, &h, &err), rows[i].code);
		assert_string_equal(err.text, rows[i].message);
		assert_int_equal(h.count, 77); /* untouched on failure */
	}
}

static void long_names_are_refused(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	char text[600];
	struct hostlist h;
	memset(text, 'n', sizeof(text));
	memcpy(text + 254, "[9-9]", 6);
	assert_int_equal(hostlist_expand(text, a, &h, NULL), 0);
	assert_int_equal(strlen(h.names[0]), 255);
	memcpy(text + 254, "[9-10]", 7);
	assert_int_equal(hostlist_expand(text, a, &h, NULL), -EINVAL);
	memset(text, 'n', sizeof(text));
	text[256] = '\0';
	assert_int_equal(hostlist_expand(text, a, &h, NULL), -EINVAL);
	for (size_t i = 0; i < 40; i++)
		memcpy(text + 4 * i, "[1]x", 5);
	assert_int_equal(hostlist_expand(text, a, &h, NULL), -EINVAL);
}

static void compresses(void **state)
{
	(void)state;
	static const struct {
		const char *names, *text;
	} rows[] = {
		{ "", "" },
		{ "n1", "n1" },
		{ "n1 n2 n3 n7", "n[1-3,7]" },
		{ "x01y x02y", "x[01-02]y" },
		{ "a1 a9 a10 b2", "a[1,9-10],b2" },
		{ "n9 n10 n11", "n[9-11]" },
		{ "n09 n10", "n[09-10]" },
		{ "n9 n010", "n[9,010]" },
		{ "n1 n1", "n[1,1]" },
		{ "n3 n2 n1", "n[3,2,1]" },
		{ "login login", "login,login" },
		{ "login n1 n2 gpu", "login,n[1-2],gpu" },
		{ "rack1n01 rack1n02 rack2n01 rack2n02", "rack1n[01-02],rack2n[01-02]" },
		{ "rack1n1 rack2n1 rack2n2",
		  "rack1n1,rack2n[1-2]" }, /* Slurm folds the last number only */
		{ "n1.site2.org n2.site2.org n2.site3.org", "n[1-2].site2.org,n2.site3.org" },
		{ "n1 nx2", "n1,nx2" },
		{ "n1 n", "n1,n" },
		{ "n n1", "n,n1" },
		{ "1 2 3", "[1-3]" },
		{ "n1234567890123456789 n1234567890123456790",
		  "n1234567890123456789,n1234567890123456790" },
		{ "n999999999999999999 n1000000000000000000",
		  "n999999999999999999,n1000000000000000000" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf out = {};
		struct hostlist h;
		assert_int_equal(hostlist_expand(rows[i].names, a, &h, NULL), 0);
		hostlist_compress(h.names, h.count, &out);
		assert_string_equal(buf_text(&out), rows[i].text);
	}
}

static char *draw_name(struct arena *a, uint64_t *seed)
{
	uint32_t x = draw_below(seed, 3), y = draw_below(seed, 120);
	switch (draw_below(seed, 7)) {
	case 0:
		return arena_printf(a, "n%u", y);
	case 1:
		return arena_printf(a, "n%02u", y);
	case 2:
		return arena_printf(a, "n%03u", y);
	case 3:
		return arena_printf(a, "%ux", y);
	case 4:
		return arena_printf(a, "r%un%u", x, y);
	case 5:
		return arena_printf(a, "a%u-%02ub", x, y);
	default:
		return arena_printf(a, "login");
	}
}

/* expand(compress(x)) = x for any sequence: sorted or not, with duplicates. */
static void folding_loses_nothing(void **state)
{
	(void)state;
	uint64_t seed = 20261115;
	for (int round = 0; round < 400; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf out = {}, before = {}, after = {};
		uint32_t count = draw_below(&seed, 60);
		struct hostlist h = { ARENA_ARRAY(a, char *, count), count }, back;
		for (uint32_t i = 0; i < count; i++)
			h.names[i] = draw_name(a, &seed);
		if (draw(&seed) & 1)
			hostlist_sort(&h);
		hostlist_compress(h.names, h.count, &out);
		struct error err = {};
		if (hostlist_expand(buf_text(&out), a, &back, &err) < 0)
			fail_msg("%s", err.text);
		join(&h, &before);
		join(&back, &after);
		assert_string_equal(buf_text(&before), buf_text(&after));
	}
}

/* Sorting keeps the multiset, orders every pair, and does not depend on where names started. */
static void sorting_is_a_total_order(void **state)
{
	(void)state;
	uint64_t seed = 7;
	for (int round = 0; round < 100; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf once = {}, again = {};
		uint32_t count = 2 + draw_below(&seed, 40);
		struct hostlist h = { ARENA_ARRAY(a, char *, count), count };
		for (uint32_t i = 0; i < count; i++)
			h.names[i] = draw_name(a, &seed);
		struct hostlist mixed = { arena_dup(a, h.names, count * sizeof(char *)), count };
		for (uint32_t i = count - 1; i > 0; i--) {
			uint32_t j = draw_below(&seed, i + 1);
			char *name = mixed.names[i];
			mixed.names[i] = mixed.names[j];
			mixed.names[j] = name;
		}
		hostlist_sort(&h);
		hostlist_sort(&mixed);
		join(&h, &once);
		join(&mixed, &again);
		assert_string_equal(buf_text(&once), buf_text(&again));
		for (uint32_t i = 0; i < count; i++)
			for (uint32_t j = 0; j < i; j++) {
				assert_true(hostname_compare(h.names[j], h.names[i]) <= 0);
				assert_true(hostname_compare(h.names[i], h.names[j]) >= 0);
			}
	}
}

static void orders_by_number(void **state)
{
	(void)state;
	static const char *const ascending[] = {
		"a",
		"a1",
		"a9",
		"a10",
		"a10b",
		"b2",
		"n",
		"n01",
		"n1",
		"n2",
		"nx",
		"rack2n1",
		"rack10n1",
		"z99999999999999999999999",
		"z100000000000000000000000",
	};
	for (size_t i = 0; i < ARRAY_COUNT(ascending); i++)
		for (size_t j = 0; j < ARRAY_COUNT(ascending); j++) {
			int c = hostname_compare(ascending[i], ascending[j]);
			if ((i < j) != (c < 0))
				fail_msg("%s and %s", ascending[i], ascending[j]);
			assert_int_equal(i == j, c == 0);
		}
}

/* Against a set kept the slow way: union by concatenation holds exactly the members of both. */
static void lists_are_sets_of_names(void **state)
{
	(void)state;
	uint64_t seed = 99;
	for (int round = 0; round < 50; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf text = {};
		struct map naive = {};
		for (int part = 0; part < 4; part++) {
			uint32_t lo = draw_below(&seed, 200), hi = lo + draw_below(&seed, 30);
			buf_printf(&text, "%sn[%03u-%u]", part ? "," : "", lo, hi);
			for (uint32_t i = lo; i <= hi; i++)
				map_put_str(&naive, arena_printf(a, "n%03u", i), a);
		}
		struct hostlist h;
		assert_int_equal(hostlist_expand(buf_text(&text), a, &h, NULL), 0);
		struct map seen = {};
		for (uint32_t i = 0; i < h.count; i++) {
			assert_non_null(map_get_str(&naive, h.names[i]));
			map_put_str(&seen, h.names[i], a);
		}
		assert_int_equal(seen.count, naive.count);
		map_done(&seen);
		map_done(&naive);
	}
}

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void large_lists_take_no_time(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf out = {};
	double start = cpu_seconds();
	struct hostlist h;
	assert_int_equal(hostlist_expand("rack[1-100]n[0001-1000]", a, &h, NULL), 0);
	assert_int_equal(h.count, 100000);
	hostlist_compress(h.names, h.count, &out);
	for (uint32_t i = 0; i < h.count / 2; i += 2) { /* worst case for folding: nothing folds */
		char *name = h.names[i];
		h.names[i] = h.names[h.count - 1 - i];
		h.names[h.count - 1 - i] = name;
	}
	hostlist_compress(h.names, h.count, &out);
	hostlist_sort(&h);
	assert_string_equal(h.names[h.count - 1], "rack100n1000");
	assert_true(cpu_seconds() - start < 1.0); /* about 0.05 on one core; sanitizers included */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expands),
		cmocka_unit_test(refuses),
		cmocka_unit_test(long_names_are_refused),
		cmocka_unit_test(compresses),
		cmocka_unit_test(folding_loses_nothing),
		cmocka_unit_test(sorting_is_a_total_order),
		cmocka_unit_test(orders_by_number),
		cmocka_unit_test(lists_are_sets_of_names),
		cmocka_unit_test(large_lists_take_no_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

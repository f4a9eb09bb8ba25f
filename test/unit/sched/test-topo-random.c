/* SPDX-License-Identifier: Apache-2.0 */
/* Random small fabrics against brute force: every set of nodes of the wanted size is looked at by a slow, obvious
 * checker.  What topology_choose gives keeps the rules and nothing better exists; what it denies does not exist. */
#include "base/arena.h"
#include "fabric.h"
#include "../cm.h"
#include "../draw.h"

enum { NODES = 12, UNITS = 16, ROUNDS = 4000 };

struct fabric {
	struct arena *a;
	struct topo_spec spec;
	struct topo_unit units[UNITS];
	uint32_t leaves;         /* units 0 ... leaves - 1 have nodes */
	uint32_t leaf_of[NODES]; /* UNITS: none */
	uint32_t parent[UNITS];  /* UNITS: none */
	uint32_t level[UNITS];
	uint32_t line[NODES], line_count; /* nodes in the order of ranks */
	uint32_t sizes[3];
};

struct question {
	uint32_t candidates, required; /* as bits */
	struct topo_wish wish;
};

static uint32_t ones(uint32_t set)
{
	return (uint32_t)__builtin_popcount(set);
}

/* ---- fabrics ----------------------------------------------------------------------------------- */

/* Nodes in random order into leaves of random size, some into none. */
static void draw_leaves(struct fabric *f, uint32_t leaves, uint32_t least, uint64_t *seed)
{
	uint32_t nodes[NODES], at = 0;
	for (uint32_t i = 0; i < NODES; i++) {
		nodes[i] = i;
		f->leaf_of[i] = UNITS;
	}
	for (uint32_t i = NODES - 1; i && draw_below(seed, 3); i--) {
		uint32_t k = draw_below(seed, i + 1), swap = nodes[i];
		nodes[i] = nodes[k];
		nodes[k] = swap;
	}
	f->leaves = leaves;
	for (uint32_t i = 0; i < leaves; i++) {
		uint32_t left = NODES - at - (leaves - i - 1) * least;
		uint32_t size = least +
				draw_below(seed, left - least + 1 < 3 ? left - least + 1 : 3);
		AUTO_BUF struct buf text = {};
		for (uint32_t k = 0; k < size; k++, at++) {
			buf_printf(&text, "%sn%u", k ? "," : "", nodes[at]);
			f->leaf_of[nodes[at]] = i;
		}
		f->units[i] = (struct topo_unit) { .name = arena_printf(f->a, "u%u", i),
						   .nodes = arena_strdup(f->a, buf_text(&text)),
						   .where = "t" };
	}
}

static void draw_line(struct fabric *f, uint32_t unit)
{
	if (unit < f->leaves) {
		for (uint32_t i = 0; i < NODES; i++)
			if (f->leaf_of[i] == unit)
				f->line[f->line_count++] = i;
		return;
	}
	for (uint32_t i = 0; i < f->spec.unit_count; i++)
		if (f->parent[i] == unit)
			draw_line(f, i);
}

/* Switches over random ones that have none above them yet. */
static void draw_tree(struct fabric *f, uint64_t *seed)
{
	draw_leaves(f, 1 + draw_below(seed, 5), 1, seed);
	f->spec.kind = TOPO_TREE;
	f->spec.unit_count = f->leaves;
	for (uint32_t i = 0; i < UNITS; i++)
		f->parent[i] = UNITS;
	for (uint32_t more = draw_below(seed, 5); more; more--) {
		uint32_t unit = f->spec.unit_count;
		AUTO_BUF struct buf text = {};
		for (uint32_t i = 0; i < unit; i++) {
			if (f->parent[i] != UNITS || draw_below(seed, 2))
				continue;
			f->parent[i] = unit;
			f->level[unit] = f->level[i] >= f->level[unit] ? f->level[i] + 1
								       : f->level[unit];
			buf_printf(&text, "%su%u", text.len ? "," : "", i);
		}
		if (!text.len)
			continue;
		f->units[unit] = (struct topo_unit) { .name = arena_printf(f->a, "u%u", unit),
						      .switches = arena_strdup(f->a,
									       buf_text(&text)),
						      .where = "t" };
		f->spec.unit_count++;
	}
	for (uint32_t i = 0; i < f->spec.unit_count; i++)
		if (f->parent[i] == UNITS)
			draw_line(f, i);
}

static void draw_blocks(struct fabric *f, uint64_t *seed)
{
	static const uint32_t sizes[][3] = { { 1, 2, 4 }, { 1, 4 }, { 2, 4, 8 }, { 2 },
					     { 2, 8 },    { 3, 6 }, { 2, 4 } };
	uint32_t pick = draw_below(seed, ARRAY_COUNT(sizes)), base = sizes[pick][0];
	f->spec.kind = TOPO_BLOCK;
	draw_leaves(f, 1 + draw_below(seed, NODES / base < 6 ? NODES / base : 6), base, seed);
	f->spec.unit_count = f->leaves;
	for (uint32_t i = 0; i < 3 && sizes[pick][i]; i++)
		f->sizes[f->spec.block_size_count++] = sizes[pick][i];
	f->spec.block_sizes = f->sizes;
	for (uint32_t i = 0; i < f->leaves; i++)
		draw_line(f, i);
}

static struct question draw_question(uint64_t *seed, bool segments)
{
	struct question q = { .candidates = (uint32_t)draw(seed) & ((1u << NODES) - 1) };
	if (draw_below(seed, 2))
		q.candidates |= (uint32_t)draw(seed) & ((1u << NODES) - 1);
	q.wish.want = 1 + draw_below(seed, 8);
	if (draw_below(seed, 3) == 0)
		q.required = q.candidates & (uint32_t)draw(seed) & (uint32_t)draw(seed) &
			     (uint32_t)draw(seed);
	if (draw_below(seed, 4) == 0)
		q.wish.switches_max = 1 + draw_below(seed, 3);
	q.wish.contiguous = draw_below(seed, 6) == 0;
	if (segments && draw_below(seed, 2)) {
		q.wish.segment = 1 + draw_below(seed, 4);
		q.wish.want = q.wish.segment * (1 + draw_below(seed, 3));
		q.wish.spread_segments = draw_below(seed, 3) == 0;
		q.wish.consolidate_segments = !q.wish.spread_segments && draw_below(seed, 2);
	}
	return q;
}

/* ---- the checker ------------------------------------------------------------------------------- */

struct grade {
	bool allowed;
	uint32_t level, places; /* smaller is better, in this order */
	bool places_minimal;    /* the fewest places are promised */
};

static bool in_line(const struct fabric *f, uint32_t set)
{
	uint32_t first = UINT32_MAX, last = 0;
	for (uint32_t i = 0; i < f->line_count; i++) {
		if (!(set >> f->line[i] & 1))
			continue;
		first = first == UINT32_MAX ? i : first;
		last = i;
	}
	return last - first + 1 == ones(set);
}

static bool basics(const struct fabric *f, const struct question *q, uint32_t set)
{
	if ((q->wish.segment && q->wish.want % q->wish.segment) ||
	    (set & q->required) != q->required)
		return false;
	for (uint32_t i = 0; i < NODES; i++)
		if (set >> i & 1 && f->leaf_of[i] == UNITS)
			return q->wish.want == 1;
	return !q->wish.contiguous || in_line(f, set);
}

/* Nodes of the set in runs of `each` leaves; the number of runs touched, 0 when one breaks the segments. */
static uint32_t runs_touched(const struct fabric *f, const struct question *q, uint32_t set,
			     uint32_t each, uint32_t segment)
{
	uint32_t touched = 0;
	for (uint32_t run = 0; run * each < f->leaves; run++) {
		uint32_t n = 0;
		for (uint32_t i = 0; i < NODES; i++)
			n += set >> i & 1 && f->leaf_of[i] / each == run;
		if (segment && (n % segment || (q->wish.spread_segments && n > segment)))
			return 0;
		touched += n > 0;
	}
	return touched;
}

static bool has_loose(const struct fabric *f, uint32_t set)
{
	for (uint32_t i = 0; i < NODES; i++)
		if (set >> i & 1 && f->leaf_of[i] == UNITS)
			return true;
	return false;
}

static bool unit_has(const struct fabric *f, uint32_t unit, uint32_t set)
{
	for (uint32_t i = 0; i < NODES; i++) {
		uint32_t up = f->leaf_of[i];
		while (set >> i & 1 && up != unit) {
			if (up == UNITS)
				return false;
			up = f->parent[up];
		}
	}
	return true;
}

static struct grade grade_tree(const struct fabric *f, const struct question *q, uint32_t set)
{
	struct grade g = { .level = UINT32_MAX, .places_minimal = true };
	if (!basics(f, q, set))
		return g;
	if (has_loose(f, set)) /* only when nothing else serves */
		return (struct grade) { true, UINT32_MAX, 1, true };
	g.places = runs_touched(f, q, set, 1, q->wish.segment);
	for (uint32_t i = 0; i < f->spec.unit_count; i++)
		if (unit_has(f, i, set) && f->level[i] < g.level)
			g.level = f->level[i];
	g.allowed = g.places && g.level != UINT32_MAX &&
		    (!q->wish.switches_max || g.places <= q->wish.switches_max);
	return g;
}

/* The rules at the top of topo_block.c, written down once more. */
static struct grade grade_block(const struct fabric *f, const struct question *q, uint32_t set)
{
	struct grade g = {};
	const uint32_t *size = f->sizes, base = size[0], levels = f->spec.block_size_count;
	uint32_t segment = q->wish.segment ? q->wish.segment : 1, home = 0, level,
		 want = q->wish.want;
	if (!basics(f, q, set))
		return g;
	if (has_loose(f, set))
		return (struct grade) { true, UINT32_MAX, 1, true };
	while (home < levels && size[home] < segment)
		home++;
	if (home == levels)
		return g;
	g.places = runs_touched(f, q, set, size[home] / base, segment);
	if (!g.places)
		return g;
	if (!q->wish.segment || q->wish.consolidate_segments) {
		uint32_t whole = size[home] / segment * segment;
		for (level = home; level < levels && size[level] / size[home] * whole < want;
		     level++)
			;
		g.allowed = level == levels || runs_touched(f, q, set, size[level] / base, 0) == 1;
		if (level > home) {
			uint32_t full = size[level - 1] / size[home] * whole;
			g.allowed = g.allowed && runs_touched(f, q, set, size[level - 1] / base,
							      0) <= (want + full - 1) / full;
		}
		g.places_minimal = level <= home + 1;
	} else {
		for (level = home;
		     level < levels && runs_touched(f, q, set, size[level] / base, 0) > 1; level++)
			;
		g.level = q->wish.contiguous ? 0 : level;
		g.allowed = g.places_minimal = true;
	}
	if (q->wish.contiguous) /* counted in blocks then */
		g.places_minimal = g.places_minimal && home == 0;
	return g;
}

typedef struct grade (*grade_fn)(const struct fabric *f, const struct question *q, uint32_t set);

static struct grade best_grade(const struct fabric *f, const struct question *q, grade_fn grade)
{
	struct grade best = {};
	for (uint32_t set = 1; set < 1u << NODES; set++) {
		if (ones(set) != q->wish.want || set & ~q->candidates)
			continue;
		struct grade g = grade(f, q, set);
		if (g.allowed && (!best.allowed || g.level < best.level ||
				  (g.level == best.level && g.places < best.places)))
			best = g;
	}
	return best;
}

/* ---- rounds ------------------------------------------------------------------------------------ */

static void check_order(const struct fabric *f, const uint32_t *ret, uint32_t count)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < f->line_count && at < count; i++)
		at += f->line[i] == ret[at];
	if (at < count && count > 1)
		fail_msg("the nodes do not stand in the order of the fabric");
}

static void check(const struct fabric *f, const struct topology *t, struct question *q,
		  grade_fn grade, uint32_t round)
{
	struct bitset candidates, required;
	uint32_t ret[NODES], set = 0;
	bitset_init_in(&candidates, NODES, f->a);
	bitset_init_in(&required, NODES, f->a);
	*candidates.words = q->candidates;
	*required.words = q->required;
	q->wish.required = draw_below(&(uint64_t) { round + 1 }, 2) || q->required ? &required
										   : NULL;
	struct grade best = best_grade(f, q, grade);
	bool found = topology_choose(t, &candidates, &q->wish, f->a, ret, NULL);
	if (found != best.allowed)
		fail_msg("round %u: %s", round,
			 found ? "chose what breaks a rule" : "found nothing where there is");
	if (!found)
		return;
	for (uint32_t i = 0; i < q->wish.want; i++)
		set |= 1u << ret[i];
	struct grade got = grade(f, q, set);
	if (ones(set) != q->wish.want || set & ~q->candidates || !got.allowed)
		fail_msg("round %u: the set breaks a rule", round);
	if (got.level != best.level || (got.places_minimal && got.places != best.places))
		fail_msg("round %u: level %u with %u leaves, but level %u with %u would do", round,
			 got.level, got.places, best.level, best.places);
	check_order(f, ret, q->wish.want);
}

static void run(void (*make)(struct fabric *, uint64_t *), grade_fn grade, bool switches)
{
	for (uint32_t round = 0; round < ROUNDS; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		uint64_t seed = 0x9e3779b97f4a7c15u * (round + 1);
		struct fabric f = { .a = a, .spec = { .name = "t", .where = "t" } };
		struct topology *t = NULL;
		struct error err = {};
		make(&f, &seed);
		f.spec.units = f.units;
		if (fabric_new(&f.spec, NODES, &t, &err) < 0)
			fail_msg("round %u: %s", round, err.text);
		for (int i = 0; i < 4; i++) {
			struct question q = draw_question(&seed, true);
			q.wish.switches_max = switches ? q.wish.switches_max : 0;
			check(&f, t, &q, grade, round);
		}
		topology_free(t);
	}
}

static void test_trees(void **state)
{
	(void)state;
	run(draw_tree, grade_tree, true);
}

static void test_blocks(void **state)
{
	(void)state;
	run(draw_blocks, grade_block, false);
}

/* ---- rings and tori ---------------------------------------------------------------------------- */

static bool arc_free(const struct question *q, uint32_t set, uint32_t nodes)
{
	for (uint32_t start = 0; start < nodes; start++) {
		uint32_t arc = 0;
		for (uint32_t i = 0; i < q->wish.want; i++)
			arc |= 1u << (start + i) % nodes;
		if (ones(arc) == q->wish.want && !(arc & ~set) &&
		    (arc & q->required) == q->required)
			return true;
	}
	return false;
}

static bool box_free(const struct question *q, uint32_t set, const uint32_t size[3])
{
	uint32_t nodes = size[0] * size[1] * size[2];
	for (uint32_t shape = 0; shape < nodes * nodes; shape++) {
		uint32_t at = shape / nodes, cut = shape % nodes, box = 0;
		uint32_t a = 1 + cut % size[0], b = 1 + cut / size[0] % size[1],
			 c = 1 + cut / size[0] / size[1];
		for (uint32_t i = 0; i < a * b * c; i++) {
			uint32_t x = (at + i % a) % size[0],
				 y = (at / size[0] + i / a % b) % size[1];
			uint32_t z = (at / size[0] / size[1] + i / a / b) % size[2];
			box |= 1u << ((z * size[1] + y) * size[0] + x);
		}
		if (a * b * c == q->wish.want && !(box & ~set) &&
		    (box & q->required) == q->required)
			return true;
	}
	return false;
}

static void test_rings_and_tori(void **state)
{
	(void)state;
	static const struct topo_unit rings[] = { { "r", "n[0-11]", .where = "t" } };
	static const struct topo_unit tori[] = { { "p", "n[0-11]", .where = "t", .x = 3, .y = 2,
						   .z = 2 } };
	static const uint32_t size[3] = { 3, 2, 2 };
	struct topo_spec ring = { .name = "t", .kind = TOPO_RING, .units = rings, .unit_count = 1 };
	struct topo_spec torus = {
		.name = "t", .kind = TOPO_TORUS3D, .units = tori, .unit_count = 1
	};
	struct topology *t[2] = {};
	uint64_t seed = 77;
	assert_int_equal(fabric_new(&ring, NODES, &t[0], NULL), 0);
	assert_int_equal(fabric_new(&torus, NODES, &t[1], NULL), 0);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct question q = draw_question(&seed, false);
		struct bitset candidates, required;
		uint32_t ret[NODES], set, is_torus = round % 2;
		bitset_init_in(&candidates, NODES, a);
		bitset_init_in(&required, NODES, a);
		*candidates.words = q.candidates;
		*required.words = q.required;
		q.wish.required = &required;
		bool found = topology_choose(t[is_torus], &candidates, &q.wish, a, ret, NULL);
		bool exists = is_torus ? box_free(&q, q.candidates, size)
				       : arc_free(&q, q.candidates, NODES);
		if (found != exists)
			fail_msg("round %u: found %d, there is %d", round, found, exists);
		set = 0;
		for (uint32_t i = 0; found && i < q.wish.want; i++)
			set |= 1u << ret[i];
		if (found && !(is_torus ? box_free(&q, set, size) : arc_free(&q, set, NODES)))
			fail_msg("round %u: the nodes are no neighbours", round);
	}
	topology_free(t[0]);
	topology_free(t[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_rings_and_tori),
	};
	return cmocka_run_group_tests_name("sched-topo-random", tests, NULL, NULL);
}

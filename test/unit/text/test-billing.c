/* SPDX-License-Identifier: Apache-2.0 */
/* TRESBillingWeights: the sums, and what is refused. */
#include "text/billing.h"

#include "base/error.h"

#include "../cm.h"

static void adds_up(void **state)
{
	(void)state;
	static const struct billing_gres gres[] = { { "gpu", 4 }, { "shard", 8 } };
	static const struct billing_counts counts = { 16, 65536, 2, gres, 2 };
	static const struct {
		const char *weights;
		uint64_t sum, largest;
	} rows[] = {
		{ "", 16, 16 },
		{ "CPU=1.0", 16, 16 },
		{ "CPU=1.0,Mem=0.25G", 32, 16 },
		{ "CPU=1.0,Mem=0.25G,GRES/gpu=10", 72, 40 },
		{ "mem=0.001", 65, 65 },
		{ "Mem=1024K", 68719476736, 68719476736 },
		{ "Mem=1T", 0, 0 },
		{ "Node=3,gres/SHARD=0.5", 10, 6 },
		{ "CPU=0", 0, 0 },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		assert_int_equal(billing_check(rows[i].weights, NULL), 0);
		assert_int_equal(billing(rows[i].weights, false, &counts), rows[i].sum);
		assert_int_equal(billing(rows[i].weights, true, &counts), rows[i].largest);
	}
}

static void refuses(void **state)
{
	(void)state;
	static const struct {
		const char *weights, *text;
	} rows[] = {
		{ "CPU", "'CPU': want NAME=WEIGHT" },
		{ "CPU=", "'CPU=': want NAME=WEIGHT" },
		{ "CPU=x", "'CPU=x': the weight is no number" },
		{ "CPU=-1", "'CPU=-1': the weight is no number" },
		{ "CPU=1G", "'CPU=1G': only the weight of memory has a unit: K, M, G, T or P" },
		{ "CPU=1,Mem=1X", "'Mem=1X': only the weight of memory has a unit: K, M, G, T or P" },
		{ "Energy=1", "'Energy=1': not known: CPU, Mem, Node or GRES/name" },
		{ "GRES/gpu:h100=1",
		  "'GRES/gpu:h100=1': weights of a type of GRES are not built yet: give one for the name" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct error err = {};
		assert_true(billing_check(rows[i].weights, &err) < 0);
		assert_string_equal(err.text, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(adds_up), cmocka_unit_test(refuses) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

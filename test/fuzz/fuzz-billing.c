/* SPDX-License-Identifier: Apache-2.0 */
/* Weights are refused with words or give a cost; the largest part is never more than the sum. */
#include "base/arena.h"
#include "base/error.h"
#include "text/billing.h"
#include "text/selectparams.h"

#include "fuzz.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *text = fuzz_text(a, data, size);
	static const struct billing_gres gres[] = { { "gpu", 4 } };
	struct billing_counts counts = { 16, 65536, 2, gres, 1 };
	struct error err = {};
	struct select_rules rules;
	if (billing_check(text, &err) < 0)
		assert(err.text[0]);
	else if (*text)
		assert(billing(text, true, &counts) <= billing(text, false, &counts));
	err = (struct error){};
	if (select_rules_parse(text, &rules, &err) < 0)
		assert(err.text[0]);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is a file name pattern; two tasks get different files only if it says so. */
#include "base/arena.h"
#include "base/str.h"
#include "text/filename.h"

#include "fuzz.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *text = fuzz_text(a, data, size);
	struct filename_values v = {
		.job_id = 7, .array_task_id = 3, .step_name = "batch", .node_name = "n0"
	};
	char *first = filename_expand(text, &v, a);
	v.task_id = v.node_pos = 1;
	v.node_name = "n1";
	char *second = filename_expand(text, &v, a);
	assert(str_eq(first, second) != filename_is_per_task(text));
	return 0;
}

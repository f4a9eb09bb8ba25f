/* SPDX-License-Identifier: Apache-2.0 */
/* References to jobs, lists of node states and lines of a prompt: read or refused with a word. */
#include "base/arena.h"
#include "base/error.h"
#include "client/jobref.h"
#include "client/node_state.h"
#include "client/words.h"

#include "fuzz.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *text = fuzz_text(a, data, size);
	struct jobrefs refs = {};
	struct error err = {};
	if (jobrefs_parse(text, a, &refs, &err) < 0)
		assert(err.text[0]);
	else
		for (size_t i = 0; i < refs.at.count; i++)
			assert(refs.at.at[i].id);
	vec_done(&refs.at);
	if (node_states_check(text, NULL) >= 0)
		(void)node_states_match(text, (struct node_status) { .base = NODE_STATE_IDLE });
	char **words;
	int count;
	if (words_split(text, a, &words, &count, NULL) >= 0)
		assert(count >= 0 && !words[count]);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A signal that has a name is found under it. */
#include "base/arena.h"
#include "text/signame.h"

#include "fuzz.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *text = fuzz_text(a, data, size);
	int signo, back;
	if (signame_parse(text, &signo) < 0)
		return 0;
	assert(signo > 0 && signo <= 64);
	const char *name = signame_print(signo);
	if (name[0] != '?') {
		int r = signame_parse(name, &back);
		assert(r == 0 && back == signo);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A batch script's #SBATCH lines: whatever stands in them is applied or refused with a reason and an
 * exit code; what was applied can be encoded, and the rest of the script is looked through for hints.
 * The first byte chooses the command whose options are meant. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "client/hints.h"
#include "client/options.h"
#include "client/options_step.h"
#include "client/script.h"

#include "fuzz.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum option_cmds commands[] = { OPTION_CMDS_SBATCH, OPTION_CMDS_SALLOC,
						     OPTION_CMDS_SRUN };
	if (size == 0)
		return 0;
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf out = {};
	struct script s = { .name = "fuzz", .text = fuzz_text(a, data + 1, size - 1) };
	s.len = strlen(s.text);
	struct options o;
	struct error err = {};
	options_init(&o, commands[data[0] % 3], 1800000000 * USEC_PER_SEC, a);
	int r = script_scan(&s, &o, &err);
	if (r == 0 && data[0] & 64)
		options_enter_step(&o);
	if (r == 0)
		r = options_apply(&o, &err);
	if (r == 0)
		r = options_check(&o, &err);
	if (r < 0)
		assert(err.text[0] && o.exit_code);
	const char *lines[HINTS_MOST];
	const struct hint_input in = { &o.at.spec, s.text, s.len, true, true };
	if (r == 0)
		for (uint32_t i = hints_find(&in, a, lines); i-- > 0;)
			assert(lines[i][0]);
	record_encode(&command_options_record, &o.at, &out);
	options_done(&o);
	return 0;
}

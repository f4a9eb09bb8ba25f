/* SPDX-License-Identifier: Apache-2.0 */
/* story.h - one simulated life of a cluster, from one seed. */
#pragma once
#include "base/time.h"

#include <stdbool.h>
#include <stdint.h>

struct story_options {
	uint64_t seed;
	unsigned faults;      /* how many chances things have to go wrong */
	bool tell;            /* print one line per event */
	const char *key_path; /* of a key file */
};

struct story_result {
	uint64_t hash; /* of all events: equal seeds, equal histories */
	unsigned crashes, node_crashes, boots, jobs;
	usec_t virtual_usec;
};

/* False, with a message on stderr, when something was lost, run twice or never ended. */
bool story_run(const struct story_options *o, struct story_result *ret);

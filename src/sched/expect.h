/* SPDX-License-Identifier: Apache-2.0 */
/* expect.h - when and where a request could start, as things stand: for --test-only.
 *
 * Running jobs are taken to last until their time limits; jobs that wait are not looked at, as in
 * Slurm's own answer.  The placement is the planner's. */
#pragma once
#include "base/time.h"
#include "sched/fit.h"

struct partition;
struct sched_view;

struct expect_end {
	usec_t time; /* 0: nobody knows */
	const struct job *job;
};

enum expect_result {
	EXPECT_START,      /* at `time` */
	EXPECT_UNLIMITED,  /* jobs without a time limit are in the way */
	EXPECT_NODES_DOWN, /* enough nodes would be up on another day */
};

struct expectation {
	enum expect_result result;
	usec_t time;
	struct fit fit;
};

/* `ends`: the jobs that hold something, soonest first, those of unknown end last. */
struct expectation expect_start(const struct sched_view *v, const struct job *j,
				const struct partition *p, const struct expect_end *ends, uint32_t count,
				struct arena *a);

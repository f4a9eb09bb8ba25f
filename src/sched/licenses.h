/* SPDX-License-Identifier: Apache-2.0 */
/* licenses.h - the licences that are left while a pass of the planner gives them out. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct license;
struct sched_view;

struct license_pool {
	struct license *at; /* a scratch copy of the view's */
	uint32_t count;
	struct arena *arena;
};

void license_pool_init(struct license_pool *p, const struct sched_view *v, struct arena *a);
/* Are those free that a request (--licenses) asks for?  `ret_taken` gets what would be taken, as
 * name:count,...: of alternatives the first that is free.  NULL: nothing is asked for. */
bool license_pool_find(const struct license_pool *p, const char *wanted, const char **ret_taken);
void license_pool_take(struct license_pool *p, const char *taken);

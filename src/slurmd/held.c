/* SPDX-License-Identifier: Apache-2.0 */
/* held.c - what this node holds: the table of steps, by name. */
#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "sched/layout.h"
#include "slurmd/impl.h"
#include "wire/conn.h"

#include <errno.h>
#include <stdio.h>

/* Short, because the path of a socket has room for 107 bytes. */
void held_name(uint32_t job_id, uint32_t attempt, uint32_t step_id, char ret[HELD_NAME_MAX])
{
	if (step_id == STEP_BATCH)
		snprintf(ret, HELD_NAME_MAX, "%u.%u.b", job_id, attempt);
	else
		snprintf(ret, HELD_NAME_MAX, "%u.%u.%u", job_id, attempt, step_id);
}

bool held_name_parse(const char *name, uint32_t *ret_job, uint32_t *ret_attempt, uint32_t *ret_step)
{
	char again[HELD_NAME_MAX], step[16] = "";

	if (sscanf(name, "%u.%u.%15s", ret_job, ret_attempt, step) != 3)
		return false;
	if (str_eq(step, "b"))
		*ret_step = STEP_BATCH;
	else if (str_to_u32(step, ret_step) < 0)
		return false;
	held_name(*ret_job, *ret_attempt, *ret_step, again);
	return str_eq(again, name);
}

struct held *held_new(struct slurmd *d, uint32_t job_id, uint32_t attempt, uint32_t step_id)
{
	struct held *h = NEW(struct held);

	h->d = d;
	h->job_id = job_id;
	h->attempt = attempt;
	h->step_id = step_id;
	held_name(job_id, attempt, step_id, h->name);
	map_put_str(&d->held, h->name, h);
	return h;
}

struct held *held_find(const struct slurmd *d, uint32_t job_id, uint32_t attempt, uint32_t step_id)
{
	char name[HELD_NAME_MAX];

	held_name(job_id, attempt, step_id, name);
	return map_get_str(&d->held, name);
}

void held_forget_request(struct request **r)
{
	struct error gone = { .code = -ECONNRESET };

	if (*r)
		request_fail(*r, &gone);
	*r = NULL;
}

void held_answer(struct request **r)
{
	struct request *answered = TAKE_PTR(*r);

	if (answered)
		request_reply(answered, &(struct empty) {});
}

void held_free(struct held *h)
{
	held_answer(&h->launch);
	held_answer(&h->report);
	held_forget_request(&h->launch);
	held_forget_request(&h->report);
	map_remove_str(&h->d->held, h->name);
	record_done(&step_end_record, &h->end);
	free(h);
}

bool held_is_last(const struct slurmd *d, const struct held *but)
{
	const struct held *h;

	for (size_t i = 0; (h = map_next(&d->held, &i));)
		if (h != but && h->job_id == but->job_id && h->attempt == but->attempt &&
		    !(h->state == HELD_ACKNOWLEDGED || (h->state == HELD_ENDED && h->sent)))
			return false;
	return true;
}

void held_list(const struct slurmd *d, struct arena *a, struct node_held **ret, uint32_t *ret_count)
{
	const struct held *h;
	uint32_t count = 0;

	*ret = ARENA_ARRAY(a, struct node_held, d->held.count + 1);
	for (size_t i = 0; (h = map_next(&d->held, &i));) {
		if (h->state == HELD_ACKNOWLEDGED)
			continue;
		(*ret)[count++] = (struct node_held) {
			.job_id = h->job_id,
			.attempt = h->attempt,
			.step_id = h->step_id,
			.ended = h->state == HELD_ENDED,
		};
	}
	*ret_count = count;
}

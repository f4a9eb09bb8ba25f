/* SPDX-License-Identifier: Apache-2.0 */
#include "core/decide.h"

#include <string.h>

void decision_init(struct decision *d, struct arena *a)
{
	*d = (struct decision){ .arena = a };
}

void decision_done(struct decision *d)
{
	vec_done(&d->events);
	vec_done(&d->effects);
}

struct event *decision_event(struct decision *d, enum event_kind kind)
{
	vec_push(&d->events, (struct event){ .kind = kind });
	return &d->events.at[d->events.count - 1];
}

void decision_effect(struct decision *d, struct effect e)
{
	vec_push(&d->effects, e);
}

uint64_t decide_blob(const struct cluster *c, const struct bytes *data, struct decision *out)
{
	if (data->len == 0)
		return 0;
	uint64_t id = hash_bytes(data->data, data->len);
	for (id = id ? id : 1;; id++) { /* moved on in the unlikely case that another text has it */
		const struct blob *b = cluster_blob(c, id);
		if (!b)
			break;
		if (b->data.len == data->len && memcmp(b->data.data, data->data, data->len) == 0)
			return id;
	}
	struct blob_added *ev = &decision_event(out, EVENT_BLOB_ADDED)->blob_added;
	ev->id = id;
	ev->data = *data;
	return id;
}

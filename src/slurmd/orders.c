/* SPDX-License-Identifier: Apache-2.0 */
/* orders.c - what the controller asks of a node: launch, signal, terminate.
 *
 * Every order names job and attempt and may arrive twice: after a reconnect the controller repeats
 * what it is not sure of.  A launch of a step that is here, in whatever state, is answered and starts
 * nothing.  A launch that cannot be carried out is answered too and followed by a step_end that says
 * why: the controller has one way to learn how a step ended. */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "conf/conf.h"
#include "sched/layout.h"
#include "slurmd/impl.h"
#include "wire/conn.h"

#include <errno.h>

static void order_launch(struct slurmd *d, struct request *r)
{
	struct launch *l = r->body;
	struct held *h = held_find(d, l->job_id, l->attempt, l->step_id);
	struct step_end refused = {
		.job_id = l->job_id, .attempt = l->attempt, .step_id = l->step_id, .exit_code = 1
	};

	if (h) {
		log_debug("step %s: is here already", h->name);
		request_reply(r, &(struct empty) {});
		return;
	}
	h = held_new(d, l->job_id, l->attempt, l->step_id);
	h->launch = r;
	log_verbose("step %s: launch for uid %u", h->name, l->uid);
	if (!str_eq(l->node_name, d->node->name))
		refused.launch_error = arena_printf(r->arena, "node %s got a launch for node '%s'",
						    d->node->name, l->node_name);
	else if (d->o.uid != 0 && l->uid != d->o.uid)
		refused.launch_error = arena_printf(
			r->arena, "slurmd on %s runs as uid %u and cannot start jobs of uid %u",
			d->node->name, d->o.uid, l->uid);
	if (refused.launch_error)
		stepd_ended(h, &refused);
	else
		stepd_launch(h, l);
}

static bool signal_is_for(const struct held *h, const struct signal_step *s)
{
	bool batch = h->step_id == STEP_BATCH;

	if (h->job_id != s->job_id || h->attempt != s->attempt)
		return false;
	if (s->has_step_id)
		return h->step_id == s->step_id;
	return batch ? !s->skip_batch : !s->batch_only;
}

static void order_signal(struct slurmd *d, struct request *r)
{
	const struct signal_step *s = r->body;
	struct held *h;

	for (size_t i = 0; (h = map_next(&d->held, &i));)
		if (signal_is_for(h, s))
			stepd_signal(h, s);
	request_reply(r, &(struct empty) {});
}

/* The last step_end says that the job is gone; without a step that still runs we say so at once. */
static void order_terminate(struct slurmd *d, struct request *r)
{
	const struct terminate_job *t = r->body;
	uint32_t running = 0;
	struct held *h;

	for (size_t i = 0; (h = map_next(&d->held, &i));) {
		if (h->job_id != t->job_id || h->attempt != t->attempt || h->state >= HELD_ENDED ||
		    (t->has_step_id && h->step_id != t->step_id))
			continue;
		stepd_terminate(h, t);
		running++;
	}
	log_verbose("job %u attempt %u: terminate, %u steps run here", t->job_id, t->attempt,
		    running);
	if (!running && !t->has_step_id)
		link_send_clean(d, t->job_id, t->attempt);
	request_reply(r, &(struct empty) {});
}

static void order_shutdown(struct slurmd *d, struct request *r)
{
	log_info("the controller asks this node daemon to stop");
	request_reply(r, &(struct empty) {});
	if (d->o.stopped)
		d->o.stopped(d->o.arg);
}

static void order_reconfigure(struct slurmd *d, struct request *r)
{
	struct error err = {};

	request_reply(r, &(struct empty) {});
	if (slurmd_reload(d, &err) < 0)
		log_error("the configuration is left as it was: %s", err.text);
}

static void order_ping(struct slurmd *d, struct request *r)
{
	(void)d;
	request_reply(r, &(struct empty) {});
}

static const struct order {
	uint16_t kind;
	void (*carry_out)(struct slurmd *d, struct request *r);
} orders[] = {
	{ MSG_LAUNCH, order_launch },
	{ MSG_SIGNAL_STEP, order_signal },
	{ MSG_TERMINATE_JOB, order_terminate },
	{ MSG_NODE_SHUTDOWN, order_shutdown },
	{ MSG_NODE_RECONFIGURE, order_reconfigure },
	{ MSG_PING, order_ping },
};

void orders_handle(void *arg, struct request *r)
{
	struct error err = {};

	for (size_t i = 0; i < ARRAY_COUNT(orders); i++) {
		if (orders[i].kind == r->kind) {
			orders[i].carry_out(arg, r);
			return;
		}
	}
	error_set(&err, -ENOSYS, "a node daemon does not answer message %u", r->kind);
	request_fail(r, &err);
}

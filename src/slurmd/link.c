/* SPDX-License-Identifier: Apache-2.0 */
/* link.c - the one connection to the controller.
 *
 * It is opened again whenever it ends, at first after 50 ms, then after twice as long, at most 2 s,
 * going round the controllers.  Only a controller that proves to be SlurmUser or root is obeyed.
 * On every connection the node registers with everything it holds; then ends and cleaned jobs that
 * were not acknowledged go out again, in the order in which they happened.  A heartbeat that is not
 * answered in time ends the connection. */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "conf/conf.h"
#include "host/loop.h"
#include "host/user.h"
#include "schema/errors.h"
#include "slurmd/impl.h"
#include "slurmd/inventory.h"
#include "wire/conn.h"

#include <errno.h>
#include <stdio.h>

static const usec_t BACKOFF_MIN = 50 * USEC_PER_MSEC;
static const usec_t BACKOFF_MAX = 2 * USEC_PER_SEC;
static const usec_t HEARTBEAT_DEFAULT = 30 * USEC_PER_SEC;
static const usec_t RESEND_AFTER = USEC_PER_SEC;

static usec_t patience(const struct slurmd *d)
{
	return d->conf->main.message_timeout * USEC_PER_SEC;
}

static void retry_later(struct slurmd *d)
{
	timer_start(d->retry, d->backoff, 0);
	d->backoff = d->backoff * 2 < BACKOFF_MAX ? d->backoff * 2 : BACKOFF_MAX;
	d->host++;
}

/* A controller that comes up at the same time is no trouble yet; and what is wrong is said once, not
 * every two seconds. */
static void tell_trouble(struct slurmd *d, const char *what, const char *why)
{
	char text[sizeof(d->trouble)];

	snprintf(text, sizeof(text), "%s: %s", what, why);
	if (d->backoff < BACKOFF_MAX || str_eq(text, d->trouble)) {
		log_verbose("%s", text);
		return;
	}
	log_error("%s", text);
	snprintf(d->trouble, sizeof(d->trouble), "%s", text);
}

static void on_closed(void *arg, struct conn *c, const char *why)
{
	struct slurmd *d = arg;

	(void)c;
	if (d->registered)
		log_info("the link to the controller is down: %s", why);
	else
		tell_trouble(d, "no link to the controller", why);
	d->link = NULL;
	link_close(d);
	retry_later(d);
}

/* Drops the connection by our own will and tries again. */
static void link_break(struct slurmd *d)
{
	link_close(d);
	retry_later(d);
}

void link_close(struct slurmd *d)
{
	struct held *h;

	conn_close(d->link);
	d->link = NULL;
	d->registered = false;
	if (d->retry) {
		timer_stop(d->retry);
		timer_stop(d->heartbeat);
		timer_stop(d->resend);
	}
	for (size_t i = 0; (h = map_next(&d->held, &i));) {
		h->sent = false;
		/* Whoever asked is gone with the connection; the next register lists the step. */
		held_forget_request(&h->launch);
	}
	for (size_t i = 0; i < d->clean.count; i++)
		d->clean.at[i]->sent = false;
}

/* What must be said until it is acknowledged. */

/* Refusals that no repetition will change. */
static bool is_final(const struct error *err)
{
	return err->code == -E_INVALID_JOB_ID || err->code == -E_ALREADY_DONE;
}

static void on_end_answer(void *arg, const void *reply, const struct error *err)
{
	struct held *h = arg;
	struct slurmd *d = h->d;

	if (reply || is_final(err)) {
		stepd_release(h);
		return;
	}
	h->sent = false;
	if (d->registered) {
		log_error("step %s: its end was refused: %s", h->name, err->text);
		timer_start(d->resend, RESEND_AFTER, 0);
	}
}

void link_send_end(struct held *h)
{
	struct slurmd *d = h->d;

	if (!d->registered || h->sent || h->state != HELD_ENDED)
		return;
	h->end.job_clean = held_is_last(d, h);
	h->sent = true;
	conn_call(d->link, MSG_STEP_END, &h->end, 0, on_end_answer, h);
}

static void clean_forget(struct clean *c)
{
	struct slurmd *d = c->d;

	for (size_t i = 0; i < d->clean.count; i++) {
		if (d->clean.at[i] == c) {
			vec_remove(&d->clean, i);
			break;
		}
	}
	free(c);
}

static void on_clean_answer(void *arg, const void *reply, const struct error *err)
{
	struct clean *c = arg;

	if (reply || is_final(err)) {
		clean_forget(c);
		return;
	}
	c->sent = false;
	if (c->d->registered)
		timer_start(c->d->resend, RESEND_AFTER, 0);
}

static void clean_send(struct clean *c)
{
	struct slurmd *d = c->d;

	if (!d->registered || c->sent)
		return;
	c->sent = true;
	conn_call(d->link, MSG_JOB_CLEAN,
		  &(struct job_clean) { .job_id = c->job_id, .attempt = c->attempt }, 0,
		  on_clean_answer, c);
}

void link_send_clean(struct slurmd *d, uint32_t job_id, uint32_t attempt)
{
	struct clean *c;

	for (size_t i = 0; i < d->clean.count; i++)
		if (d->clean.at[i]->job_id == job_id && d->clean.at[i]->attempt == attempt)
			return;
	c = NEW(struct clean);
	*c = (struct clean) { .d = d, .job_id = job_id, .attempt = attempt };
	vec_push(&d->clean, c);
	clean_send(c);
}

static void send_all(void *arg)
{
	struct slurmd *d = arg;
	struct held *h;

	for (size_t i = 0; (h = map_next(&d->held, &i));)
		link_send_end(h);
	for (size_t i = 0; i < d->clean.count; i++)
		clean_send(d->clean.at[i]);
}

/* Registration and heartbeats. */

static void on_heartbeat_answer(void *arg, const void *reply, const struct error *err)
{
	struct slurmd *d = arg;

	if (reply || !d->link)
		return;
	log_error("heartbeat: %s", err->text);
	link_break(d);
}

static void heartbeat(void *arg)
{
	struct slurmd *d = arg;
	AUTO_ARENA struct arena *a = arena_new();
	struct node_heartbeat beat = {};

	if (d->o.machine_root)
		inventory_load(d->o.machine_root, &beat.cpu_load, &beat.free_mem_mib);
	held_list(d, a, &beat.held, &beat.n_held);
	conn_call(d->link, MSG_NODE_HEARTBEAT, &beat, patience(d), on_heartbeat_answer, d);
}

static void on_registered(void *arg, const void *reply, const struct error *err)
{
	struct slurmd *d = arg;
	const struct node_register_reply *r = reply;
	usec_t interval;

	if (!d->link)
		return;
	if (!r) {
		d->backoff = BACKOFF_MAX;
		tell_trouble(d, "the controller does not take this node", err->text);
		link_break(d);
		return;
	}
	log_info("node %s is registered with %s", d->node->name, conn_peer_name(d->link));
	d->registered = true;
	d->trouble[0] = 0;
	d->backoff = BACKOFF_MIN;
	interval = r->heartbeat_usec ? r->heartbeat_usec : HEARTBEAT_DEFAULT;
	timer_start(d->heartbeat, interval, interval);
	send_all(d);
	if (d->o.registered)
		d->o.registered(d->o.arg);
}

/* Whoever answers on the controller's port must be the controller. */
static bool is_controller(const struct slurmd *d, const struct identity *who)
{
	uid_t slurm_user;

	if (who->uid == 0 || who->uid == d->o.uid)
		return true;
	return user_uid(d->conf->main.slurm_user, &slurm_user) == 0 && who->uid == slurm_user;
}

static void on_ready(void *arg, struct conn *c)
{
	struct slurmd *d = arg;
	AUTO_ARENA struct arena *a = arena_new();
	struct node_register reg = { .name = d->node->name, .facts = d->facts };

	if (!is_controller(d, conn_peer(c))) {
		log_error("%s is uid %u and not the controller", conn_peer_name(c),
			  conn_peer(c)->uid);
		link_break(d);
		return;
	}
	held_list(d, a, &reg.held, &reg.n_held);
	conn_call(c, MSG_NODE_REGISTER, &reg, patience(d), on_registered, d);
}

static const struct conn_handler link_handler = {
	.ready = on_ready,
	.request = orders_handle,
	.closed = on_closed,
};

static void try_now(void *arg)
{
	struct slurmd *d = arg;
	const struct conf *c = d->conf;
	struct conn_options o = {
		.loop = d->loop,
		.auth = d->auth,
		.program = "slurmd",
		.cluster = c->main.cluster_name,
		.hello_timeout = patience(d),
	};

	d->link = conn_connect_tcp(c->controller_addresses[d->host % c->controller_count],
				   (uint16_t)c->main.slurmctld_port, &o, &link_handler, d);
}

void link_open(struct slurmd *d)
{
	if (!d->retry) {
		d->retry = timer_new(d->loop, try_now, d);
		d->heartbeat = timer_new(d->loop, heartbeat, d);
		d->resend = timer_new(d->loop, send_all, d);
	}
	d->backoff = BACKOFF_MIN;
	timer_start(d->retry, 0, 0);
}

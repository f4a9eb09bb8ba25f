/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol_local.c - what scontrol answers without the controller: host lists, the daemons
 * that belong on this host, and whether controllers answer at all. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "client/show.h"
#include "cmd/scontrol.h"
#include "conf/conf.h"
#include "text/hostlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Equal names that follow each other become one. */
static void drop_repeats(struct hostlist *h)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < h->count; i++)
		if (!n || !str_eq(h->names[n - 1], h->names[i]))
			h->names[n++] = h->names[i];
	h->count = n;
}

void scontrol_show_hosts(struct scontrol *s, const char *entity, const char *value)
{
	struct hostlist h = {};
	struct error err = {};
	if (!value)
		value = getenv("SLURM_JOB_NODELIST");
	if (str_empty(value)) {
		scontrol_fail(
			s,
			"%s: error: show %s needs a host list: none is given and SLURM_JOB_NODELIST is not set",
			s->ask->program, entity);
		return;
	}
	if (hostlist_expand(value, s->ask->arena, &h, &err) < 0) {
		/* The exit code stays 0: compatibility with scripts that only look at what is printed. */
		buf_printf(&s->ask->err, "Invalid hostlist: %s (%s)\n", value, err.text);
		return;
	}
	if (str_eq(entity, "hostnames")) {
		for (uint32_t i = 0; i < h.count; i++)
			buf_printf(&s->ask->out, "%s\n", h.names[i]);
		return;
	}
	if (str_eq(entity, "hostlistsorted")) {
		hostlist_sort(&h);
		drop_repeats(&h);
	}
	hostlist_compress(h.names, h.count, &s->ask->out);
	buf_putc(&s->ask->out, '\n');
}

static bool is_this_host(const char *name)
{
	char host[256] = "";
	if (gethostname(host, sizeof(host) - 1) < 0 || str_empty(name))
		return false;
	size_t n = strcspn(host, ".");
	return str_eq(name, "localhost") || str_eq(name, host) ||
	       (strncmp(name, host, n) == 0 && !name[n]);
}

void scontrol_show_daemons(struct scontrol *s)
{
	struct error err = {};
	const struct conf *c = s->ask->conf(s->ask, &err);
	if (!c) {
		scontrol_fail(s, "%s: error: %s", s->ask->program, err.text);
		return;
	}
	bool controller = false, node = false;
	for (uint32_t i = 0; i < c->controller_count; i++)
		controller = controller || is_this_host(c->controller_names[i]);
	for (size_t i = 0; i < c->node_count; i++)
		node = node || is_this_host(str_empty(c->nodes[i].hostname) ? c->nodes[i].name
									    : c->nodes[i].hostname);
	buf_printf(&s->ask->out, "%s%s%s\n", controller ? "slurmctld" : "",
		   controller && node ? " " : "", node ? "slurmd" : "");
}

void scontrol_ping(struct scontrol *s, int argc, char **argv)
{
	if (argc > 1) {
		scontrol_fail(s, "%s takes nothing behind it, not '%s'", argv[0], argv[1]);
		return;
	}
	for (uint32_t i = 0;; i++) {
		struct error err = {};
		const char *name = NULL;
		int r = s->ask->ping(s->ask, i, &name, &err);
		if (r == -ENOENT && i)
			return;
		if (r < 0 && !name) {
			scontrol_fail(s, "%s: error: %s", s->ask->program,
				      i || *err.text ? err.text : "no controller is configured");
			return;
		}
		char role[32] = "primary";
		if (i)
			snprintf(role, sizeof(role), "backup%u", i);
		buf_printf(&s->ask->out, "Slurmctld(%s) at %s is %s\n", role, name,
			   r < 0 ? "DOWN" : "UP");
		if (r < 0)
			s->exit_code = 1;
	}
}

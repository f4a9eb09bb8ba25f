/* SPDX-License-Identifier: Apache-2.0 */
/* Where the controllers are and how to prove who one is: SlurmctldHost and AuthInfo taken apart.
 *
 *	SlurmctldHost=name            connect to the name
 *	SlurmctldHost=name(address)   connect to the address
 *	AuthInfo=socket=PATH,key=PATH,...
 *
 * With auth/slurm the socket is where a daemon of this host vouches for its users, and the key is the
 * cluster's; with auth/munge the socket is munged's. */
#include "base/arena.h"
#include "base/str.h"
#include "conf/loader.h"

#include <string.h>

#define AUTH_DEFAULT_SOCKET "/run/slurm/auth.sock"
#define AUTH_DEFAULT_KEY "slurm.key"

static const char *where_key(const struct loader *ld, const char *key)
{
	return map_get_str(&ld->seen, key);
}

static bool controller_split(struct loader *ld, const char *text, const char **name,
			     const char **address)
{
	const char *open = strchr(text, '(');
	size_t len = strlen(text);
	bool good = open ? open > text && text[len - 1] == ')' && text + len - open > 2 :
			   !strpbrk(text, ",)[]");
	if (!good) {
		report(ld, where_key(ld, "SlurmctldHost"),
		       "SlurmctldHost=%.100s: not a host: write NAME or NAME(ADDRESS), one a line", text);
		return false;
	}
	*name = open ? arena_strndup(ld->arena, text, (size_t)(open - text)) : text;
	*address = open ? arena_strndup(ld->arena, open + 1, len - (size_t)(open - text) - 2) : text;
	return true;
}

static void controllers_join(struct loader *ld)
{
	struct conf *c = ld->conf;
	uint32_t count = c->main.n_slurmctld_host;
	if (count == 0) {
		report(ld, NULL, "there is no SlurmctldHost line in '%s'", c->path);
		return;
	}
	c->controller_names = ARENA_ARRAY(ld->arena, const char *, count);
	c->controller_addresses = ARENA_ARRAY(ld->arena, const char *, count);
	for (uint32_t i = 0; i < count; i++)
		if (!controller_split(ld, c->main.slurmctld_host[i], &c->controller_names[i],
				      &c->controller_addresses[i]))
			return;
	c->controller_count = count;
}

/* What Slurm's own plugins take beside; harmless to leave alone. */
static const char *const other_options[] = { "cred_expire", "ttl", "use_client_ids", "disable_sack",
					     "id" };

static void auth_option(struct loader *ld, char *option)
{
	struct conf *c = ld->conf;
	char *value = strchr(option, '=');
	if (value)
		*value++ = '\0';
	const char **to = str_ieq(option, "socket") ? &c->auth_socket :
			  str_ieq(option, "key")    ? &c->auth_key :
						      NULL;
	if (to && !str_empty(value)) {
		*to = value;
		return;
	}
	for (size_t i = 0; !to && i < ARRAY_COUNT(other_options); i++) {
		if (str_ieq(option, other_options[i])) {
			if (!ld->client)
				remark(ld, where_key(ld, "AuthInfo"),
				       "AuthInfo=%s: understood, has no effect yet", option);
			return;
		}
	}
	report(ld, where_key(ld, "AuthInfo"), "AuthInfo=%.100s: not known: write socket=PATH or key=PATH",
	       option);
}

static void auth_join(struct loader *ld)
{
	struct conf *c = ld->conf;
	char *rest = arena_strdup(ld->arena, c->main.auth_info), *option;
	while ((option = strsep(&rest, ",")))
		if (*option)
			auth_option(ld, option);
	if (!str_eq(c->main.auth_type, "auth/slurm"))
		return;
	if (!c->auth_socket)
		c->auth_socket = AUTH_DEFAULT_SOCKET;
	if (!c->auth_key) {
		const char *slash = strrchr(c->path, '/');
		c->auth_key = arena_printf(ld->arena, "%.*s%s", slash ? (int)(slash + 1 - c->path) : 0,
					   c->path, AUTH_DEFAULT_KEY);
	}
}

void endpoint_join(struct loader *ld)
{
	controllers_join(ld);
	auth_join(ld);
}

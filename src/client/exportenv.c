/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing variables. */
#include "client/exportenv.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "client/env.h"
#include "host/user.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *value_of(char *const *from, const char *name)
{
	size_t len = strlen(name);
	for (; *from; from++)
		if (strncmp(*from, name, len) == 0 && (*from)[len] == '=')
			return *from + len + 1;
	return NULL;
}

/* Variables about the batch system pass whatever is chosen. */
static void add_own(char *const *from, struct env *ret)
{
	for (; *from; from++) {
		const char *equals = strchr(*from, '=');
		if (equals && (str_starts(*from, "SLURM_") || str_starts(*from, "SPANK_"))) {
			char name[256];
			snprintf(name, sizeof(name), "%.*s", (int)(equals - *from), *from);
			env_set(ret, name, "%s", equals + 1);
		}
	}
}

/* What a login would set, so that a job that takes nothing along still finds its home. */
static void add_login(struct env *ret)
{
	struct user_info user;
	env_set(ret, "PATH", "/usr/local/bin:/usr/bin:/bin");
	if (user_lookup(geteuid(), &user) < 0)
		return;
	env_set(ret, "HOME", "%s", user.home);
	env_set(ret, "USER", "%s", user.name);
	env_set(ret, "LOGNAME", "%s", user.name);
	env_set(ret, "SHELL", "%s", user.shell);
}

/* Cuts the next entry off at a comma outside quotes; quotes are taken out. */
static char *next_entry(const char **p, struct arena *a)
{
	if (**p == '\0')
		return NULL;
	char *out = arena_alloc(a, strlen(*p) + 1), quote = '\0';
	size_t len = 0;
	for (; **p && (quote || **p != ','); (*p)++) {
		if (quote ? **p == quote : **p == '\'' || **p == '"')
			quote = quote ? '\0' : **p;
		else
			out[len++] = **p;
	}
	*p += **p == ',';
	return out;
}

static int add_entry(char *entry, char *const *from, struct env *ret, struct error *err)
{
	char *equals = strchr(entry, '=');
	if (equals)
		*equals = '\0';
	if (*entry == '\0')
		return error_set(err, -EINVAL, "--export: an entry has no name");
	const char *value = equals ? equals + 1 : value_of(from, entry);
	if (value)
		env_set(ret, entry, "%s", value);
	return 0;
}

int export_env(const char *spec, char *const *from, struct env *ret, struct error *err)
{
	AUTO_ARENA struct arena *a = arena_new();
	if (!spec || str_ieq(spec, "ALL")) {
		env_from_environ(ret, from);
		return 0;
	}
	bool all = false, none = str_ieq(spec, "NONE"), nil = str_ieq(spec, "NIL");
	const char *p = spec;
	for (char *entry; (entry = next_entry(&p, a));)
		all |= str_ieq(entry, "ALL");
	if (all)
		env_from_environ(ret, from);
	else if (!nil)
		add_login(ret);
	add_own(from, ret);
	if (none || nil)
		return 0;
	p = spec;
	for (char *entry; (entry = next_entry(&p, a));) {
		int r = str_ieq(entry, "ALL") ? 0 : add_entry(entry, from, ret, err);
		if (r < 0)
			return r;
	}
	return 0;
}

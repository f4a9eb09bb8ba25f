/* SPDX-License-Identifier: Apache-2.0 */
#include "text/selectparams.h"

#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What is given out: one of these, with or without _Memory. */
static bool read_unit(const char *word, struct select_rules *r, unsigned *units)
{
	static const char *const names[] = { "CR_Core", "CR_CPU", "CR_Socket" };
	for (unsigned i = 0; i < ARRAY_COUNT(names); i++) {
		size_t len = strlen(names[i]);
		bool memory = str_ieq(word + (strlen(word) > len ? len : 0), "_Memory");
		if (!str_istarts(word, names[i]) || (word[len] && !memory))
			continue;
		r->by_cpu = i == 1;
		r->by_socket = i == 2;
		r->ignores_memory = !memory;
		(*units)++;
		return true;
	}
	return false;
}

static int read_word(const char *word, struct select_rules *r, unsigned *units, struct error *err)
{
	static const char *const missing[] = { "CR_Memory",           "CR_CORE_DEFAULT_DIST_BLOCK",
					       "ENFORCE_BINDING_GRES", "ONE_TASK_PER_SHARING_GRES",
					       "OTHER_CONS_TRES", "CR_NO_DIST_TOPO_BLOCK" };
	static const char *const elsewhere[] = { "NONE", "LL_SHARED_GRES", "MULTIPLE_SHARING_GRES_PJ" };
	if (read_unit(word, r, units))
		return 0;
	if (str_ieq(word, "CR_ONE_TASK_PER_CORE"))
		r->one_task_per_core = true;
	else if (str_ieq(word, "CR_Pack_Nodes"))
		r->pack_nodes = true;
	else if (str_ieq(word, "CR_LLN"))
		r->least_loaded = true;
	else {
		for (size_t i = 0; i < ARRAY_COUNT(elsewhere); i++)
			if (str_ieq(word, elsewhere[i]))
				return 0;
		for (size_t i = 0; i < ARRAY_COUNT(missing); i++)
			if (str_ieq(word, missing[i]))
				return error_set(err, -ENOTSUP, "%s is not built yet", missing[i]);
		return error_set(err, -EINVAL,
				 "'%.40s' is not known: write CR_Core, CR_CPU or CR_Socket, each with or without _Memory, "
				 "CR_ONE_TASK_PER_CORE, CR_Pack_Nodes, CR_LLN",
				 word);
	}
	return 0;
}

int select_rules_parse(const char *text, struct select_rules *ret, struct error *err)
{
	struct select_rules r = {};
	unsigned units = 0;
	for (const char *p = text; *p;) {
		char word[64];
		size_t len = strcspn(p, ",");
		snprintf(word, sizeof(word), "%.*s", (int)len, p);
		int e = len ? read_word(word, &r, &units, err) : 0;
		if (e < 0)
			return e;
		p += len + (p[len] == ',');
	}
	if (units > 1)
		return error_set(err, -EINVAL, "'%.80s': one of CR_Core, CR_CPU and CR_Socket", text);
	*ret = r;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Values of slurm.conf that are small languages of their own and steer scheduling: they are read here
 * once, so that a mistake is found when the file is checked and not when a job is submitted. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "conf/loader.h"
#include "text/licenses.h"
#include "text/selectparams.h"

static const char *where_of(struct loader *ld, const char *key)
{
	return map_get_str(&ld->seen, key);
}

static void check_licenses(struct loader *ld)
{
	struct license_list totals;
	struct error err = {};
	const char *text = ld->conf->main.licenses;
	if (text && licenses_parse_totals(text, ld->arena, &totals, &err) < 0)
		report(ld, where_of(ld, "Licenses"), "Licenses=%s: %s", text, err.text);
}

static void check_select(struct loader *ld)
{
	struct select_rules rules;
	struct error err = {};
	const char *text = ld->conf->main.select_type_parameters;
	if (text && select_rules_parse(text, &rules, &err) < 0)
		report(ld, where_of(ld, "SelectTypeParameters"), "SelectTypeParameters=%s: %s", text, err.text);
}

void policy_check(struct loader *ld)
{
	check_licenses(ld);
	check_select(ld);
}

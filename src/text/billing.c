/* SPDX-License-Identifier: Apache-2.0 */
#include "text/billing.h"

#include "base/error.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct weight {
	char name[64];
	double value; /* of one, and for memory of one MiB */
};

static int refuse(struct error *err, const char *entry, size_t len, const char *why)
{
	return error_set(err, -EINVAL, "'%.*s': %s", (int)(len < 60 ? len : 60), entry, why);
}

/* Weight for a MiB of a number that was given for a unit. */
static bool per_mib(char unit, double *value)
{
	static const char units[] = "KMGTP";
	const char *at = strchr(units, toupper((unsigned char)unit));
	if (!unit || !at)
		return false;
	double mib = 1.0 / 1024;
	for (const char *u = units; u < at; u++)
		mib *= 1024;
	*value /= mib;
	return true;
}

static bool is_known(const char *name)
{
	return str_ieq(name, "cpu") || str_ieq(name, "mem") || str_ieq(name, "node") || str_istarts(name, "gres/");
}

static int parse_entry(const char *entry, size_t len, struct weight *ret, struct error *err)
{
	const char *equals = memchr(entry, '=', len);
	size_t name = equals ? (size_t)(equals - entry) : 0;
	if (!name || name >= sizeof(ret->name))
		return refuse(err, entry, len, "want NAME=WEIGHT");
	memcpy(ret->name, entry, name);
	ret->name[name] = '\0';
	if (strchr(ret->name, ':'))
		return refuse(err, entry, len, "weights of a type of GRES are not built yet: give one for the name");
	if (!is_known(ret->name))
		return refuse(err, entry, len, "not known: CPU, Mem, Node or GRES/name");
	char text[32], *end;
	size_t digits = len - name - 1;
	if (digits == 0 || digits >= sizeof(text))
		return refuse(err, entry, len, "want NAME=WEIGHT");
	memcpy(text, equals + 1, digits);
	text[digits] = '\0';
	ret->value = isdigit((unsigned char)*text) || *text == '.' ? strtod(text, &end) : -1;
	if (ret->value < 0 || !(ret->value < 1e12))
		return refuse(err, entry, len, "the weight is no number");
	if (*end && (end[1] || !str_ieq(ret->name, "mem") || !per_mib(*end, &ret->value)))
		return refuse(err, entry, len, "only the weight of memory has a unit: K, M, G, T or P");
	return 0;
}

static int next(const char **at, struct weight *ret, struct error *err)
{
	size_t len = strcspn(*at, ",");
	int e = parse_entry(*at, len, ret, err);
	*at += len + ((*at)[len] == ',');
	return e;
}

int billing_check(const char *weights, struct error *err)
{
	struct weight w;
	for (const char *p = weights; *p;) {
		int e = next(&p, &w, err);
		if (e < 0)
			return e;
	}
	return 0;
}

static double part_of(const struct weight *w, const struct billing_counts *c)
{
	if (str_ieq(w->name, "cpu"))
		return w->value * (double)c->cpus;
	if (str_ieq(w->name, "mem"))
		return w->value * (double)c->mem_mib;
	if (str_ieq(w->name, "node"))
		return w->value * (double)c->nodes;
	for (size_t i = 0; i < c->gres_count; i++)
		if (str_ieq(w->name + strlen("gres/"), c->gres[i].name))
			return w->value * (double)c->gres[i].count;
	return 0;
}

uint64_t billing(const char *weights, bool by_largest, const struct billing_counts *c)
{
	double sum = 0, largest = 0;
	struct weight w;
	if (str_empty(weights))
		return c->cpus;
	for (const char *p = weights; *p;) {
		if (next(&p, &w, NULL) < 0)
			continue;
		double part = part_of(&w, c);
		sum += part;
		largest = part > largest ? part : largest;
	}
	return (uint64_t)(by_largest ? largest : sum);
}

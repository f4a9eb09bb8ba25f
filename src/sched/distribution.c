/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/distribution.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

#define WORD_MAX 64

static int bad(const char *text, struct error *err)
{
	return error_set(err, -EINVAL,
			 "'%s' is no distribution, say block, cyclic, plane=n or arbitrary for the nodes, then "
			 "perhaps :block, :cyclic or :fcyclic for the sockets and for the cores, then perhaps "
			 ",Pack or ,NoPack",
			 text);
}

static int parse_nodes(const char *word, const char *text, struct distribution *d, struct error *err)
{
	if (str_eq(word, "*"))
		d->nodes = DIST_NODES_DEFAULT;
	else if (str_ieq(word, "block"))
		d->nodes = DIST_NODES_BLOCK;
	else if (str_ieq(word, "cyclic"))
		d->nodes = DIST_NODES_CYCLIC;
	else if (str_ieq(word, "arbitrary"))
		d->nodes = DIST_NODES_ARBITRARY;
	else if (str_istarts(word, "plane=")) {
		d->nodes = DIST_NODES_PLANE;
		if (str_to_u32(word + strlen("plane="), &d->plane) < 0 || d->plane == 0)
			return error_set(err, -EINVAL, "'%s': plane= needs a number of tasks from 1 up", text);
	} else if (str_ieq(word, "plane"))
		return error_set(err, -EINVAL,
				 "'%s': the size of the plane is missing, as in plane=4 or in "
				 "SLURM_DIST_PLANESIZE",
				 text);
	else
		return bad(text, err);
	return 0;
}

static int parse_level(const char *word, const char *text, enum dist_level *level, struct error *err)
{
	if (str_ieq(word, "block"))
		*level = DIST_LEVEL_BLOCK;
	else if (str_ieq(word, "cyclic"))
		*level = DIST_LEVEL_CYCLIC;
	else if (str_ieq(word, "fcyclic"))
		*level = DIST_LEVEL_FCYCLIC;
	else if (!str_eq(word, "*"))
		return bad(text, err);
	return 0;
}

static int parse_pack(const char *word, const char *text, struct distribution *d, struct error *err)
{
	d->pack = str_ieq(word, "pack");
	d->no_pack = str_ieq(word, "nopack");
	return d->pack || d->no_pack ? 0 : bad(text, err);
}

int distribution_parse(const char *text, struct distribution *ret, struct error *err)
{
	struct distribution d = { .sockets = DIST_LEVEL_CYCLIC };
	char word[WORD_MAX], until = ':';
	const char *p = text ? text : "";
	int r = 0;
	for (int level = 0; r == 0 && *p; level++) {
		size_t len = strcspn(p, ":,");
		if (len >= sizeof(word) || (level == 3 && until == ':'))
			return bad(text, err);
		memcpy(word, p, len);
		word[len] = '\0';
		if (until == ',')
			r = parse_pack(word, text, &d, err);
		else if (level == 0)
			r = parse_nodes(word, text, &d, err);
		else
			r = parse_level(word, text, level == 1 ? &d.sockets : &d.cores, err);
		if (level <= 1) /* the cores do as the sockets do */
			d.cores = d.sockets;
		if (p[len] && (until == ',' || !p[len + 1]))
			return bad(text, err);
		until = p[len];
		p += len + (p[len] != '\0');
	}
	if (!*(text ? text : ""))
		d.cores = d.sockets;
	if (r == 0)
		*ret = d;
	return r;
}

struct distribution distribution_of(const char *text)
{
	struct distribution d = { .sockets = DIST_LEVEL_CYCLIC, .cores = DIST_LEVEL_CYCLIC };
	struct error err = {};
	if (distribution_parse(text, &d, &err) < 0)
		d = (struct distribution){ .sockets = DIST_LEVEL_CYCLIC, .cores = DIST_LEVEL_CYCLIC };
	return d;
}

const char *distribution_word(const struct distribution *d, uint32_t ntasks, uint32_t nodes)
{
	switch (d->nodes) {
	case DIST_NODES_BLOCK:
		return "block";
	case DIST_NODES_CYCLIC:
		return "cyclic";
	case DIST_NODES_PLANE:
		return "plane";
	case DIST_NODES_ARBITRARY:
		return "arbitrary";
	case DIST_NODES_DEFAULT:
		break;
	}
	return ntasks > nodes ? "block" : "cyclic";
}

void distribution_print(const char *text, uint32_t ntasks, uint32_t nodes, struct buf *out)
{
	struct distribution d = distribution_of(text);
	buf_puts(out, distribution_word(&d, ntasks, nodes));
	buf_puts(out, text && strpbrk(text, ":,") ? strpbrk(text, ":,") : "");
}

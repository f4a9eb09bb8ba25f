/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-conf.c - a whole configuration.  The input is slurm.conf; a line `@NAME` begins another file of its directory.
 * What is accepted hangs together: partitions have nodes that exist, CPUs fit sockets and cores, and
 * everything can be shown. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "conf/conf.h"
#include "schema/messages.h"
#include "text/hostlist.h"

#include "fuzz.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define DIR "/etc/slurm/"
enum { GRES_NODES_MAX = 64 };

/* The part of the input that is the file `name`; NULL when it has none. */
static const char *find_part(const char *input, const char *name, size_t *ret_len)
{
	size_t name_len = strlen(name);
	const char *at = strcmp(name, "slurm.conf") == 0 ? input : NULL;
	for (const char *p = input; !at && (p = strstr(p, "\n@")); p++)
		if (strncmp(p + 2, name, name_len) == 0 && p[2 + name_len] == '\n')
			at = p + 3 + name_len;
	if (!at)
		return NULL;
	const char *end = strstr(at, "\n@");
	*ret_len = end ? (size_t)(end - at) : strlen(at);
	return at;
}

static int read_part(void *arg, const char *path, struct buf *ret)
{
	size_t len, skip = strncmp(path, DIR, strlen(DIR)) == 0 ? strlen(DIR) : 0;
	const char *part = find_part(arg, path + skip, &len);
	if (!part)
		return -ENOENT;
	buf_put(ret, part, len);
	return 0;
}

static void check_nodes(const struct conf *c, struct arena *a)
{
	for (size_t i = 0; i < c->node_count; i++) {
		const struct node_conf *n = &c->nodes[i];
		uint32_t cores = n->sockets * n->cores_per_socket;
		assert(conf_node(c, n->name) == n);
		assert(n->cpus >= 1 &&
		       (n->cpus == cores || n->cpus == cores * n->threads_per_core));
		struct node_gres *gres;
		uint32_t count;
		struct error err = {};
		if (i < GRES_NODES_MAX && conf_node_gres(c, n, a, &gres, &count, &err) < 0)
			assert(err.text[0]);
	}
}

static void check_partitions(const struct conf *c, struct arena *a)
{
	for (size_t i = 0; i < c->partition_count; i++) {
		const struct partition_conf *p = &c->partitions[i];
		struct hostlist names = {};
		assert(conf_partition(c, p->name) == p);
		int r = p->nodes ? hostlist_expand(p->nodes, a, &names, NULL) : 0;
		assert(r == 0);
		for (uint32_t k = 0; k < names.count; k++)
			assert(conf_node(c, names.names[k]));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA struct arena *a = arena_new();
	char *text = fuzz_text(a, data, size);
	AUTO_BUF struct buf out = {};
	AUTO_CONF struct conf *c = NULL;
	struct error err = {};
	int loaded = conf_load_with(DIR "slurm.conf", read_part, text, &c, &err);
	int checked = conf_check_print_with(DIR "slurm.conf", read_part, text, &out);
	assert((loaded < 0) == (checked < 0));
	if (loaded < 0) {
		assert(err.code < 0 && err.text[0] && out.len);
		return 0;
	}
	check_nodes(c, a);
	check_partitions(c, a);
	struct conf_line *lines;
	uint32_t count;
	conf_show(c, 0, 1, a, &lines, &count);
	assert(count > 100);
	return 0;
}

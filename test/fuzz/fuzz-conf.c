/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-conf.c - any bytes as slurm.conf, gres.conf and topology.conf: refused with a reason or read. */
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "conf/conf.h"
#include "fuzz.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

struct input {
	const uint8_t *data;
	size_t size, cut; /* the files, one after the other */
};

/* A zero byte ends the first file; what follows is gres.conf, or whatever else is asked for. */
static int read_file(void *arg, const char *path, struct buf *ret)
{
	const struct input *in = arg;

	if (str_ends(path, "slurm.conf"))
		buf_put(ret, in->data, in->cut);
	else if (in->cut < in->size)
		buf_put(ret, in->data + in->cut + 1, in->size - in->cut - 1);
	else
		return -ENOENT;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = memchr(data, 0, size);
	struct input in = { data, size, zero ? (size_t)(zero - data) : size };
	struct error err = {};
	struct conf *c = NULL;

	int r = conf_load_with("/etc/slurm/slurm.conf", read_file, &in, &c, &err);
	assert(r <= 0 && (r == 0 || err.text[0]));
	if (r == 0) {
		AUTO_ARENA struct arena *a = arena_new();
		struct node_gres *gres;
		uint32_t n;
		for (size_t i = 0; i < c->node_count && i < 16; i++)
			(void)!conf_node_gres(c, &c->nodes[i], a, &gres, &n, &err);
		conf_free(c);
	}
	AUTO_BUF struct buf out = {};
	(void)!conf_check_print_with("/etc/slurm/slurm.conf", read_file, &in, &out);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* %h and %n in the paths of node daemons, so that several can run on one machine. */
#include "base/arena.h"
#include "base/buf.h"
#include "conf/conf.h"

#include <string.h>

char *conf_expand_path(const char *pattern, const struct node_conf *n, struct arena *a)
{
	AUTO_BUF struct buf out = {};
	for (const char *p = pattern; *p; p++) {
		const char *hostname = n->hostname ? n->hostname : n->name;
		if (p[0] == '%' && p[1] == 'h')
			buf_put(&out, hostname, strcspn(hostname, "."));
		else if (p[0] == '%' && p[1] == 'n')
			buf_puts(&out, n->name);
		else if (p[0] == '%' && p[1] == '%')
			buf_putc(&out, '%');
		else {
			buf_putc(&out, *p);
			continue;
		}
		p++;
	}
	return arena_strdup(a, buf_text(&out));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file of node names; a line may hold a hostlist, `#` starts a comment. */
#include "client/nodefile.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "host/file.h"
#include "text/hostlist.h"

#include <errno.h>
#include <string.h>

enum { NODEFILE_MAX = 16 << 20 };

int nodefile_read(const char *path, struct arena *a, const char **ret, struct error *err)
{
	AUTO_BUF struct buf file = {}, names = {};
	int r = file_read(path, NODEFILE_MAX, &file);
	if (r < 0)
		return error_set(err, r, "cannot read '%s': %s", path, strerror(-r));
	char *save = NULL;
	for (char *line = strtok_r((char *)file.data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *words = NULL;
		line[strcspn(line, "#")] = '\0';
		for (char *w = strtok_r(line, " \t\r", &words); w;
		     w = strtok_r(NULL, " \t\r", &words))
			buf_printf(&names, "%s%s", names.len ? "," : "", w);
	}
	struct hostlist list;
	r = hostlist_expand(buf_text(&names), a, &list, err);
	if (r < 0)
		return error_wrap(err, r, "%s", path);
	if (list.count == 0)
		return error_set(err, -EINVAL, "'%s' names no node", path);
	*ret = arena_strdup(a, buf_text(&names));
	return 0;
}

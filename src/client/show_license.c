/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol show license: all licences here are counted by the controller itself, none by a server. */
#include "base/buf.h"
#include "client/show.h"
#include "client/job_text.h"
#include "schema/node.h"

void show_license(const struct license *l, const struct show_context *c, struct buf *out)
{
	uint64_t left = l->total > l->used ? l->total - l->used : 0;
	buf_printf(out, "LicenseName=%s%s", l->name, c->one_line ? " " : "\n    ");
	buf_printf(out, "Total=%llu Used=%llu Free=%llu Reserved=0 Remote=no\n", (unsigned long long)l->total,
		   (unsigned long long)l->used, (unsigned long long)left);
}

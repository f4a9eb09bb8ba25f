/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-text.c - the small languages of text/: any text is refused or understood, and what was
 * understood prints as something that is understood as the same.  The first byte chooses the language,
 * so that one seed file can serve all: h hostlist, t time limit, d date, m memory, k count, g gres,
 * G gpus, a array, c counts, f file name, s signal. */
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "fuzz.h"
#include "text/counts.h"
#include "text/date.h"
#include "text/duration.h"
#include "text/filename.h"
#include "text/gres.h"
#include "text/hostlist.h"
#include "text/idset.h"
#include "text/signame.h"
#include "text/size.h"

#include <assert.h>

static void hostlist(struct arena *a, const char *text, struct error *err)
{
	AUTO_BUF struct buf out = {};
	struct hostlist one, two;

	if (hostlist_expand(text, a, &one, err) < 0 || one.count > 10000)
		return;
	hostlist_compress(one.names, one.count, &out);
	int r = hostlist_expand(buf_text(&out), a, &two, err);
	assert(r == 0 && one.count == two.count);
	for (uint32_t i = 0; i < one.count; i++)
		assert(str_eq(one.names[i], two.names[i]));
}

static void duration(const char *text, struct error *err)
{
	char printed[DURATION_TEXT];
	usec_t one, two;

	if (duration_parse_limit(text, &one, err) < 0 || one == DURATION_UNLIMITED)
		return;
	duration_print_long(one, printed);
	int r = duration_parse_limit(printed, &two, err);
	assert(r == 0 && one == two);
}

static void gres(struct arena *a, const char *text, struct error *err)
{
	AUTO_BUF struct buf out = {};
	struct gres_spec *one, *two;
	uint32_t n, m;

	if (gres_parse(text, a, &one, &n, err) < 0)
		return;
	for (uint32_t i = 0; i < n; i++) {
		if (str_ieq(one[i].name, "gres"))
			return; /* its print reads as the prefix "gres:" */
		buf_puts(&out, i ? "," : "");
		gres_print(&one[i], "", &out);
	}
	int r = gres_parse(buf_text(&out), a, &two, &m, err);
	assert(r == 0 && n == m);
	for (uint32_t i = 0; i < n; i++)
		assert(str_eq(one[i].name, two[i].name) && str_eq(one[i].type, two[i].type) &&
		       one[i].count == two[i].count);
}

static void array(struct arena *a, const char *text, struct error *err)
{
	AUTO_BUF struct buf out = {};
	struct array_spec one, two;

	if (array_parse(text, 1000001, a, &one, err) < 0)
		return;
	idset_print(one.ids.ranges, one.ids.count, UINT32_MAX, &out);
	int r = array_parse(buf_text(&out), 1000001, a, &two, err);
	assert(r == 0 && one.total == two.total && one.min == two.min && one.max == two.max);
}

static void counts(struct arena *a, const char *text, struct error *err)
{
	AUTO_BUF struct buf out = {};
	uint32_t *one, *two, n, m;

	if (counts_parse(text, a, &one, &n, err) < 0)
		return;
	counts_print(one, n, &out);
	int r = counts_parse(buf_text(&out), a, &two, &m, err);
	assert(r == 0 && n == m);
	for (uint32_t i = 0; i < n; i++)
		assert(one[i] == two[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct filename_values values = { .job_id = 7, .step_name = "batch", .node_name = "n1",
						.user = "u", .job_name = "j" };
	AUTO_ARENA struct arena *a = arena_new();
	struct gres_spec *list;
	struct error err = {};
	uint64_t big;
	uint32_t n;
	usec_t when;
	int signo;

	if (size == 0)
		return 0;
	const char *text = fuzz_text(a, data + 1, size - 1);
	switch (data[0]) {
	case 'h': hostlist(a, text, &err); break;
	case 't': duration(text, &err); break;
	case 'd': (void)!date_parse(text, 1800000000 * USEC_PER_SEC, &when, &err); break;
	case 'm': (void)!size_parse_mib(text, &big, &err); break;
	case 'k': (void)!count_parse(text, &big, &err); break;
	case 'g': gres(a, text, &err); break;
	case 'G': (void)!gres_parse_counts(text, "gpu", a, &list, &n, &err); break;
	case 'a': array(a, text, &err); break;
	case 'c': counts(a, text, &err); break;
	case 'f': (void)filename_expand(text, &values, a); break;
	case 's': (void)!signame_parse(text, &signo); break;
	default: break;
	}
	return 0;
}

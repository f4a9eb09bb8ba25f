/* SPDX-License-Identifier: Apache-2.0 */
/* import.c - `muster up --conf FILE`: somebody's configuration as the shape of a virtual cluster.
 *
 * The file is checked by conf/ first, so that its mistakes are reported with its own lines.  Then it
 * is copied as text: words stay as they were written, Include is followed, and only what ties the
 * configuration to its machines is replaced: controller and node addresses, ports, directories, log
 * and pid files, and the authentication (muster up brings its own key).  gres.conf is copied the same
 * way; device files that this machine does not have become empty files in D/dev of the same name.
 * topology.conf, topology.yaml and cgroup.conf are copied as they are. */
#include "cmd/muster/muster.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "host/file.h"
#include "text/hostlist.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { INCLUDE_DEPTH = 8 };

/* Keys of slurm.conf that the site says itself. */
static const char *const site_keys[] = {
	"SlurmctldHost",    "SlurmctldAddr",   "ControlMachine",    "ControlAddr",
	"BackupController", "BackupAddr",      "SlurmctldPort",     "SlurmdPort",
	"SlurmUser",        "SlurmdUser",      "AuthType",          "AuthInfo",
	"StateSaveLocation", "SlurmdSpoolDir", "SlurmctldPidFile",  "SlurmdPidFile",
	"SlurmctldLogFile", "SlurmdLogFile",   "SlurmdParameters",
};
static const char *const node_keys[] = { "NodeAddr", "NodeHostname", "NodeHostName", "Port", "BcastAddr" };

/* The words of a line. */
struct words {
	VEC(char *) all;
};

typedef int (*line_fn)(const struct site *s, struct words *line, struct buf *out, struct error *err);

static int copy_file(const struct site *s, const char *path, line_fn fn, int depth, struct buf *out,
		     struct error *err);
static int slurm_line(const struct site *s, struct words *line, struct buf *out, struct error *err);
static int gres_line(const struct site *s, struct words *line, struct buf *out, struct error *err);
static int plain_line(const struct site *s, struct words *line, struct buf *out, struct error *err);

static int copy_sibling(const struct site *s, const char *path, const char *name, line_fn fn,
			struct error *err)
{
	AUTO_BUF struct buf text = {};
	const char *slash = strrchr(path, '/');
	const char *from = arena_printf(s->arena, "%.*s/%s", (int)(slash - path), path, name);

	if (access(from, F_OK) < 0)
		return 0;
	int r = copy_file(s, from, fn, 0, &text, err);
	return r < 0 ? r : text_write(site_path(s, "etc/%s", name), 0644, &text, err);
}

/* Byte for byte, where blanks mean something. */
static int copy_as_it_is(const struct site *s, const char *path, const char *name, struct error *err)
{
	AUTO_BUF struct buf text = {};
	const char *slash = strrchr(path, '/');
	const char *from = arena_printf(s->arena, "%.*s/%s", (int)(slash - path), path, name);
	int r = file_read(from, 64 << 20, &text);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return error_set(err, r, "cannot read '%s': %s", from, strerror(-r));
	return text_write(site_path(s, "etc/%s", name), 0644, &text, err);
}

int import_config(struct site *s, const char *path, uint16_t port, struct buf *ret, struct error *err)
{
	struct conf *c = NULL;

	int r = conf_load(path, &c, err);
	if (r < 0)
		return r;
	conf_free(c);
	r = copy_file(s, path, slurm_line, 0, ret, err);
	if (r < 0)
		return r;
	config_put_site(s, port, ret);
	r = copy_sibling(s, path, "gres.conf", gres_line, err);
	if (r == 0)
		r = copy_sibling(s, path, "topology.conf", plain_line, err);
	if (r == 0)
		r = copy_as_it_is(s, path, "topology.yaml", err);
	if (r == 0)
		r = copy_sibling(s, path, "cgroup.conf", plain_line, err);
	return r;
}

/* Cuts a line at blanks that are outside quotes; a '#' outside quotes ends it. */
static void split(struct arena *a, const char *line, struct words *ret)
{
	ret->all.count = 0;
	for (const char *p = line; *p;) {
		while (isspace((unsigned char)*p))
			p++;
		const char *start = p;
		for (char quote = 0; *p && (quote || (!isspace((unsigned char)*p) && *p != '#')); p++)
			if (*p == '"')
				quote = quote ? 0 : '"';
		if (p > start)
			vec_push(&ret->all, arena_strndup(a, start, (size_t)(p - start)));
		if (*p == '#')
			return;
	}
}

static bool key_is(const char *word, const char *key)
{
	size_t n = strlen(key);

	return str_istarts(word, key) && word[n] == '=';
}

static bool key_among(const char *word, const char *const *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (key_is(word, keys[i]))
			return true;
	return false;
}

/* One line after continuations were joined. */
static int take_line(const struct site *s, const char *path, const char *line, line_fn fn, int depth,
		     struct buf *out, struct error *err)
{
	struct words w = {};
	int r = 0;

	split(s->arena, line, &w);
	if (w.all.count == 2 && str_ieq(w.all.at[0], "Include")) {
		const char *slash = strrchr(path, '/');
		const char *from = w.all.at[1][0] == '/' ? w.all.at[1]
						     : arena_printf(s->arena, "%.*s/%s", (int)(slash - path),
								    path, w.all.at[1]);
		r = copy_file(s, from, fn, depth + 1, out, err);
	} else if (w.all.count > 0) {
		r = fn(s, &w, out, err);
	}
	vec_done(&w.all);
	return r;
}

static int copy_file(const struct site *s, const char *path, line_fn fn, int depth, struct buf *out,
		     struct error *err)
{
	AUTO_BUF struct buf text = {};
	AUTO_BUF struct buf line = {};

	if (depth > INCLUDE_DEPTH)
		return error_set(err, -ELOOP, "%s: Include goes deeper than %d files", path, INCLUDE_DEPTH);
	int r = file_read(path, TEXT_MAX, &text);
	if (r < 0)
		return error_set(err, r, "cannot read '%s': %s", path, strerror(-r));
	for (const char *p = buf_text(&text); *p;) {
		size_t n = strcspn(p, "\n");
		size_t keep = n > 0 && p[n - 1] == '\r' ? n - 1 : n;
		bool goes_on = keep > 0 && p[keep - 1] == '\\';
		buf_put(&line, p, goes_on ? keep - 1 : keep);
		p += p[n] ? n + 1 : n;
		if (goes_on && *p)
			continue;
		r = take_line(s, path, buf_text(&line), fn, depth, out, err);
		if (r < 0)
			return r;
		buf_clear(&line);
	}
	return 0;
}

static int plain_line(const struct site *s, struct words *line, struct buf *out, struct error *err)
{
	(void)s;
	(void)err;
	for (size_t i = 0; i < line->all.count; i++)
		buf_printf(out, "%s%s", i ? " " : "", line->all.at[i]);
	buf_putc(out, '\n');
	return 0;
}

static int slurm_line(const struct site *s, struct words *line, struct buf *out, struct error *err)
{
	bool is_node = key_is(line->all.at[0], "NodeName");
	bool is_record = is_node || key_is(line->all.at[0], "PartitionName") ||
			 key_is(line->all.at[0], "NodeSet") || key_is(line->all.at[0], "DownNodes");
	size_t kept = 0;

	for (size_t i = 0; i < line->all.count; i++) {
		bool drop = is_node ? key_among(line->all.at[i], node_keys, ARRAY_COUNT(node_keys))
				    : !is_record && key_among(line->all.at[i], site_keys,
							      ARRAY_COUNT(site_keys));
		if (!drop)
			line->all.at[kept++] = line->all.at[i];
	}
	line->all.count = kept;
	if (is_node) {
		vec_push(&line->all, arena_strdup(s->arena, "NodeAddr=127.0.0.1"));
		vec_push(&line->all, arena_strdup(s->arena, "NodeHostname=localhost"));
	}
	return line->all.count > 0 ? plain_line(s, line, out, err) : 0;
}

/* File=/dev/nvidia[0-3] stays when this machine has all of them; otherwise the cluster gets its own. */
static int own_devices(const struct site *s, char **word, size_t key_len, struct error *err)
{
	AUTO_BUF struct buf list = {};
	struct hostlist files;
	bool have_all = true;

	int r = hostlist_expand(*word + key_len, s->arena, &files, err);
	if (r < 0)
		return error_wrap(err, r, "gres.conf: %s", *word);
	for (uint32_t i = 0; i < files.count; i++)
		have_all = have_all && access(files.names[i], F_OK) == 0;
	if (have_all)
		return 0;
	for (uint32_t i = 0; i < files.count; i++) {
		const char *slash = strrchr(files.names[i], '/');
		const char *path = site_path(s, "dev/%s", slash ? slash + 1 : files.names[i]);
		AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (fd < 0)
			return error_set(err, -errno, "cannot create '%s': %s", path, strerror(errno));
		files.names[i] = arena_strdup(s->arena, path);
	}
	hostlist_compress(files.names, files.count, &list);
	*word = arena_printf(s->arena, "%.*s%s", (int)key_len, *word, buf_text(&list));
	return 0;
}

static int gres_line(const struct site *s, struct words *line, struct buf *out, struct error *err)
{
	for (size_t i = 0; i < line->all.count; i++) {
		if (!key_is(line->all.at[i], "File") && !key_is(line->all.at[i], "MultipleFiles"))
			continue;
		int r = own_devices(s, &line->all.at[i], strcspn(line->all.at[i], "=") + 1, err);
		if (r < 0)
			return r;
	}
	return plain_line(s, line, out, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reading batch scripts.  The text is kept as it is; only #SBATCH lines are looked into. */
#include "client/script.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "client/options.h"
#include "host/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* Where `name` is, or NULL. */
static const char *find_script(const char *name, const char *path_var, struct arena *a)
{
	char cwd[4096];
	if (name[0] == '/')
		return name;
	const char *here = getcwd(cwd, sizeof(cwd)) ? arena_printf(a, "%s/%s", cwd, name) : name;
	if (strchr(name, '/') || is_file(here))
		return here;
	for (const char *p = path_var; p && *p;) {
		size_t len = strcspn(p, ":");
		const char *file = arena_printf(a, "%.*s/%s", (int)len, p, name);
		if (len && is_file(file) && access(file, R_OK) == 0)
			return file;
		p += len + (p[len] == ':');
	}
	return NULL;
}

static void take_text(struct buf *text, struct arena *a, struct script *ret)
{
	ret->len = text->len;
	ret->text = arena_strndup(a, "", 0);
	if (text->len) {
		ret->text = arena_alloc(a, text->len + 1);
		memcpy(ret->text, text->data, text->len);
	}
}

static int too_long(const char *name, struct error *err)
{
	return error_set(err, -EFBIG, "the script '%s' is longer than %d MiB", name,
			 SCRIPT_MAX >> 20);
}

int script_load(const char *name, const char *path_var, struct arena *a, struct script *ret,
		struct error *err)
{
	AUTO_BUF struct buf text = {};
	const char *path = find_script(name, path_var, a);
	if (!path)
		return error_set(err, -ENOENT, "there is no script '%s' here or in PATH", name);
	int r = file_read(path, SCRIPT_MAX, &text);
	if (r == -EFBIG)
		return too_long(name, err);
	if (r < 0)
		return error_set(err, r, "cannot read the script '%s': %s", name, strerror(-r));
	*ret = (struct script) { .name = name, .path = path };
	take_text(&text, a, ret);
	return 0;
}

int script_read_fd(int fd, struct arena *a, struct script *ret, struct error *err)
{
	AUTO_BUF struct buf text = {};
	for (;;) {
		buf_reserve(&text, 65536);
		ssize_t n = read(fd, text.data + text.len, 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, -errno,
					 "cannot read the script from standard input: %s",
					 strerror(errno));
		if (n == 0)
			break;
		text.len += (size_t)n;
		if (text.len > SCRIPT_MAX)
			return too_long("stdin", err);
	}
	*ret = (struct script) { .name = "stdin" };
	take_text(&text, a, ret);
	return 0;
}

void script_wrap(const char *command, struct arena *a, struct script *ret)
{
	*ret = (struct script) { .name = "wrap" };
	ret->text = arena_printf(
		a, "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n%s\n", command);
	ret->len = strlen(ret->text);
}

int script_check(const struct script *s, struct error *err)
{
	if (s->len == 0)
		return error_set(err, -EINVAL, "the script '%s' is empty", s->name);
	if (s->len < 2 || memcmp(s->text, "#!", 2) != 0)
		return error_set(
			err, -EINVAL,
			"'%s' is no batch script: its first line must be #! and an interpreter, "
			"as in #!/bin/bash",
			s->name);
	if (memchr(s->text, '\0', s->len))
		return error_set(err, -EINVAL, "the script '%s' has zero bytes in it", s->name);
	if (memmem(s->text, s->len, "\r\n", 2))
		return error_set(
			err, -EINVAL,
			"the script '%s' has DOS line ends (\\r\\n); dos2unix or sed 's/\\r$//' "
			"takes them out",
			s->name);
	return 0;
}

/* ---- #SBATCH lines ----------------------------------------------------------------------------- */

/* One word from *p on, without its quotes; NULL at the end of the line. */
static char *next_word(const char **p, const char *end, struct arena *a, bool *ret_open)
{
	while (*p < end && strchr(" \t", **p))
		(*p)++;
	if (*p == end || **p == '#')
		return NULL;
	char *word = arena_alloc(a, (size_t)(end - *p) + 1), quote = '\0';
	size_t len = 0;
	for (; *p < end && (quote || !strchr(" \t", **p)); (*p)++) {
		if (quote ? **p == quote : strchr("'\"", **p) != NULL)
			quote = quote ? '\0' : **p;
		else if (**p == '\\' && quote != '\'' && *p + 1 < end)
			word[len++] = *++*p;
		else
			word[len++] = **p;
	}
	*ret_open = quote != '\0';
	return word;
}

static int scan_line(const char *line, const char *end, const char *where, struct options *o,
		     struct error *err)
{
	VEC(char *) words = {};
	bool open = false;
	for (char *w; (w = next_word(&line, end, o->arena, &open));)
		vec_push(&words, w);
	int r = 0;
	if (open) {
		o->exit_code = OPTION_EXIT_USAGE;
		r = error_set(err, -EINVAL, "%s: a quote is not closed", where);
	} else if (words.count == 1 && str_ieq(words.at[0], "hetjob")) {
		o->exit_code = OPTION_EXIT_USAGE;
		r = error_set(err, -ENOTSUP,
			      "%s: heterogeneous jobs are not supported by this version of Muster",
			      where);
	} else {
		r = options_scan_line(o, (int)words.count, words.at, where, err);
	}
	vec_done(&words);
	return r;
}

static bool is_blank(const char *p, const char *end)
{
	while (p < end && strchr(" \t\r", *p))
		p++;
	return p == end;
}

int script_scan(const struct script *s, struct options *o, struct error *err)
{
	static const char mark[] = "#SBATCH";
	const size_t mark_len = sizeof(mark) - 1;
	const char *end = s->text + s->len;
	unsigned number = 1;
	for (const char *line = s->text; line < end; number++) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop ? stop : end;
		if (*line != '#' && !is_blank(line, stop))
			return 0;
		size_t len = (size_t)(stop - line);
		if (len > mark_len && memcmp(line, mark, mark_len) == 0 &&
		    strchr(" \t", line[mark_len])) {
			const char *where = arena_printf(o->arena, "%s:%u", s->name, number);
			int r = scan_line(line + mark_len, stop, where, o, err);
			if (r < 0)
				return r;
		}
		line = stop + 1;
	}
	return 0;
}

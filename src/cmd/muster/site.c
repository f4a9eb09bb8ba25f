/* SPDX-License-Identifier: Apache-2.0 */
/* site.c - the directory of a virtual cluster: where it is, whether it can be used, and its lock.
 *
 * D ends up in slurm.conf (File=, AuthInfo=socket=), in shell text (D/env) and in socket addresses;
 * each has characters or lengths it cannot take, so they are refused here, before anything is made. */
#include "cmd/muster/muster.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int default_dir(struct arena *a, const char **ret, struct error *err);
static int check_characters(const char *dir, struct error *err);
static int find_bin(struct site *s, struct error *err);

int site_open(struct site *s, struct arena *a, const char *dir, struct error *err)
{
	*s = (struct site){ .arena = a, .lock = -1 };
	if (!dir) {
		int r = default_dir(a, &dir, err);
		if (r < 0)
			return r;
	}
	if (str_empty(dir))
		return error_set(err, -EINVAL, "--dir needs the name of a directory");

	char cwd[PATH_MAX] = "";
	if (dir[0] != '/' && !getcwd(cwd, sizeof(cwd)))
		return error_set(err, -errno, "cannot tell the current directory: %s", strerror(errno));
	char *root = dir[0] == '/' ? arena_strdup(a, dir) : arena_printf(a, "%s/%s", cwd, dir);
	for (size_t n = strlen(root); n > 1 && root[n - 1] == '/'; n--)
		root[n - 1] = '\0';
	/* What exists is named as the kernel names it, so that one cluster has one name. */
	char real[PATH_MAX];
	s->root = realpath(root, real) ? arena_strdup(a, real) : root;
	s->conf = site_path(s, "etc/slurm.conf");

	int r = check_characters(s->root, err);
	return r < 0 ? r : find_bin(s, err);
}

static int default_dir(struct arena *a, const char **ret, struct error *err)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	if (!str_empty(state) && state[0] == '/') {
		*ret = arena_printf(a, "%s/muster/default", state);
		return 0;
	}
	if (str_empty(home)) {
		const struct passwd *pw = getpwuid(getuid());
		home = pw ? pw->pw_dir : NULL;
	}
	if (str_empty(home))
		return error_set(err, -ENOENT, "there is no home directory; say where with --dir");
	*ret = arena_printf(a, "%s/.local/state/muster/default", home);
	return 0;
}

static int check_characters(const char *dir, struct error *err)
{
	static const char bad[] = " \t\n\"'\\#%[],=$`";
	size_t n = strcspn(dir, bad);

	if (!dir[n])
		return 0;
	return error_set(err, -EINVAL,
			 "directory '%s' cannot be used: a '%c' in it has a meaning in slurm.conf; "
			 "choose another one with --dir",
			 dir, dir[n]);
}

static int find_bin(struct site *s, struct error *err)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n < 0)
		return error_set(err, -errno, "cannot tell where muster itself is: %s", strerror(errno));
	exe[n] = '\0';
	*strrchr(exe, '/') = '\0';
	s->bin = arena_strdup(s->arena, exe);
	return 0;
}

char *site_path(const struct site *s, const char *fmt, ...)
{
	AUTO_BUF struct buf b = {};
	va_list args;

	buf_printf(&b, "%s/", s->root);
	va_start(args, fmt);
	buf_vprintf(&b, fmt, args);
	va_end(args);
	return arena_strdup(s->arena, buf_text(&b));
}

int site_check_sockets(const struct site *s, size_t longest_node, struct error *err)
{
	/* D/spool/NODE/JOB.ATTEMPT.STEP.sock with the largest numbers. */
	size_t need = strlen(s->root) + strlen("/spool/") + longest_node +
		      strlen("/67043328.65535.4294967295.sock");
	size_t most = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;

	if (need <= most)
		return 0;
	return error_set(err, -ENAMETOOLONG,
			 "directory '%s' is too long by %zu bytes: the kernel takes socket paths of "
			 "%zu bytes; choose a shorter one with --dir",
			 s->root, need - most, most);
}

static int make_dirs(char *path, mode_t mode, struct error *err)
{
	for (char *p = path + 1;; p++) {
		if (*p != '/' && *p)
			continue;
		char keep = *p;
		*p = '\0';
		if (mkdir(path, mode) < 0 && errno != EEXIST)
			return error_set(err, -errno, "cannot create directory '%s': %s", path,
					 strerror(errno));
		*p = keep;
		if (!keep)
			return 0;
	}
}

/* Daemons of root start jobs of every user, so every user reaches what a command or a job needs; what
 * the cluster knows and says stays private.  A cluster of somebody else is theirs alone. */
int site_create(struct site *s, struct error *err)
{
	static const struct {
		const char *name;
		bool is_private;
	} dirs[] = { { "etc", false },  { "dev", false },  { "run", false },
		     { "spool", false }, { "state", true }, { "log", true } };

	for (size_t i = 0; i < ARRAY_COUNT(dirs); i++) {
		mode_t mode = geteuid() == 0 && !dirs[i].is_private ? 0755 : 0700;
		int r = make_dirs(site_path(s, "%s", dirs[i].name), mode, err);
		if (r < 0)
			return r;
	}
	if (access(s->root, W_OK | X_OK) < 0)
		return error_set(err, -errno, "directory '%s' cannot be written: %s", s->root,
				 strerror(errno));
	char real[PATH_MAX];
	if (realpath(s->root, real)) {
		s->root = arena_strdup(s->arena, real);
		s->conf = site_path(s, "etc/slurm.conf");
	}
	return 0;
}

int site_lock(struct site *s, struct error *err)
{
	const char *path = site_path(s, "run/lock");

	s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->lock < 0)
		return error_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
	while (flock(s->lock, LOCK_EX) < 0)
		if (errno != EINTR)
			return error_set(err, -errno, "cannot lock '%s': %s", path, strerror(errno));
	return 0;
}

bool site_exists(const struct site *s)
{
	return access(s->conf, F_OK) == 0;
}

/* All or nothing, so that a configuration that is there is complete. */
int text_write(const char *path, mode_t mode, const struct buf *text, struct error *err)
{
	char temp[PATH_MAX];

	if ((size_t)snprintf(temp, sizeof(temp), "%s.new", path) >= sizeof(temp))
		return error_set(err, -ENAMETOOLONG, "'%s' is too long", path);
	AUTO_FD int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	if (fd < 0)
		return error_set(err, -errno, "cannot create '%s': %s", temp, strerror(errno));
	for (size_t done = 0; done < text->len;) {
		ssize_t n = write(fd, text->data + done, text->len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, -errno, "cannot write '%s': %s", temp, strerror(errno));
		done += (size_t)n;
	}
	if (rename(temp, path) < 0)
		return error_set(err, -errno, "cannot rename '%s': %s", temp, strerror(errno));
	return 0;
}

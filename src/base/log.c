/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_LEN = 4096 };

/* The lock covers path, fd and program; the level is read by every caller and is atomic instead. */
static struct {
	pthread_mutex_t lock;
	char program[64];
	char *path; /* NULL: stderr */
	int fd;
	enum log_level level;
	log_sink_fn sink;
	void *sink_arg;
} logger = { .lock = PTHREAD_MUTEX_INITIALIZER, .program = "muster", .fd = 2, .level = LOG_INFO };

static const char *const level_names[LOG_LEVEL_COUNT] = {
	"quiet", "fatal", "error", "info", "verbose", "debug", "debug2", "debug3",
};

void log_start(const char *program, enum log_level level)
{
	pthread_mutex_lock(&logger.lock);
	snprintf(logger.program, sizeof(logger.program), "%s", program);
	pthread_mutex_unlock(&logger.lock);
	log_set_level(level);
}

static int open_log(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
	return fd < 0 ? -errno : fd;
}

int log_to_file(const char *path)
{
	int fd = open_log(path);
	if (fd < 0)
		return fd;
	pthread_mutex_lock(&logger.lock);
	if (logger.path)
		close(logger.fd);
	free(logger.path);
	logger.path = mem_strdup(path);
	logger.fd = fd;
	pthread_mutex_unlock(&logger.lock);
	return 0;
}

int log_reopen(void)
{
	pthread_mutex_lock(&logger.lock);
	AUTO_FREE char *path = mem_strdup(logger.path);
	pthread_mutex_unlock(&logger.lock);
	return path ? log_to_file(path) : 0;
}

void log_set_level(enum log_level level)
{
	__atomic_store_n(&logger.level, level, __ATOMIC_RELAXED);
}

enum log_level log_get_level(void)
{
	return __atomic_load_n(&logger.level, __ATOMIC_RELAXED);
}

int log_level_parse(const char *text, enum log_level *ret)
{
	uint32_t number;
	if (str_to_u32(text, &number) == 0) {
		if (number >= LOG_LEVEL_COUNT)
			return -ERANGE;
		*ret = (enum log_level)number;
		return 0;
	}
	for (int i = 0; i < LOG_LEVEL_COUNT; i++) {
		if (str_ieq(text, level_names[i])) {
			*ret = (enum log_level)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *log_level_name(enum log_level level)
{
	return level_names[level];
}

void log_set_sink(log_sink_fn sink, void *arg)
{
	logger.sink = sink;
	logger.sink_arg = arg;
}

/* "[2026-11-15T04:00:55.123] error: text" in files, "program: error: text" on stderr. */
static int prefix(char *line, size_t size, enum log_level level)
{
	bool is_plain = level == LOG_INFO || level == LOG_VERBOSE;
	const char *kind = is_plain ? "" : level_names[level];
	const char *colon = is_plain ? "" : ": ";
	if (!logger.path)
		return snprintf(line, size, "%s: %s%s", logger.program, kind, colon);
	struct timespec now;
	struct tm tm;
	char stamp[32];
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
	return snprintf(line, size, "[%s.%03ld] %s%s", stamp, now.tv_nsec / 1000000, kind, colon);
}

/* A line break in a job's name must not forge a line of the daemon's log. */
static void flatten(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' && text[i] != '\t')
			text[i] = '?';
}

PRINTF_LIKE(2, 0)
static void write_line(enum log_level level, const char *fmt, va_list args)
{
	char line[LINE_MAX_LEN];
	pthread_mutex_lock(&logger.lock);
	int at = prefix(line, sizeof(line), level);
	int len = vsnprintf(line + at, sizeof(line) - (size_t)at - 1, fmt, args);
	size_t total = (size_t)at + (size_t)(len < 0 ? 0 : len);
	if (total > sizeof(line) - 2)
		total = sizeof(line) - 2;
	if (logger.path)
		flatten(line, total);
	line[total++] = '\n';
	ssize_t wrote = write(logger.fd, line, total); /* one call: lines never mix */
	(void)wrote;
	if (logger.path &&
	    level == LOG_FATAL) /* whoever started the program should not have to look for it */
		dprintf(2, "%s: fatal: %.*s", logger.program, (int)(total - (size_t)at), line + at);
	pthread_mutex_unlock(&logger.lock);
}

void log_write(enum log_level level, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	if (logger.sink) {
		char text[LINE_MAX_LEN];
		vsnprintf(text, sizeof(text), fmt, args);
		logger.sink(logger.sink_arg, level, text);
	} else if (level <= log_get_level()) {
		write_line(level, fmt, args);
	}
	va_end(args);
}

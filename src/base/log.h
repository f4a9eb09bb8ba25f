/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - messages for people who run the programs.
 *
 * Programs log; libraries below layer 4 do so at debug level only.  Messages are lower case, have no
 * final stop and quote user strings with '...'.  The sink is process-wide and the one mutable global
 * of the product: stderr for commands, a file (reopened on request) for daemons.  Thread-safe. */
#pragma once
#include "base/cleanup.h"

#include <stdbool.h>

enum log_level {
	LOG_QUIET,
	LOG_FATAL,
	LOG_ERROR,
	LOG_INFO,
	LOG_VERBOSE,
	LOG_DEBUG,
	LOG_DEBUG2,
	LOG_DEBUG3,
	LOG_LEVEL_COUNT,
};

/* Before log_start messages go to stderr as "program: error: text". */
void log_start(const char *program, enum log_level level);
NODISCARD int log_to_file(const char *path); /* adds timestamps; 0 or -errno */
NODISCARD int log_reopen(void);              /* after log rotation */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);
NODISCARD int log_level_parse(const char *text, enum log_level *ret); /* "debug", "3", ... */
const char *log_level_name(enum log_level level);

/* Where the text goes instead: the simulator's story, a test's list.  NULL restores the default. */
typedef void (*log_sink_fn)(void *arg, enum log_level level, const char *text);
void log_set_sink(log_sink_fn sink, void *arg);

void log_write(enum log_level level, const char *fmt, ...) PRINTF_LIKE(2, 3);

#define log_fatal(...) log_write(LOG_FATAL, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)
#define log_info(...) log_write(LOG_INFO, __VA_ARGS__)
#define log_verbose(...) log_write(LOG_VERBOSE, __VA_ARGS__)
#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)
#define log_debug2(...) log_write(LOG_DEBUG2, __VA_ARGS__)

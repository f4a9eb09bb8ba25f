/* SPDX-License-Identifier: Apache-2.0 */
/* marked_posix.c - finding processes by the environment they were started with.
 *
 * A last resort for when the parent that knew its descendants is gone: /proc has the environment of
 * every process that we may see. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "host/file.h"
#include "host/process.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ENVIRON_MAX = 4 << 20 };

static bool has_entry(const struct buf *environ_block, const char *entry)
{
	const char *at = buf_text(environ_block), *end = at + environ_block->len;

	for (; at < end; at += strlen(at) + 1)
		if (strcmp(at, entry) == 0)
			return true;
	return false;
}

static bool is_marked(uint32_t pid, const char *const *marks)
{
	AUTO_BUF struct buf block = {};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/environ", pid);
	if (file_read(path, ENVIRON_MAX, &block) < 0)
		return false;
	for (; *marks; marks++)
		if (!has_entry(&block, *marks))
			return false;
	return true;
}

size_t process_signal_marked(const char *const *marks, int signo)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;
	uint32_t pid;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		if (str_to_u32(entry->d_name, &pid) == 0 && pid != (uint32_t)getpid() &&
		    is_marked(pid, marks) && kill((pid_t)pid, signo) == 0)
			count++;
	closedir(dir);
	return count;
}

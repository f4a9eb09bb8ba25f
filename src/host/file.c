/* SPDX-License-Identifier: Apache-2.0 */
/* Reads until the end rather than to the size that stat tells, so that pipes and /proc work too. */
#include "host/file.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { CHUNK = 16384 };

int file_read(const char *path, size_t max, struct buf *ret)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	size_t start = ret->len;
	for (;;) {
		buf_reserve(ret, CHUNK);
		ssize_t n = read(fd, ret->data + ret->len, CHUNK - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		ret->len += (size_t)n;
		if (ret->len - start > max)
			return -EFBIG;
	}
	ret->data[ret->len] = 0;
	return 0;
}

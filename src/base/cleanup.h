/* SPDX-License-Identifier: Apache-2.0 */
/* cleanup.h - scope-exit cleanup and hand-over of owned values.
 *
 * `AUTO_FREE char *s` is freed when the scope ends; `return TAKE_PTR(s)` hands it over instead. */
#pragma once
#include <stdlib.h>
#include <unistd.h>

#define NODISCARD __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define UNUSED __attribute__((unused))
#define ARRAY_COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define CLEANUP(fn) __attribute__((cleanup(fn)))
#define AUTO_FREE CLEANUP(cleanup_free)
#define AUTO_FD CLEANUP(cleanup_fd)

#define TAKE_PTR(p)                                                                                \
	__extension__({                                                                            \
		typeof(p) taken_ = (p);                                                            \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})
#define TAKE_FD(fd)                                                                                \
	__extension__({                                                                            \
		int taken_ = (fd);                                                                 \
		(fd) = -1;                                                                         \
		taken_;                                                                            \
	})

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

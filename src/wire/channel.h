/* SPDX-License-Identifier: Apache-2.0 */
/* channel.h - one blocking socket with a deadline, for session.c alone.
 *
 * The socket itself never blocks; every wait is a poll until `deadline`, so that a dead host costs
 * no more time than the caller wanted to spend.  All return 0 or a negative errno, -ETIMEDOUT when
 * the deadline passed; bytes read so far stay in `in`, and the next read goes on from there. */
#pragma once
#include "base/buf.h"
#include "base/time.h"
#include "wire/frame.h"

struct channel {
	int fd;
	usec_t deadline; /* on the monotonic clock; USEC_FOREVER never passes */
	struct buf in;
	size_t taken; /* bytes at the start of `in` that belong to the frame last returned */
};

#define USEC_FOREVER INT64_MAX

usec_t channel_clock(void);
void channel_close(struct channel *c);
/* A daemon that is being replaced leaves its socket for a moment: waits up to `patience` for one. */
NODISCARD int channel_connect_unix(struct channel *c, const char *path, usec_t patience);
NODISCARD int channel_connect_tcp(struct channel *c, const char *host, uint16_t port,
				  struct error *err);
NODISCARD int channel_write(struct channel *c, const void *data, size_t len);
/* The body is valid until the next read.  -ECONNRESET at the end of the stream. */
NODISCARD int channel_read_frame(struct channel *c, struct frame *ret, const uint8_t **ret_body,
				 struct error *err);

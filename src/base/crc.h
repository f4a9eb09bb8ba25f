/* SPDX-License-Identifier: Apache-2.0 */
/* crc.h - CRC-32C (Castagnoli), the checksum of journal and snapshot records. */
#pragma once
#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(uint32_t crc, const void *p, size_t n); /* start with crc = 0 */

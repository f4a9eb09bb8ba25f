/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, int code, const char *fmt, ...)
{
	if (!err)
		return code;
	va_list args;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	err->code = code;
	return code;
}

int error_wrap(struct error *err, int code, const char *fmt, ...)
{
	if (!err)
		return code;
	char inner[ERROR_TEXT_MAX];
	memcpy(inner, err->text, sizeof(inner));
	inner[sizeof(inner) - 1] = '\0';

	va_list args;
	va_start(args, fmt);
	int used = vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	if (used >= 0 && (size_t)used < sizeof(err->text))
		snprintf(err->text + used, sizeof(err->text) - (size_t)used, ": %s", inner);
	err->code = code;
	return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the binding words.  What is known but not built is refused as such. */
#include "client/bind.h"

#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

int distribution_check(const char *text, struct error *err)
{
	if (str_ieq(text, "block") || str_ieq(text, "cyclic") || str_eq(text, "*"))
		return 0;
	if (str_istarts(text, "block") || str_istarts(text, "cyclic") ||
	    str_istarts(text, "plane") || str_istarts(text, "arbitrary"))
		return error_set(
			err, -ENOTSUP,
			"'%s' is not supported by this version of Muster, only block and cyclic",
			text);
	return error_set(err, -EINVAL, "'%s' is no distribution, say block or cyclic", text);
}

/* Skips words like `verbose,` in front. */
static const char *skip_words(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(words[i]);
		if (str_istarts(text, words[i]) && (text[len] == ',' || text[len] == '\0'))
			return skip_words(text + len + (text[len] == ','), words, count);
	}
	return text;
}

int cpu_bind_check(const char *text, const char **ret, struct error *err)
{
	static const char *const chatter[] = { "quiet", "q" };
	const char *how = skip_words(text, chatter, ARRAY_COUNT(chatter));
	if (str_ieq(how, "none") || str_ieq(how, "no")) {
		*ret = "none";
		return 0;
	}
	if (*how == '\0' || str_ieq(how, "cores") || str_ieq(how, "core") || str_ieq(how, "yes")) {
		*ret = "cores"; /* what happens anyway: each task has its own CPUs where there are enough */
		return 0;
	}
	static const char *const known[] = { "threads", "sockets", "ldoms",   "boards", "rank",
					     "map_",    "mask_",   "verbose", "v," };
	for (size_t i = 0; i < ARRAY_COUNT(known); i++)
		if (str_istarts(how, known[i]))
			return error_set(
				err, -ENOTSUP,
				"'%s' is not supported by this version of Muster, only none "
				"and cores",
				how);
	return error_set(err, -EINVAL, "'%s' is no CPU binding, say none or cores", how);
}

static bool is_list(const char *text, const char *digits)
{
	return *text && strspn(text, digits) == strlen(text);
}

int gpu_bind_check(const char *text, struct error *err)
{
	const char *how = text, *colon = strchr(how, ':');
	uint32_t n;
	if (str_ieq(how, "none") || str_ieq(how, "closest"))
		return 0;
	if (str_istarts(how, "single:") || str_istarts(how, "per_task:")) {
		if (str_to_u32(colon + 1, &n) < 0 || n == 0)
			return error_set(err, -EINVAL,
					 "'%s' needs a number from 1 up behind the colon", how);
		return 0;
	}
	if (str_istarts(how, "map:") || str_istarts(how, "map_gpu:")) {
		if (!is_list(colon + 1, "0123456789,*"))
			return error_set(err, -EINVAL,
					 "'%s' is no list of GPU numbers, as in map:0,1", how);
		return 0;
	}
	if (str_istarts(how, "mask:") || str_istarts(how, "mask_gpu:")) {
		if (!is_list(colon + 1, "0123456789abcdefABCDEFx,*"))
			return error_set(err, -EINVAL,
					 "'%s' is no list of hexadecimal masks, as in mask:0x1,0x2",
					 how);
		return 0;
	}
	if (str_istarts(how, "verbose") || str_istarts(how, "v,") || str_istarts(how, "q"))
		return error_set(
			err, -ENOTSUP,
			"'%s': saying how tasks are bound is not supported by this version of "
			"Muster",
			how);
	return error_set(
		err, -EINVAL,
		"'%s' is no GPU binding, say none, closest, single:n, per_task:n, map:list or "
		"mask:list",
		how);
}

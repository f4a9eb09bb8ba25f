/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of credentials there are. */
#include "base/error.h"
#include "base/str.h"
#include "wire/auth_impl.h"

#include <errno.h>

int auth_new(const struct auth_options *o, struct auth **ret, struct error *err)
{
	static const struct auth_ops *const kinds[] = { &auth_slurm_ops, &auth_munge_ops };
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (str_eq(o->type, kinds[i]->type))
			return kinds[i]->open(o, ret, err);
	return error_set(err, -EINVAL, "AuthType '%s' is not known, use auth/slurm or auth/munge",
			 o->type ? o->type : "");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol.h - what the parts of scontrol share. */
#pragma once
#include "client/job_text.h"
#include "cmd/ask.h"

#include <stdbool.h>

struct error;
struct jobrefs;

struct scontrol {
	struct ask *ask;
	struct show_context context; /* details, one_line */
	bool all, quiet, help, version, leave;
	int exit_code;
};

/* A line on stderr, unless -Q; the command has failed. */
void scontrol_fail(struct scontrol *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

typedef void (*scontrol_fn)(struct scontrol *s, int argc, char **argv); /* argv[0] is the keyword */
void scontrol_show(struct scontrol *s, int argc, char **argv);
void scontrol_show_hosts(struct scontrol *s, const char *entity, const char *value);
void scontrol_show_daemons(struct scontrol *s);
void scontrol_ping(struct scontrol *s, int argc, char **argv);
void scontrol_update(struct scontrol *s, int argc, char **argv);
void scontrol_hold(struct scontrol *s, int argc, char **argv); /* hold, uhold, release */
void scontrol_requeue(struct scontrol *s, int argc, char **argv);
void scontrol_wait_job(struct scontrol *s, int argc, char **argv);

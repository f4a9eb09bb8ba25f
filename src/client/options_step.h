/* SPDX-License-Identifier: Apache-2.0 */
/* options_step.h - options of a step inside an allocation. */
#pragma once

struct options;

/* Between scanning and applying: marks the options as those of a step and strikes out what the
 * environment says about the whole job where the command line asks for something else. */
void options_enter_step(struct options *o);

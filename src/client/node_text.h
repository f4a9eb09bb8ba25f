/* SPDX-License-Identifier: Apache-2.0 */
/* node_text.h - what sinfo and scontrol say about a node's resources. */
#pragma once
#include <stdint.h>

struct buf;
struct node;
struct show_context;

uint32_t node_cpus(const struct node *n);
uint32_t node_cpus_used(const struct node *n);
void node_print_gres(const struct node *n, struct buf *out);      /* gpu:a100:4 */
void node_print_gres_used(const struct node *n, struct buf *out); /* gpu:a100:2(IDX:0-1) */
void node_print_cfg_tres(const struct node *n, const struct show_context *c, struct buf *out);
void node_print_alloc_tres(const struct node *n, const struct show_context *c, struct buf *out);
void node_print_user(const struct node *n, struct buf *out); /* who gave the reason */
const char *node_address(const struct node *n);
const char *node_hostname(const struct node *n);
const char *node_active_features(const struct node *n);

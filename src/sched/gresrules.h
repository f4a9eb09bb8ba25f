/* SPDX-License-Identifier: Apache-2.0 */
/* gresrules.h - what --gpus, --gpus-per-node, --gpus-per-socket, --gpus-per-task and --ntasks-per-gpu
 * mean together with each other and with the numbers of nodes and tasks. */
#pragma once
#include "base/cleanup.h"

struct demand;
struct error;
struct resource_request;

/* Refuses what disagrees, naming both options, and settles in `q`, a shallow copy of the request, what
 * follows: tasks, nodes, tasks on a node and on a socket.  `d` gets the lists that placement gives out;
 * one that follows from another is not among them. */
NODISCARD int gres_settle(struct resource_request *q, struct demand *d, struct error *err);

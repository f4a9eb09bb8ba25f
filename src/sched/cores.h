/* SPDX-License-Identifier: Apache-2.0 */
/* cores.h - which cores of a node a request may use at all: none that is in use, none that is set aside
 * for the system or kept for jobs with GPUs, and no more than its partition may have there. */
#pragma once
#include "base/bitset.h"
#include "sched/nodefit.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct demand;
struct node;
struct pool_node;

uint32_t cores_free_on(const struct pool_node *n, const struct demand *d, uint32_t socket);
uint32_t cpus_free(const struct pool_node *n, const struct demand *d);
/* One core, by its number within the node; without the partition's limit, which is a count. */
bool core_is_free(const struct pool_node *n, const struct demand *d, uint32_t core);

/* CPUs set aside for the system: CoreSpecCount and CpuSpecList of the node, whole cores. */
void node_spec_cpus(const struct node *n, struct bitset *ret);
/* Cores that only jobs with GPUs may use: RestrictedCoresPerGPU, of those close to each device. */
void node_gpu_cpus(const struct node *n, struct bitset *ret);
uint32_t node_job_cpus(const struct node *n); /* those that jobs may use (CPUEfctv) */

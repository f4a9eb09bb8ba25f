/* SPDX-License-Identifier: Apache-2.0 */
/* The step as it is asked for, and the asking. */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "client/submit.h"
#include "cmd/srun.h"
#include "conf/conf.h"
#include "host/stream.h"
#include "schema/errors.h"
#include "text/filename.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static const usec_t AT_ONCE = 300 * USEC_PER_MSEC;

static void fill_size(const struct srun *s, struct step_request *q)
{
	const struct resource_request *r = &s->o.at.spec.request;
	q->has_ntasks = r->has_ntasks;
	q->ntasks = r->ntasks;
	q->has_nodes_min = r->nodes_min > 0;
	q->nodes_min = r->nodes_min;
	q->has_nodes_max = r->nodes_max > 0;
	q->nodes_max = r->nodes_max;
	q->has_cpus_per_task = r->has_cpus_per_task;
	q->cpus_per_task = r->cpus_per_task;
	q->has_ntasks_per_node = r->has_ntasks_per_node;
	q->ntasks_per_node = r->ntasks_per_node;
	q->has_relative = s->o.at.has_relative;
	q->relative = s->o.at.relative;
	q->node_list = r->node_list;
	q->exclude = r->exclude;
	q->task_hosts = r->task_hosts;
	/* The first step of a job of our own has all of it. */
	if (s->own_job) {
		q->has_nodes_min = q->has_nodes_max = true;
		q->nodes_min = q->nodes_max = s->al.job.n_alloc;
		q->node_list = q->exclude = NULL;
		q->has_ntasks = s->al.job.ntasks > 0;
		q->ntasks = s->al.job.ntasks;
	}
}

/* --gpus of a step is shared out over its nodes. */
static int fill_gpus(const struct srun *s, struct step_request *q, struct error *err)
{
	const struct resource_request *r = &s->o.at.spec.request;
	uint32_t nodes = q->has_nodes_min && q->nodes_min == q->nodes_max ? q->nodes_min : 0;
	if (!r->n_gres_per_job)
		return 0;
	q->gres_per_node = ARENA_ARRAY(s->o.arena, struct gres_request, r->n_gres_per_job);
	for (uint32_t i = 0; i < r->n_gres_per_job; i++) {
		q->gres_per_node[i] = r->gres_per_job[i];
		if (nodes == 0 || r->gres_per_job[i].count % nodes)
			return error_set(
				err, -E_NOT_SUPPORTED,
				"--gpus of a step must be a multiple of a fixed --nodes in "
				"this version of Muster; --gpus-per-node says it directly");
		q->gres_per_node[i].count /= nodes;
	}
	q->n_gres_per_node = r->n_gres_per_job;
	return 0;
}

static uint64_t count_gpus(const struct gres_request *list, uint32_t count)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += str_eq(list[i].name, "gpu") ? list[i].count : 0;
	return sum;
}

static int fill_gres(const struct srun *s, struct step_request *q, struct error *err)
{
	const struct resource_request *r = &s->o.at.spec.request;
	uint64_t per_task = count_gpus(r->gres_per_task, r->n_gres_per_task);
	if (s->o.at.external_launcher) {
		q->gpu_bind = (char *)"none"; /* the ranks that it starts choose for themselves */
		return 0;
	}
	q->gpu_bind = s->o.at.spec.gpu_bind;
	if (!q->gpu_bind && r->has_ntasks_per_gpu && r->ntasks_per_gpu)
		q->gpu_bind = arena_printf(s->o.arena, "single:%u", r->ntasks_per_gpu);
	if (per_task && !q->gpu_bind)
		q->gpu_bind = arena_printf(s->o.arena, "per_task:%llu",
					   (unsigned long long)per_task);
	q->no_gres = s->o.at.no_gres;
	if (s->own_job)
		return 0; /* all of the job's */
	q->gres_per_task = r->gres_per_task;
	q->n_gres_per_task = r->n_gres_per_task;
	q->gres_per_node = r->gres_per_node;
	q->n_gres_per_node = r->n_gres_per_node;
	return fill_gpus(s, q, err);
}

static int refuse_missing(const struct srun *s, struct error *err)
{
	const struct resource_request *r = &s->o.at.spec.request;
	const struct {
		bool asked;
		const char *option;
	} missing[] = {
		{ r->has_cpus_per_gpu, "--cpus-per-gpu" },
		{ r->has_mem_per_gpu_mib, "--mem-per-gpu" },
		{ r->constraint, "--constraint" },
		{ r->n_node_counts > 0, "a list of --nodes" },
		{ r->has_ntasks_per_core, "--ntasks-per-core" },
		{ r->has_ntasks_per_socket, "--ntasks-per-socket" },
		{ r->has_threads_per_core, "--threads-per-core" },
		{ r->n_gres_per_socket > 0, "--gpus-per-socket" },
		{ r->hint, "--hint" },
		{ r->gres_flags, "--gres-flags" },
		{ r->gpu_freq, "--gpu-freq" },
	};
	for (size_t i = 0; s->o.in_allocation && i < ARRAY_COUNT(missing); i++)
		if (missing[i].asked)
			return error_set(err, -E_NOT_SUPPORTED,
					 "%s of a step is not supported by this version of Muster",
					 missing[i].option);
	return 0;
}

/* Files of the nodes' own; all others are opened here (srun_output.c). */
static void fill_files(const struct srun *s, struct step_request *q)
{
	const struct job_spec *spec = &s->o.at.spec;
	if (spec->std_out && filename_is_per_task(spec->std_out))
		q->std_out = spec->std_out;
	if (spec->std_err && filename_is_per_task(spec->std_err))
		q->std_err = spec->std_err;
	if (spec->std_in && filename_is_per_task(spec->std_in))
		q->std_in = spec->std_in;
	else if (str_eq(spec->std_in, "none"))
		q->std_in = (char *)"/dev/null";
}

int step_fill(struct srun *s, struct error *err)
{
	struct step_request *q = &s->request;
	const struct command_options *at = &s->o.at;
	char host[256];
	int r = refuse_missing(s, err);
	if (r < 0)
		return r;
	connect_own_address(&s->c, host, sizeof(host));
	q->job_id = s->al.job_id;
	q->name = s->o.in_allocation && at->spec.name
			  ? at->spec.name
			  : arena_strdup(s->o.arena, submit_base_name(s->o.rest[0]));
	q->argv = (char **)s->o.rest;
	q->n_argv = (uint32_t)s->o.rest_count;
	q->work_dir = at->spec.work_dir ? at->spec.work_dir : submit_current_directory(s->o.arena);
	q->srun_host = arena_strdup(s->o.arena, host);
	q->srun_port = listener_port(s->listener);
	q->srun_pid = (uint32_t)getpid();
	q->exact = at->exact ||
		   (s->o.in_allocation && at->spec.request.exclusive != EXCLUSIVE_KIND_NO) ||
		   options_source(&s->o, "cpus-per-task") == OPTION_ARGS;
	q->overlap = at->overlap || at->external_launcher;
	q->distribution = at->spec.distribution;
	q->label = at->label;
	q->kill_on_bad_exit = at->has_kill_on_bad_exit && at->kill_on_bad_exit;
	q->cpu_bind = at->external_launcher ? (char *)"none" : at->spec.cpu_bind;
	q->uses_pty = at->pty;
	q->has_mem_per_node_mib = at->spec.request.has_mem_per_node_mib;
	q->mem_per_node_mib = at->spec.request.mem_per_node_mib;
	q->has_mem_per_cpu_mib = at->spec.request.has_mem_per_cpu_mib;
	q->mem_per_cpu_mib = at->spec.request.mem_per_cpu_mib;
	q->token = submit_token();
	q->wait = !at->has_immediate_sec;
	q->open_append = at->spec.has_open_append && at->spec.open_append;
	fill_size(s, q);
	fill_files(s, q);
	r = fill_gres(s, q, err);
	return r < 0 ? r : submit_environment(&s->o, environ, &q->env, err);
}

static int refused(struct srun *s, const struct error *err, int *ret_code)
{
	*ret_code = connect_exit_error();
	if (err->code == -E_INVALID_JOB_ID)
		log_error("Unable to confirm allocation for job %u: %s", s->al.job_id, err->text);
	else
		log_error("Unable to create step for job %u: %s", s->al.job_id, err->text);
	return -ECANCELED;
}

int step_create(struct srun *s, int *ret_code)
{
	bool announced = false, asked = false;
	for (;;) {
		struct step_reply reply = {};
		struct error err = {};
		int signo = 0,
		    r = asked ? 0 : alloc_ask(&s->al, MSG_STEP_CREATE, &s->request, &err);
		if (r < 0 && !connect_is_lost(r))
			return refused(s, &err, ret_code);
		asked = r == 0;
		usec_t timeout = !asked ? 2 * USEC_PER_SEC : announced ? -1 : AT_ONCE;
		enum alloc_event e = alloc_wait(&s->al, MSG_STEP_CREATE, &reply, timeout, &signo,
						&err);
		if (e == ALLOC_ANSWER) {
			s->step = reply.step;
			s->al.job = reply.job;
			if (announced)
				log_info("Step created for StepId=%u.%u", s->al.job_id, s->step.id);
			return 0;
		}
		if (e == ALLOC_SIGNAL && signo != SIGCHLD) {
			log_info("Cancelled pending step for job %u", s->al.job_id);
			*ret_code = connect_exit_error();
			return -ECANCELED;
		}
		if (e == ALLOC_LOST && !connect_is_lost(err.code))
			return refused(s, &err, ret_code);
		if (e == ALLOC_LOST) {
			connect_hang_up(&s->c);
			asked = false;
		}
		if (e == ALLOC_TIMEOUT && !announced) {
			announced = true;
			log_info("Job %u step creation temporarily disabled, retrying (%s)",
				 s->al.job_id,
				 asked ? enum_text(&error_code_enum, E_STEP_BUSY) : err.text);
		}
	}
}

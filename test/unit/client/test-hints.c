/* SPDX-License-Identifier: Apache-2.0 */
/* Hints: every mistake is found in the script that shows it, and scripts that work get no line. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "client/hints.h"
#include "client/options.h"
#include "client/script.h"
#include "client/shell.h"

#include "../cm.h"

#include <dirent.h>
#include <string.h>

/* ---- reading shell ------------------------------------------------------------------------------- */

static const struct shell_case {
	const char *text, *expect; /* words joined by blanks, commands by | */
} shell_cases[] = {
	{ "", "" },
	{ "srun torchrun", "srun torchrun" },
	{ "# srun torchrun\ntrue # srun\n", "true" },
	{ "echo a#b '#' \"# c\"", "echo a#b # # c" },
	{ "srun \\\n  torchrun \\\n  --x=1\n", "srun torchrun --x=1" },
	{ "a; b && c || d | e & f", "a|b|c|d|e|f" },
	{ "echo 'srun x; y' \"srun z && w\"", "echo srun x; y srun z && w" },
	{ "if true; then srun a; else\n b; fi", "true|srun a|b" },
	{ "for i in 1 2; do x $i; done", "for i in 1 2|x $i" },
	{ "A=1 B='x y' srun a", "srun a" },
	{ "A=$(srun hostname | head -n1)\nb", "b" },
	{ "x $(a (b) c) `d e` ${f:-g h} $((1 + 2))", "x $(a (b) c) `d e ${f:-g h} $((1 + 2))" },
	{ "cat > f <<EOF\nsrun torchrun\nEOF\nb", "cat|b" },
	{ "cat <<-'E F' | c\nsrun\n\tE F\nb", "cat|c|b" },
	{ "cat <<A <<B\n1\nA\n2\nB\nc", "cat|c" },
	{ "read x <<< srun\na", "read x|a" },
	{ "a >out 2>&1 <in &>> log b", "a b" },
	{ "a 2> err 3 >x4", "a 3" },
	{ "diff <(srun a) b", "diff b" },
	{ "f() { torchrun; }", "f|torchrun" },
	{ "( cd /tmp; a )", "cd /tmp|a" },
	{ "time exec nohup a", "a" },
	{ "'if' x", "if x" },
	{ "a \"\" b", "a  b" },
	{ "a 'not closed\nb", "a not closed\nb" },
	{ "a $(not closed", "a $(not closed" },
	{ "a <<EOF\nnever closed", "a" },
	{ "a \\", "a \\" },
};

static void shell_is_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(shell_cases); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf got = {};
		struct shell_script s = {};
		shell_read(shell_cases[i].text, strlen(shell_cases[i].text), a, &s);
		for (uint32_t c = 0; c < s.count; c++)
			for (uint32_t w = 0; w < s.commands[c].count; w++)
				buf_printf(&got, "%s%s", w ? " " : c ? "|" : "", s.commands[c].words[w]);
		if (!str_eq(buf_text(&got), shell_cases[i].expect))
			fail_msg("'%s'\n  gives    %s\n  and not  %s", shell_cases[i].text, buf_text(&got),
				 shell_cases[i].expect);
	}
}

/* ---- hints --------------------------------------------------------------------------------------- */

/* The hints for a script, joined by newlines. */
static void find(const char *text, bool default_memory, struct arena *a, struct buf *out)
{
	struct script s = { .name = "job.sh", .text = arena_strdup(a, text), .len = strlen(text) };
	struct options o;
	struct error err = {};
	options_init(&o, OPTION_CMDS_SBATCH, 0, a);
	if (script_scan(&s, &o, &err) < 0 || options_apply(&o, &err) < 0 || options_check(&o, &err) < 0)
		fail_msg("%s\n%s", err.text, text);
	const char *gres = options_value(&o, "gres"), *lines[HINTS_MOST];
	struct hint_input in = { .spec = &o.at.spec,
				 .script = s.text,
				 .script_len = s.len,
				 .by_gres = gres && strstr(gres, "gpu"),
				 .default_memory = default_memory && !o.at.spec.request.has_mem_per_node_mib };
	uint32_t count = hints_find(&in, a, lines);
	for (uint32_t i = 0; i < count; i++)
		buf_printf(out, "%s%s", i ? "\n" : "", lines[i]);
	options_done(&o);
}

#define B "#!/bin/bash\n#SBATCH "

static const struct hint_case {
	const char *script, *part; /* part of the one hint; NULL: none */
} hint_cases[] = {
	/* a launcher on several nodes without srun */
	{ B "-N4\ntorchrun --nproc_per_node=8 t.py\n", "torchrun runs only on the first of the 4 nodes" },
	{ B "-N2\npython -m torch.distributed.launch --nproc_per_node=1 t.py\n",
	  "torch.distributed.launch runs only on the first of the 2 nodes" },
	{ B "-N2\nexec python3.11 -u -m torch.distributed.run t.py\n", "torch.distributed.run runs only" },
	{ B "-N2\nOMP_NUM_THREADS=8 \\\n  torchrun t.py &\nwait\n", "torchrun runs only" },
	{ B "-N2\nconda run -n env torchrun t.py\n", "torchrun runs only" },
	{ B "-N2\nsrun hostname\ntorchrun t.py\n", "torchrun runs only" },
	{ B "-N2\naccelerate launch t.py\n", "accelerate launch runs only" },
	{ B "-N2\n# srun torchrun\ntorchrun t.py # srun\n", "torchrun runs only" },
	{ B "-N2\necho 'srun torchrun'; torchrun t.py\n", "torchrun runs only" },
	{ B "-N2 --ntasks-per-node=4\npython t.py\n", "each of the 8 tasks when srun stands before it" },
	{ B "-N1\ntorchrun --nproc_per_node=8 t.py\n", NULL },
	{ B "-N4\n# torchrun t.py\nsrun t.py\n", NULL },
	{ B "-N4\necho torchrun t.py\nsrun true\n", NULL },
	{ B "-N4\nsrun torchrun --nproc_per_node=8 t.py\n", NULL },
	{ B "-N4\nsrun --label bash -c 'torchrun t.py'\n", NULL },
	{ B "-N4\nif [ $SLURM_NNODES = 1 ]; then torchrun t.py; else srun torchrun t.py; fi\n", NULL },
	{ B "-N4\nif [ \"$1\" = in ]; then torchrun t.py; else srun $0 in; fi\n", NULL },
	{ B "-N4\nf() { torchrun t.py; }\nexport -f f\nsrun bash -c f\n", NULL },
	{ B "-N4\nfor h in a b; do ssh $h torchrun t.py & done; wait\n", NULL },
	{ B "-N4\nsrun bash <<EOF\ntorchrun t.py\nEOF\n", NULL },
	{ B "-N2 --ntasks-per-node=4\nmpirun python t.py\n", NULL },
	{ B "-N2 --ntasks-per-node=4\npython prepare.py\nsrun python t.py\n", NULL },
	{ B "-N2 --ntasks-per-node=4\n./run.sh\npython after.py\n", NULL },
	{ "#!/usr/bin/env python3\n#SBATCH -N4\ntorchrun = 1\n", NULL },
	/* tasks times workers */
	{ B "-N4 --ntasks-per-node=4\nsrun torchrun --nproc_per_node=4 t.py\n",
	  "srun starts 16 tasks and torchrun in each of them 4 workers, 64 in all" },
	{ B "-N1 -n8\nsrun torchrun --nproc-per-node 8 t.py\n", "8 workers, 64 in all" },
	{ B "-N2 -n16\nsrun python -m torch.distributed.run --nproc_per_node=gpu t.py\n",
	  "srun starts 16 tasks on 2 nodes and torch.distributed.run workers in each" },
	{ B "-N2\nsrun --ntasks-per-node=8 torchrun --nproc_per_node=8 t.py\n", "128 in all" },
	{ B "-N2\nsrun -n4 torchrun --nproc_per_node=2 t.py\n", "8 in all" },
	{ B "-N2 --ntasks-per-node=8\nsrun -n $SLURM_NNODES torchrun --nproc_per_node=8 t.py\n", NULL },
	{ B "-N2 --ntasks-per-node=8\nsrun --ntasks-per-node=1 torchrun --nproc_per_node=8 t.py\n", NULL },
	{ B "-N2 --ntasks-per-node=8\nsrun -n $N torchrun --nproc_per_node=8 t.py\n", NULL },
	{ B "-N2 --ntasks-per-node=8\nsrun python t.py --nproc_per_node=8\n", NULL },
	{ B "-N2 --ntasks-per-node=8\nsrun torchrun --nproc_per_node=1 t.py\n", NULL },
	/* --ntasks against --ntasks-per-node */
	{ B "-N4 -n4 --ntasks-per-node=4\nsrun ./a\n", "--ntasks=4 wins over --ntasks-per-node=4: 4 tasks in all" },
	{ B "-N4 -n16 --ntasks-per-node=4\nsrun ./a\n", NULL },
	{ B "-N4 -n15 --ntasks-per-node=4\nsrun ./a\n", NULL },
	{ B "-n4 --ntasks-per-node=4\nsrun ./a\n", NULL },
	/* --gres taken for the total */
	{ B "-N2 --gres=gpu:4 --ntasks-per-node=2\nmpirun -np 4 ./a\n",
	  "--gres=gpu:4 is for each node, 8 GPUs on 2 nodes; --gpus=4 asks for 4 in all" },
	{ B "-N2 --gres=gpu:4\nsrun -n 4 nvidia-smi\n", "--gres=gpu:4 is for each node" },
	{ B "-N2 --gres=gpu:h100:4 -n4\nsrun ./a\n", "--gres=gpu:h100:4 is for each node" },
	{ B "-N2 --gres=gpu:4 --ntasks-per-node=4\nsrun ./a\n", NULL },
	{ B "-N4 --gres=gpu:4\nsrun torchrun --nproc_per_node=4 t.py\n", NULL },
	{ B "-N4 --gres=gpu:4 --ntasks-per-node=1\nsrun torchrun --nproc_per_node=4 t.py\n", NULL },
	{ B "-N1 --gres=gpu:4 -n4\nsrun ./a\n", NULL },
	{ B "-N2 --gpus-per-node=4 -n4\nsrun ./a\n", NULL },
	{ B "-N2 --gres=gpu:4 -n4 --gpu-bind=per_task:2\nsrun ./a\n", NULL },
	/* memory, and a variable */
	{ B "--exclusive\nsrun ./a\n", "--mem=0 gives all of it" },
	{ B "--exclusive --mem=0\nsrun ./a\n", NULL },
	{ B "--exclusive=user\nsrun ./a\n", NULL },
	{ B "-G8\nray start --num-gpus=\"$SLURM_GPUS_PER_NODE\"\n", "SLURM_GPUS_PER_NODE is set only with" },
	{ B "--gpus-per-node=h100:8\nray start --num-gpus=${SLURM_GPUS_PER_NODE}\n",
	  "SLURM_GPUS_PER_NODE is h100:8 in this job" },
	{ B "--gpus-per-node=8\nray start --num-gpus=\"$SLURM_GPUS_PER_NODE\"\n", NULL },
	{ B "-G8\necho \"$SLURM_GPUS_PER_NODE\"\n", NULL },
	{ B "-G8\nray start --num-gpus=${SLURM_GPUS_PER_NODE:-8}\n", NULL },
	{ B "-G8\nray start # $SLURM_GPUS_PER_NODE\n", NULL },
	{ B "-G8\nSLURM_GPUS_PER_NODE=8\nray start --num-gpus=$SLURM_GPUS_PER_NODE\n", NULL },
	{ B "-G8\nexport SLURM_GPUS_PER_NODE=8\nray start --num-gpus=$SLURM_GPUS_PER_NODE\n", NULL },
};

static void mistakes_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(hint_cases); i++) {
		const struct hint_case *c = &hint_cases[i];
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf got = {};
		find(c->script, true, a, &got);
		if (!c->part && got.len)
			fail_msg("%s\nhints: %s", c->script, buf_text(&got));
		if (c->part && (!strstr(buf_text(&got), c->part) || strchr(buf_text(&got), '\n')))
			fail_msg("%s\nhints: %s\nand not: %s", c->script, buf_text(&got), c->part);
	}
}

static void there_are_three_at_most(void **state)
{
	(void)state;
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_BUF struct buf got = {};
	find(B "-N4 -n4 --ntasks-per-node=4 --exclusive -G8\ntorchrun --x=$SLURM_GPUS_PER_NODE\n", true, a, &got);
	uint32_t lines = 1;
	for (const char *p = buf_text(&got); *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, HINTS_MOST);
}

/* Scripts as people write them, which do what they should (scripts/NAME.sh). */
static void good_scripts_get_none(void **state)
{
	(void)state;
	uint32_t count = 0;
	DIR *dir = opendir(GOOD_SCRIPTS);
	assert_non_null(dir);
	for (const struct dirent *e; (e = readdir(dir));) {
		if (!str_ends(e->d_name, ".sh"))
			continue;
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_BUF struct buf got = {};
		struct script s;
		struct error err = {};
		if (script_load(arena_printf(a, "%s/%s", GOOD_SCRIPTS, e->d_name), "", a, &s, &err) < 0)
			fail_msg("%s", err.text);
		find(s.text, false, a, &got);
		if (got.len)
			fail_msg("%s: %s", e->d_name, buf_text(&got));
		count++;
	}
	closedir(dir);
	assert_true(count >= 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shell_is_read),
		cmocka_unit_test(mistakes_are_found),
		cmocka_unit_test(there_are_three_at_most),
		cmocka_unit_test(good_scripts_get_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

# SPDX-License-Identifier: Apache-2.0
"""The examples of four documents that people read about GPUs and Slurm, run as they stand there.

000 distinct GPUs per task, 001 --gres against --gpus-per-task, 002 ntasks against ntasks-per-node, 003 Slurm for GPU
clusters.  Where a document is wrong about Slurm, the test expects what Slurm does, and the hint that says so.  Programs
that the examples start (torchrun, python, mpirun, ray, nvidia-smi) are stand-ins that print what they were given."""
import os
import pty
import re
import select
import time

import pytest

from conftest import SLOW, Cluster, take_sanitizer_reports, until

CONF = """ClusterName=seeds
SlurmctldHost=localhost
GresTypes=gpu
DefMemPerCPU=1000
TopologyPlugin=topology/tree
NodeName=gpu[001-008] Sockets=2 CoresPerSocket=24 ThreadsPerCore=2 RealMemory=262144 Gres=gpu:b200:8
NodeName=old Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=131072 Gres=gpu:v100:4 Feature=tesla_v100
PartitionName=gpu Nodes=gpu[001-008],old Default=YES MaxTime=INFINITE State=UP
PartitionName=gpu_partition Nodes=gpu[001-008],old MaxTime=INFINITE State=UP
PartitionName=blackwell Nodes=gpu[001-008] MaxTime=INFINITE State=UP
"""
GRES = """NodeName=gpu[001-008] Name=gpu Type=b200 File=/dev/nvidia[0-3] Cores=0-23
NodeName=gpu[001-008] Name=gpu Type=b200 File=/dev/nvidia[4-7] Cores=24-47
NodeName=old Name=gpu Type=v100 File=/dev/nvidia[0-3]
"""
TOPOLOGY = """SwitchName=leaf0 Nodes=gpu[001-004]
SwitchName=leaf1 Nodes=gpu[005-008]
SwitchName=leaf2 Nodes=old
SwitchName=spine Switches=leaf[0-2]
"""

# Every stand-in prints one line about itself; those that start workers print one for each.
SAY = """#!/bin/bash
say() { echo "$1 node=$SLURMD_NODENAME rank=$SLURM_PROCID local=$SLURM_LOCALID cuda=${CUDA_VISIBLE_DEVICES-none}" \\
	"gpus=${SLURM_GPUS_ON_NODE-none} tasks=$SLURM_NTASKS shape=$SLURM_TASKS_PER_NODE step=$SLURM_STEP_ID" \\
	"master=${MASTER_ADDR-none} args=$2"; }
"""
LAUNCH = """
n=1
for word; do [[ $word =~ nproc_per_node=([0-9]+) ]] && n=${BASH_REMATCH[1]}; done
say RUN "$*"
for ((i = 0; i < n; i++)); do say WORKER $i; done
"""
PROGRAMS = {
    "python": SAY + 'if [ "$1" = -m ]; then' + LAUNCH + 'else say RUN "$*"; fi\n',
    "torchrun": SAY + LAUNCH,
    "my_mpi_program": SAY + 'say RUN "$MPI_RANK $MPI_LOCAL_RANK"\n',
    "gpu_aware_app": SAY + 'say RUN "$MPI_RANK $MPI_LOCAL_RANK"\n',
    # As Open MPI does it: one daemon on each node through srun, which starts the node's ranks.
    "mpirun": """#!/bin/bash
export np=$2 program=$3
srun -N "$SLURM_NNODES" -n "$SLURM_NNODES" $OMPI_MCA_plm_slurm_args bash -c '
each=$((np / SLURM_JOB_NUM_NODES))
for ((i = 0; i < each; i++)); do MPI_RANK=$((SLURM_NODEID * each + i)) MPI_LOCAL_RANK=$i $program & done; wait'
""",
    "ray": SAY + 'say RUN "$*"\n',
    "nvidia-smi": SAY + """if [ "$1" != -L ]; then say RUN "$*"; exit; fi
for g in ${CUDA_VISIBLE_DEVICES//,/ }; do echo "GPU $g: stand-in"; done
""",
}


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster()
    shape = cluster.dir / "shape"
    shape.mkdir()
    for name, text in (("slurm.conf", CONF), ("gres.conf", GRES), ("topology.conf", TOPOLOGY)):
        (shape / name).write_text(text)
    cluster.programs = cluster.dir / "programs"
    cluster.programs.mkdir()
    for name, text in PROGRAMS.items():
        (cluster.programs / name).write_text(text)
        (cluster.programs / name).chmod(0o755)
    (cluster.work / "gpu_aware_app").symlink_to(cluster.programs / "gpu_aware_app")
    cluster.up("--conf", shape / "slurm.conf")
    yield cluster
    cluster.destroy()
    reports = take_sanitizer_reports()
    assert not reports, reports


def path(cluster):
    return {"PATH": f"{cluster.programs}:{cluster.bin}:/usr/bin:/bin"}


class Ran:
    """A batch job that has run: its record, its hints and the lines its programs printed."""

    def __init__(self, cluster, text, *options):
        done = cluster.run("sbatch", "--parsable", "-t", "5", *options, cluster.script(text), env=path(cluster))
        assert done.code == 0, done
        self.hints = re.findall(r"^sbatch: hint: (.*)$", done.err, re.M)
        assert len(self.hints) == len(done.err.splitlines()), done.err
        self.job_id = int(done.out)
        self.job = cluster.wait_done(self.job_id)
        assert self.job["JobState"] == "COMPLETED", (self.job, cluster.logs())
        out = cluster.work / os.path.basename(self.job["StdOut"])
        self.text = out.read_text()
        self.lines = [dict(re.findall(r"(\w+)=(.*?)(?= \w+=|$)", line), what=line.split()[0])
                      for line in self.text.splitlines() if line.startswith(("RUN", "WORKER"))]
        self.runs = [line for line in self.lines if line["what"] == "RUN"]
        self.workers = [line for line in self.lines if line["what"] == "WORKER"]

    def nodes(self):
        return sorted(line["node"] for line in self.runs)


def hint_about(ran, *parts):
    assert len(ran.hints) == len(parts), ran.hints
    for hint, part in zip(ran.hints, parts):
        assert part in hint


# --- 000: distinct GPUs per task ---------------------------------------------------------------------


def test_seed_000_example_1_one_gpu_for_one_task(quiet):
    ran = Ran(quiet, """#!/bin/bash
#SBATCH --partition=gpu_partition
#SBATCH --gres=gpu:1
#SBATCH --ntasks-per-node=1
#SBATCH --nodes=1
#SBATCH --job-name=single_gpu_task

# Your application command here
python my_gpu_program.py
""")
    assert [(run["args"], run["gpus"], run["cuda"]) for run in ran.runs] == [("my_gpu_program.py", "1", "0")]
    assert ran.job["JobName"] == "single_gpu_task" and ran.job["NumTasks"] == "1"
    hint_about(ran)


def test_seed_000_example_2_gres_is_for_each_node(quiet):
    ran = Ran(quiet, """#!/bin/bash
#SBATCH --partition=gpu_partition
#SBATCH --gres=gpu:4
#SBATCH --ntasks-per-node=2
#SBATCH --nodes=2
#SBATCH --job-name=multi_gpu_task

# Distribute tasks using MPI or similar
mpirun -np 4 my_mpi_program
""")
    assert re.search(r"gres/gpu=8\b", ran.job["AllocTRES"]), "8 GPUs, not 4"
    assert sorted(run["args"] for run in ran.runs) == ["0 0", "1 1", "2 0", "3 1"]
    assert {run["cuda"].count(",") + 1 for run in ran.runs} == {4}, "a rank sees the four GPUs of its node"
    assert len(set(ran.nodes())) == 2
    hint_about(ran, "--gres=gpu:4 is for each node, 8 GPUs on 2 nodes; --gpus=4 asks for 4 in all")


def test_seed_000_example_2_as_it_was_meant(quiet):
    for gpus in ("--gpus=4", "--gres=gpu:2"):
        ran = Ran(quiet, f"""#!/bin/bash
#SBATCH --partition=gpu_partition
#SBATCH {gpus}
#SBATCH --ntasks-per-node=2
#SBATCH --nodes=2
mpirun -np 4 my_mpi_program
""")
        assert re.search(r"gres/gpu=4\b", ran.job["AllocTRES"]), gpus
        assert {run["cuda"].count(",") + 1 for run in ran.runs} == {2}, "two on each node"
        hint_about(ran)


def test_seed_000_example_3_type_before_count(quiet):
    script = """#!/bin/bash
#SBATCH --partition=gpu_partition
#SBATCH --gres=GRES
#SBATCH --ntasks-per-node=1
#SBATCH --nodes=1
#SBATCH --job-name=specific_gpu_task
#SBATCH --constraint=tesla_v100

# Your application command here
python my_gpu_program.py
"""
    done = quiet.run("sbatch", quiet.script(script.replace("GRES", "gpu:1:tesla:v100")))
    assert done.code == 1 and "gpu:1:tesla:v100" in done.err and "job.sh:3" in done.err, done
    ran = Ran(quiet, script.replace("GRES", "gpu:v100:1"))
    assert [(run["node"], run["gpus"]) for run in ran.runs] == [("old", "1")]


def test_seed_000_gpus_belong_to_nodes_and_are_never_best_effort(quiet):
    assert "Gres=gpu:v100:4" in quiet.ok("scontrol", "show", "node", "old")
    done = quiet.run("sbatch", "-N1", "--gres=gpu:9", "--wrap", "true")
    assert done.code == 1 and "9 gpu" in done.err and "8" in done.err, "what no node has is refused"
    full = quiet.sbatch("-w", "old", "--gres=gpu:4", "-o", "/dev/null", "--wrap", "sleep 1000")
    quiet.wait_state(full, "RUNNING")
    waiting = quiet.sbatch("-w", "old", "--gres=gpu:1", "-o", "/dev/null", "--wrap", "true")
    until(lambda: quiet.job(waiting).get("Reason") not in ("None", None), what="a reason")
    assert quiet.job(waiting)["JobState"] == "PENDING", "what is taken is waited for"


# --- 001: --gres and --gpus-per-task, mpirun and srun --------------------------------------------------


def test_seed_001_example_1_tasks_see_the_gpus_of_their_node(quiet):
    ran = Ran(quiet, """#!/bin/bash
#SBATCH --job-name=gres_test
#SBATCH --nodes=2
#SBATCH --gres=gpu:4
#SBATCH --time=00:10:00
#SBATCH --output=gres_test.out
#SBATCH --error=gres_test.err

srun -n 4 nvidia-smi
""")
    assert re.search(r"gres/gpu=8\b", ran.job["AllocTRES"])
    nodes = ran.nodes()
    assert len(nodes) == 4 and nodes[0] == nodes[1] != nodes[2] == nodes[3], "two tasks on each node"
    assert {run["cuda"] for run in ran.runs} == {"0,1,2,3"}
    hint_about(ran, "--gres=gpu:4 is for each node")


def test_seed_001_example_2_each_task_has_its_own_gpu(quiet):
    ran = Ran(quiet, """#!/bin/bash
#SBATCH --job-name=gpus_per_task_test
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --gpus-per-task=1
#SBATCH --time=00:10:00
#SBATCH --output=gpus_per_task_test.out
#SBATCH --error=gpus_per_task_test.err

srun nvidia-smi
""")
    assert re.search(r"gres/gpu=4\b", ran.job["AllocTRES"])
    assert len({(run["node"], run["cuda"]) for run in ran.runs}) == 4
    assert all("," not in run["cuda"] for run in ran.runs)
    hint_about(ran)


def test_seed_001_example_2_too_few_gpus_are_no_reason_to_share(quiet):
    done = quiet.run("sbatch", "-w", "old", "-N1", "-n5", "--gpus-per-task=1", "--wrap", "srun nvidia-smi")
    assert done.code == 1 and "Requested node configuration is not available" in done.err, done


def test_seed_001_example_3_ranks_of_mpirun_choose_by_themselves(quiet):
    ran = Ran(quiet, """#!/bin/bash
#SBATCH --job-name=mpirun_test
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --gres=gpu:4
#SBATCH --time=00:10:00
#SBATCH --output=mpirun_test.out
#SBATCH --error=mpirun_test.err

mpirun -np 4 ./gpu_aware_app
""")
    assert sorted(run["args"] for run in ran.runs) == ["0 0", "1 1", "2 0", "3 1"]
    assert {run["cuda"] for run in ran.runs} == {"0,1,2,3"}, "nothing is bound"
    hint_about(ran, "--gres=gpu:4 is for each node")


def test_seed_001_gpus_per_task_sizes_the_job_under_mpirun_too(quiet):
    ran = Ran(quiet, """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --gpus-per-task=1
mpirun -np 4 ./gpu_aware_app
""")
    assert re.search(r"gres/gpu=4\b", ran.job["AllocTRES"])
    assert len(ran.runs) == 4 and {run["cuda"].count(",") + 1 for run in ran.runs} == {2}, "the daemon is not bound"


# --- 002: ntasks and ntasks-per-node -------------------------------------------------------------------

TORCH = """#!/bin/bash
#SBATCH --ntasks={0}
#SBATCH --nodes=4
#SBATCH --ntasks-per-node={1}
#SBATCH --gres=gpu:{1}
#SBATCH --job-name=pytorch

module load cuda/11.6  # Adjust to your CUDA version
source /path/to/your/conda/environment/activate  # Activate your conda environment

{2}python -m torch.distributed.launch --nproc_per_node={1} your_training_script.py
"""
ON_ONE_NODE = "torch.distributed.launch runs only on the first of the 4 nodes"


def test_seed_002_example_1_the_script_runs_on_one_node(quiet):
    ran = Ran(quiet, TORCH.format(4, 1, ""))
    assert ran.job["NumNodes"] == "4" and ran.job["NumTasks"] == "4"
    assert len(ran.runs) == 1 and len(ran.workers) == 1, "once, and not on four nodes"
    hint_about(ran, ON_ONE_NODE)


def test_seed_002_example_1_with_srun(quiet):
    ran = Ran(quiet, TORCH.format(4, 1, "srun "))
    assert len(set(ran.nodes())) == 4 and len(ran.workers) == 4
    hint_about(ran)


def test_seed_002_example_2_ntasks_wins_over_ntasks_per_node(quiet):
    ran = Ran(quiet, TORCH.format(4, 4, ""))
    assert ran.job["NumTasks"] == "4" and ran.runs[0]["shape"] == "1(x4)", "four tasks, not sixteen"
    assert len(ran.runs) == 1 and len(ran.workers) == 4
    hint_about(ran, ON_ONE_NODE, "--ntasks=4 wins over --ntasks-per-node=4")


def test_seed_002_example_3_tasks_and_workers_multiply(quiet):
    ran = Ran(quiet, TORCH.format(16, 4, ""))
    assert ran.job["NumTasks"] == "16" and ran.runs[0]["shape"] == "4(x4)"
    assert len(ran.runs) == 1 and len(ran.workers) == 4
    hint_about(ran, ON_ONE_NODE)
    ran = Ran(quiet, TORCH.format(16, 4, "srun "))
    assert len(ran.runs) == 16 and len(ran.workers) == 64
    hint_about(ran, "srun starts 16 tasks and torch.distributed.launch in each of them 4 workers, 64 in all")


# --- 003: Slurm for GPU clusters -----------------------------------------------------------------------

TRAIN = """#!/bin/bash
#SBATCH --job-name=train
#SBATCH --partition=blackwell
#SBATCH --nodes=8
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=96
#SBATCH --exclusive
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1)
export MASTER_PORT=23456
srun torchrun \\
--nnodes="$SLURM_NNODES" \\
--nproc_per_node=8 \\
--rdzv_backend=c10d \\
--rdzv_endpoint="$MASTER_ADDR:$MASTER_PORT" \\
train.py --fsdp --bf16
"""


def test_seed_003_torchrun_on_eight_nodes(quiet):
    ran = Ran(quiet, TRAIN)
    assert ran.nodes() == [f"gpu00{i}" for i in range(1, 9)] and len(ran.workers) == 64
    assert {run["cuda"] for run in ran.runs} == {"0,1,2,3,4,5,6,7"}
    first = next(run for run in ran.runs if run["rank"] == "0")
    assert first["master"] == first["node"] == "gpu001", "rank 0 is on the host that the others are told"
    assert "--rdzv_endpoint=gpu001:23456 train.py --fsdp --bf16" in first["args"]
    hint_about(ran, "only the default memory; --mem=0 gives all of it")


def test_seed_003_exclusive_keeps_others_away(quiet):
    train = quiet.sbatch("-p", "blackwell", "-N8", "--exclusive", "--mem=0", "-o", "/dev/null", "--wrap", "sleep 1000")
    quiet.wait_state(train, "RUNNING")
    small = quiet.sbatch("-p", "blackwell", "-n1", "--mem=1", "-o", "/dev/null", "--wrap", "true")
    until(lambda: quiet.job(small).get("Reason") not in ("None", None), what="a reason")
    assert quiet.job(small)["JobState"] == "PENDING"


def terminal(cluster, *command, lines=()):
    """Runs a command on a terminal of its own, types lines, and returns what was on the screen."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(cluster.work)
        os.execvpe(command[0], command, cluster.env(**path(cluster)))
    for line in lines:
        os.write(fd, line.encode() + b"\n")
    screen, deadline = b"", time.monotonic() + 60 * SLOW
    while time.monotonic() < deadline:
        if not select.select([fd], [], [], 1)[0]:
            continue
        try:
            part = os.read(fd, 4096)
        except OSError:  # the other end is closed
            part = b""
        if not part:
            break
        screen += part
    os.close(fd)
    return os.waitpid(pid, 0)[1] >> 8, screen.decode(errors="replace")


def test_seed_003_interactive_shell_with_one_gpu(quiet):
    code, screen = terminal(quiet, "srun", "--partition=gpu", "--gres=gpu:1", "--pty", "bash",
                            lines=['echo "have <$CUDA_VISIBLE_DEVICES>"; tty; exit 3'])
    assert code == 3 and re.search(r"have <\d>", screen) and "/dev/pts/" in screen, screen


def test_seed_003_array_of_sixteen(quiet):
    script = quiet.script('#!/bin/bash\necho "$SLURM_ARRAY_TASK_ID $SLURM_GPUS_ON_NODE"\n', "sweep.sh")
    job_id = quiet.sbatch("--array=0-15", "--gres=gpu:1", "-o", "sweep-%a.out", script)
    quiet.ok("sbatch", "--wait", "-o", "/dev/null", "--wrap", "true")
    until(lambda: not quiet.ok("squeue", "-h", "-j", job_id).strip(), timeout=60, what="the end of the array")
    assert [(quiet.work / f"sweep-{i}.out").read_text() for i in range(16)] == [f"{i} 1\n" for i in range(16)]


def test_seed_003_evaluation_after_training(quiet):
    train = quiet.script("#!/bin/bash\necho trained >> order\n", "train.sh")
    evaluate = quiet.script("#!/bin/bash\necho evaluated >> order\n", "eval.sh")
    done = quiet.sh(f'jid=$(sbatch --parsable -o /dev/null {train}); '
                    f'sbatch --dependency=afterok:"$jid" --parsable -o /dev/null {evaluate}')
    if "not built yet" in done.err:
        pytest.skip("--dependency is missing: " + done.err.strip())
    assert done.code == 0, done
    quiet.wait_done(int(done.out))
    assert (quiet.work / "order").read_text().split() == ["trained", "evaluated"]


def test_seed_003_pmix(quiet):
    done = quiet.run("srun", "--mpi=pmix", "-N2", "torchrun", "train.py", env=path(quiet))
    if "not supported" in done.err:
        pytest.skip("--mpi=pmix is missing: " + done.err.strip())
    assert done.code == 0 and len(re.findall(r"^RUN", done.out, re.M)) == 2, done


def test_seed_003_topology_packs_onto_few_switches(quiet):
    assert "SwitchName=leaf1 Level=0" in quiet.ok("scontrol", "show", "topology")
    first = quiet.sbatch("-p", "blackwell", "-N1", "--gres=gpu:8", "-o", "/dev/null", "--wrap", "sleep 1000")
    on = quiet.wait_state(first, "RUNNING")["NodeList"]
    leaves = [{f"gpu00{i}" for i in range(1, 5)}, {f"gpu00{i}" for i in range(5, 9)}]
    ran = Ran(quiet, "#!/bin/bash\nsrun torchrun\n", "-p", "blackwell", "-N4", "--gpus-per-node=8")
    assert set(ran.nodes()) == next(leaf for leaf in leaves if on not in leaf), "the leaf that is whole"


def test_seed_003_gpu_binding(quiet):
    """closest means all GPUs near the task's CPUs that the step has; map_gpu what it says; one of its own otherwise."""
    def seen(*options):
        out = quiet.ok("srun", "-p", "blackwell", "-N1", "-l", *options, "printenv", "CUDA_VISIBLE_DEVICES")
        return [line.split()[1] for line in sorted(out.splitlines())]
    assert seen("-n1", "--gres=gpu:2", "--gpu-bind=closest") in (["0,1"], ["4,5"])
    assert sorted(seen("-n2", "-c48", "--gres=gpu:8", "--gpu-bind=closest")) == ["0,1,2,3", "4,5,6,7"]
    assert seen("-n2", "--gres=gpu:2", "--gpu-bind=map_gpu:1,0") == ["1", "0"]
    assert seen("-n2", "--gpus-per-task=1") == ["0", "1"]


def test_seed_003_recipe_1_fsdp_launch(quiet):
    header = TRAIN.split("srun")[0].replace("--nodes=8", "--nodes=2")
    ran = Ran(quiet, header + """srun torchrun --nnodes="$SLURM_NNODES" --nproc_per_node=8 \\
--rdzv_backend=c10d --rdzv_endpoint="$MASTER_ADDR:23456" train.py --fsdp
""", "--mem=0")
    assert len(set(ran.nodes())) == 2 and len(ran.workers) == 16
    hint_about(ran)


def test_seed_003_recipe_2_two_gpus_on_a_terminal(quiet):
    code, screen = terminal(quiet, "srun", "--partition=gpu", "--gres=gpu:2", "--gpu-bind=closest", "--pty", "bash",
                            lines=["nvidia-smi -L", "exit"])
    assert code == 0 and len(re.findall(r"^GPU \d: stand-in", screen, re.M)) in (1, 2), screen


def test_seed_003_recipe_3_ray(quiet):
    ran = Ran(quiet, """#!/bin/bash
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --exclusive
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1)
ip_head="$head:6379"
# Ray 2.49+: starts Ray on all nodes, runs the script on the head only
srun --nodes="$SLURM_NNODES" --ntasks="$SLURM_NNODES" \\
ray symmetric-run --address "$ip_head" --min-nodes "$SLURM_NNODES" \\
--num-gpus="$SLURM_GPUS_PER_NODE" -- python train_rl.py
""")
    nodes = ran.nodes()
    assert len(set(nodes)) == 4
    assert {run["args"] for run in ran.runs} == {
        f"symmetric-run --address {nodes[0]}:6379 --min-nodes 4 --num-gpus=8 -- python train_rl.py"}
    hint_about(ran, "only the default memory")


def test_seed_003_a_typed_request_makes_the_variable_typed(quiet):
    done = quiet.run("sbatch", "--parsable", "-o", "typed.out", "--gpus-per-node=b200:8", "--wrap",
                     'true --num-gpus=$SLURM_GPUS_PER_NODE; echo "$SLURM_GPUS_PER_NODE $SLURM_GPUS_ON_NODE"')
    assert "sbatch: hint: SLURM_GPUS_PER_NODE is b200:8 in this job" in done.err, done
    quiet.wait_done(int(done.out))
    assert (quiet.work / "typed.out").read_text() == "b200:8 8\n"


@pytest.mark.parametrize("how", ["variable", "option"])
def test_hints_can_be_silenced(quiet, how):
    script = quiet.script(TORCH.format(4, 1, ""))
    done = quiet.run("sbatch", *(["-Q"] if how == "option" else []), "-o", "/dev/null", script,
                     env=dict(path(quiet), **({"SLURM_HINTS": "0"} if how == "variable" else {})))
    assert done.code == 0 and done.err == "", done

# SPDX-License-Identifier: Apache-2.0
"""Which task runs where, on which cores, with which GPUs: said before it runs, by the controller, and on the node."""
import re

import pytest

from conftest import Cluster, take_sanitizer_reports, until

CONF = """ClusterName=layout
SlurmctldHost=localhost
GresTypes=gpu
NodeName=node[1-4] CPUs=32 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000 Gres=gpu:a100:4
PartitionName=main Nodes=node[1-4] Default=YES
"""
GRES = """NodeName=node[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-7
NodeName=node[1-4] Name=gpu Type=a100 File=/dev/nvidia[2-3] Cores=8-15
"""


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster()
    site = cluster.dir / "site"
    site.mkdir()
    (site / "slurm.conf").write_text(CONF)
    (site / "gres.conf").write_text(GRES)
    cluster.up("--conf", site / "slurm.conf")
    yield cluster
    cluster.destroy()
    reports = take_sanitizer_reports()
    assert not reports, reports


def numbers(text):
    """{0, 1, 2, 7} for 0-2,7."""
    found = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def hosts(text):
    match = re.fullmatch(r"(\w+)\[(.*)\]", text)
    return [f"{match[1]}{n}" for n in sorted(numbers(match[2]))] if match else [text]


def foretold(cluster, request, command="sbatch", **kw):
    """{task: (node, cores, GPUs)} and {node: memory} of a dry run."""
    last = ["--wrap=true"] if command == "sbatch" else ["true"]
    done = cluster.run(command, "--test-only", "-v", *request, *last, **kw)
    assert done.code == 0, done
    lines = done.err[done.err.index("TASK "):].splitlines()[1:]
    tasks, memory = {}, {}
    for line in lines:
        task, node, cores, mem, gpus, *files = line.split()
        tasks[int(task)] = (node, frozenset(numbers(cores)), frozenset() if gpus == "-" else frozenset(numbers(gpus)))
        assert gpus == "-" or re.findall(r"nvidia(\d)", files[0]) == [str(g) for g in sorted(numbers(gpus))]
        memory[node] = mem
    start = re.search(r"Job \d+ to start at \S+ using (\d+) processors on nodes (\S+) in partition main", done.err)
    return tasks, memory, int(start[1]), start[2]


def mask(text):
    return frozenset(i for i in range(len(text) * 4) if int(text, 16) >> i & 1)


def allocated(cluster, job_id):
    """{node: (cores, memory, GPUs)} as the controller shows it."""
    text = cluster.ok("scontrol", "show", "job", "-d", job_id)
    found = {}
    for nodes, cpus, mem, gres in re.findall(r"Nodes=(\S+) CPU_IDs=(\S+) Mem=(\d+) GRES=(\S*)", text):
        index = re.search(r"IDX:([\d,-]+)", gres)
        for node in hosts(nodes):
            found[node] = (numbers(cpus), int(mem), numbers(index[1]) if index else set())
    return found, text


REQUESTS = {
    "a GPU for each task": ["-N2", "--ntasks-per-node=2", "-c4", "--gpus-per-task=1"],
    "uneven": ["-N2", "-n5", "-c2", "--mem=1000"],
    "cyclic": ["-N3", "-n6", "-m", "cyclic", "--gpus-per-node=2"],
    "plane": ["-N2", "-n6", "-m", "plane=2", "--mem-per-cpu=100"],
    "GPUs of the job": ["-n4", "-c8", "--gpus=4"],
    "sockets in blocks": ["-N2", "-n8", "-m", "block:block", "-c2", "--mem=1000"],
    "packed": ["-N2", "-n18", "-c2", "-m", "block,Pack"],
    "closest": ["-N1", "--exclusive", "-n2", "--gpus-per-node=4", "--gpu-bind=closest", "--mem=0"],
    "single": ["-N1", "-n4", "-c4", "--gpus-per-node=2", "--gpu-bind=single:2"],
    "map": ["-N1", "-n2", "--gpus-per-node=4", "--gpu-bind=map:3,0"],
    "three threads": ["-n3", "--mem-per-cpu=100"],
    "one thread of each core": ["-n4", "-c2", "--hint=nomultithread"],
    "exclusive without GPUs": ["-N2", "-n4", "--exclusive", "--mem=2000"],
    "cores of several tasks": ["-N2", "--ntasks-per-node=3", "-c3"],
}
SCRIPT = """srun --cpu-bind=verbose --gpu-bind=verbose%s bash -c 'echo task $SLURM_PROCID $SLURMD_NODENAME "$CUDA_VISIBLE_DEVICES"'
touch done; while [ ! -e go ]; do sleep 0.02; done"""


@pytest.mark.parametrize("name", REQUESTS)
def test_the_same_before_in_the_controller_and_on_the_node(cluster, name):
    request = REQUESTS[name]
    tasks, memory, processors, nodes = foretold(cluster, request)
    for flag in ("done", "go", "out"):
        (cluster.work / flag).unlink(missing_ok=True)
    how = next((r.partition("=")[2] for r in request if r.startswith("--gpu-bind")), "")
    per_task = "per_task:1" if "--gpus-per-task=1" in request else ""
    bind = how or per_task
    job_id = cluster.sbatch(*request, "-o", "out", cluster.script(SCRIPT % ("," + bind if bind else "")))
    until(lambda: (cluster.work / "done").exists() or cluster.job(job_id).get("JobState") == "FAILED", what="the step")
    controller, shown = allocated(cluster, job_id)
    (cluster.work / "go").touch()
    cluster.wait_done(job_id)
    out = (cluster.work / "out").read_text()

    # The controller gave what was foretold.
    assert f" NodeList={nodes}\n" in shown and f" NumCPUs={processors} " in shown, (shown, nodes, processors)
    assert set(controller) == {node for node, _, _ in tasks.values()}
    for node, (cores, mem, gpus) in controller.items():
        mine = [t for t in tasks.values() if t[0] == node]
        union = set().union(*(t[1] for t in mine))
        assert union <= cores and (union == cores or "one thread" in name), (node, union, cores)
        assert memory[node] == (f"{mem}M" if mem % 1024 and mem < 60000 else memory[node])
        if "--exclusive" not in request:
            used = set().union(*(t[2] for t in mine))
            assert used <= gpus and (used == gpus or name == "map"), (used, gpus)

    # The nodes did what was foretold.
    ran = {int(t): (n, frozenset(int(g) for g in d.split(",") if g))
           for t, n, d in re.findall(r"^task (\d+) (\S+) ?(\S*)$", out, re.M)}
    bound = {int(t): (n, mask(m)) for n, t, m in re.findall(r"cpu-bind=MASK - (\S+), task +(\d+) +\d+ \[\d+\]: mask 0x(\w+)", out)}
    told = {int(t): (n, frozenset(numbers(c)), frozenset() if g == "-" else frozenset(numbers(g)))
            for t, n, c, g in re.findall(r"gpu-bind: task (\d+) on (\S+): cores (\S+), GPUs ([\d,-]+)", out)}
    assert told == tasks, out
    assert ran == {t: (n, g) for t, (n, _, g) in tasks.items()}, out
    assert bound == {t: (n, c) for t, (n, c, _) in tasks.items()}, out


def test_arbitrary(cluster):
    (cluster.work / "hosts").write_text("node3\nnode1 # twice\nnode3\nnode2\n")
    env = {"SLURM_HOSTFILE": "hosts"}
    tasks, *_ = foretold(cluster, ["-m", "arbitrary", "-c2"], command="srun", env=env)
    assert [tasks[t][0] for t in range(4)] == ["node3", "node1", "node3", "node2"]
    out = cluster.ok("srun", "-m", "arbitrary", "-c2", "-l", "printenv", "SLURMD_NODENAME", env=env)
    assert sorted(out.splitlines()) == ["0: node3", "1: node1", "2: node3", "3: node2"]
    out = cluster.ok("salloc", "-Q", "-N4", "-n8", "srun", "-m", "arbitrary", "-n3", "-l", "printenv", "SLURMD_NODENAME", env=env)
    assert sorted(out.splitlines()) == ["0: node3", "1: node1", "2: node3"]


@pytest.mark.parametrize("words,why", [(["-N2"], "--nodes cannot be given"), (["-n9"], "nodes for 4 tasks")])
def test_arbitrary_refused(cluster, words, why):
    (cluster.work / "hosts").write_text("node3\nnode1\nnode3\nnode2\n")
    done = cluster.run("srun", "-m", "arbitrary", *words, "true", env={"SLURM_HOSTFILE": "hosts"})
    assert done.code == 1 and why in done.err, done


def test_arbitrary_needs_the_file(cluster):
    done = cluster.run("srun", "-m", "arbitrary", "true")
    assert done.code == 1 and "SLURM_HOSTFILE" in done.err, done


def test_plane_is_inherited(cluster):
    out = cluster.ok("salloc", "-Q", "-N2", "-n6", "-m", "plane=2", "bash", "-c",
                     "echo $SLURM_DISTRIBUTION $SLURM_DIST_PLANESIZE; srun -l printenv SLURMD_NODENAME")
    assert out.splitlines()[0] == "plane 2"
    assert sorted(out.splitlines()[1:]) == [f"{t}: node{n}" for t, n in enumerate([1, 1, 2, 2, 1, 1])]


def test_bindings_that_name_nothing(cluster):
    done = cluster.run("srun", "-n1", "--gpus=1", "--gpu-bind=map:3", "printenv", "CUDA_VISIBLE_DEVICES")
    assert done.code == 0 and done.out == "0\n", done
    assert "does not specify any devices within the allocation for task 0" in done.err
    done = cluster.run("srun", "-n1", "--cpu-bind=map_cpu:31", "printenv", "SLURM_CPU_BIND")
    assert done.code == 0 and "not the step's (0-1)" in done.err and done.out == "quiet,mask_cpu:0x3\n", done


def test_ldoms_are_refused(cluster):
    done = cluster.run("srun", "-n1", "--cpu-bind=ldoms", "true")
    assert done.code == 255 and "NUMA" in done.err, done


def test_when_and_why_not_now(cluster):
    cluster.cancel_all()
    limited = cluster.sbatch("-N4", "--exclusive", "-t", "10", "-o", "/dev/null", "--wrap", "sleep 1000")
    end = cluster.wait_state(limited, "RUNNING")["EndTime"]
    done = cluster.run("sbatch", "--test-only", "-N2", "--wrap=true")
    assert done.code == 0 and f"to start at {end} using" in done.err and "running jobs" in done.err, done
    cluster.cancel_all()
    endless = cluster.sbatch("-N4", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 1000")
    cluster.wait_state(endless, "RUNNING")
    done = cluster.run("salloc", "--test-only", "-N2")
    assert done.code == 0 and "without a time limit" in done.err, done
    cluster.cancel_all()
    assert not cluster.ok("squeue", "-h").strip(), "a dry run leaves nothing behind"


def test_never(cluster):
    for command in (["sbatch", "--test-only", "--gres=gpu:5", "--wrap=true"], ["srun", "--test-only", "-c33", "true"],
                    ["salloc", "--test-only", "-N5", "--gpus-per-node=5"]):
        done = cluster.run(*command)
        assert done.code == (0 if "-N5" in command else 1), done
        assert "-N5" in command or done.err.startswith("allocation failure: Requested node configuration"), done

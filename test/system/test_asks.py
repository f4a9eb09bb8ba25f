# SPDX-License-Identifier: Apache-2.0
"""What can be asked of a machine, from the option to the node: numbers of nodes, shapes, tasks and GPUs.

Each line of a table is a request and what the job is then given; requests that cannot be are refused by name."""
import re

import pytest

from conftest import Cluster, take_sanitizer_reports

CONF = """ClusterName=asks
SlurmctldHost=localhost
GresTypes=gpu
NodeName=small[1-4] Sockets=1 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=8192 Gres=gpu:2
NodeName=large Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=65536 Gres=gpu:8 Weight=10
PartitionName=all Nodes=small[1-4],large Default=YES MaxTime=INFINITE State=UP
"""
GRES = """NodeName=small[1-4] Name=gpu File=/dev/nvidia[0-1]
NodeName=large Name=gpu File=/dev/nvidia[0-3] Cores=0-7
NodeName=large Name=gpu File=/dev/nvidia[4-7] Cores=8-15
"""


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster()
    shape = cluster.dir / "shape"
    shape.mkdir()
    (shape / "slurm.conf").write_text(CONF)
    (shape / "gres.conf").write_text(GRES)
    cluster.up("--conf", shape / "slurm.conf")
    yield cluster
    cluster.destroy()
    reports = take_sanitizer_reports()
    assert not reports, reports


@pytest.mark.parametrize("options,nodes,tasks", [
    ("-N2-4", 4, "1(x4)"),                                   # as many as can be had
    ("-N2-4 --use-min-nodes", 2, "1(x2)"),
    ("-N1,3", 3, "1(x3)"),                                   # one of the numbers
    ("-N1,9", 1, "1"),
    ("-N1-4:2", 3, "1(x3)"),
    ("-n4", 1, "4"),                                         # as few as hold them
    ("-n4 --spread-job", 4, "1(x4)"),
    ("-n5 --spread-job -N1-4", 4, "2,1(x3)"),
    ("-n4 --ntasks-per-core=1", 1, "4"),
    ("-n5 --ntasks-per-core=1 -x large", 2, "3,2"),          # small ones have four cores
    ("-n3 --hint=nomultithread -c2 -x large", 2, "2,1"),
    ("-n3 --threads-per-core=2 -c2 -x large", 1, "3"),
    ("-n4 --ntasks-per-socket=2", 1, "4"),                   # the one with two sockets
    ("-B 2", 1, "1"),
    ("-N2 --gpus-per-node=2 --ntasks-per-gpu=2", 2, "4(x2)"),
    ("-N1 -G8 --ntasks-per-gpu=1 --cpus-per-gpu=4", 1, "8"),
])
def test_sizes(quiet, options, nodes, tasks):
    job_id = quiet.sbatch("-Q", "--mem=100", *options.split(), "-o", "sizes.out", "--wrap",
                          "echo $SLURM_JOB_NUM_NODES $SLURM_TASKS_PER_NODE")
    quiet.wait_done(job_id)
    assert (quiet.work / "sizes.out").read_text() == f"{nodes} {tasks}\n"


@pytest.mark.parametrize("options,node", [
    ("-n4 --ntasks-per-socket=2", "large"), ("-B 2:8:2", "large"), ("--sockets-per-node=2", "large"),
    ("--cores-per-socket=5", "large"), ("--mincpus=9", "large"), ("--gpus-per-socket=1 --sockets-per-node=2", "large"),
    ("--threads-per-core=2", "small1"), ("-B *:4:2", "small1"),
])
def test_shapes(quiet, options, node):
    assert quiet.ok("srun", "--mem=100", "-N1", *options.split(), "bash", "-c",
                    "[ $SLURM_PROCID = 0 ] && echo $SLURMD_NODENAME || true") == f"{node}\n"


@pytest.mark.parametrize("options,words", [
    ("-B 4", "Requested node configuration is not available"),
    ("--threads-per-core=4", "Requested node configuration is not available"),
    ("--gpu-freq=low", "--gpu-freq is not built yet"),
    ("-S1", "--core-spec needs AllowSpecResourcesUsage=YES"),
    ("--thread-spec=1", "--thread-spec needs AllowSpecResourcesUsage=YES"),
])
def test_what_cannot_be_is_refused(quiet, options, words):
    done = quiet.run("sbatch", *options.split(), "--wrap", "true")
    assert done.code == 1 and words in done.err, done


def test_tasks_that_share_gpus(quiet):
    out = quiet.ok("srun", "-n4", "--ntasks-per-gpu=2", "-l", "printenv", "CUDA_VISIBLE_DEVICES")
    assert sorted(out.splitlines()) == ["0: 0", "1: 0", "2: 1", "3: 1"]
    job_id = quiet.sbatch("--gpus=2", "--ntasks-per-gpu=2", "-o", "share.out", "--wrap",
                          "echo $SLURM_NTASKS $SLURM_NTASKS_PER_GPU $SLURM_TRES_BIND; "
                          "srun -l printenv CUDA_VISIBLE_DEVICES | sort")
    quiet.wait_done(job_id)
    assert (quiet.work / "share.out").read_text() == "4 2 gres/gpu:single:2\n0: 0\n1: 0\n2: 1\n3: 1\n"


def test_steps_may_share_gpus_in_their_own_way(quiet):
    job_id = quiet.sbatch("-N1", "-n4", "--gpus-per-node=2", "-o", "steps.out", "--wrap",
                          "srun -n2 --ntasks-per-gpu=1 -N1 --exact -l printenv CUDA_VISIBLE_DEVICES | sort; "
                          "srun --hint=multithread true")
    quiet.wait_done(job_id)
    lines = (quiet.work / "steps.out").read_text().splitlines()
    assert lines[:2] == ["0: 0", "1: 1"] and "--hint of a step is not supported" in lines[2], lines


def test_cores_and_gpus_on_the_same_socket(quiet):
    """enforce-binding: eight cores and four GPUs are on one socket."""
    def cpus(*options):
        done = quiet.run("srun", "-w", "large", "-N1", "--mem=100", "-n1", "--gpus-per-node=4", "-c16", "--test-only",
                         "-v", *options, "true")
        return re.search(r"^0 +large +(\S+) .* (\d-\d) ", done.err, re.M).groups()
    assert cpus("--gres-flags=enforce-binding") in (("0-15", "0-3"), ("16-31", "4-7"))

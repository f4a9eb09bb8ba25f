# SPDX-License-Identifier: Apache-2.0
"""Generic resources besides whole GPUs, with real daemons: parts of GPUs, counts, and what never runs out."""
import re

import pytest

from conftest import Cluster, take_sanitizer_reports, until

CONF = """ClusterName=parts
SlurmctldHost=localhost
GresTypes=gpu,shard,mps,nic,bandwidth
NodeName=box Sockets=2 CoresPerSocket=4 RealMemory=8000 Gres=gpu:h100:4,shard:32,mps:400,nic:2,bandwidth:lustre:no_consume:4G
NodeName=plain Sockets=1 CoresPerSocket=4 RealMemory=8000 Gres=gpu:a100:2,shard:4
PartitionName=all Nodes=box,plain Default=YES
"""
GRES = """NodeName=box Name=gpu Type=h100 File=/dev/nvidia[0-1] Cores=0-3
NodeName=box Name=gpu Type=h100 File=/dev/nvidia[2-3] Cores=4-7
NodeName=box Name=nic Count=2 Flags=CountOnly
"""
SAY = ('echo cuda=${CUDA_VISIBLE_DEVICES-none} shards=${SLURM_SHARDS_ON_NODE-none} gpus=${SLURM_GPUS_ON_NODE-none} '
       'job=${SLURM_JOB_GPUS-none} mps=${CUDA_MPS_ACTIVE_THREAD_PERCENTAGE-none}')


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


def used(cluster, node="box"):
    return re.search(r"GresUsed=(\S+)", cluster.ok("scontrol", "show", "node", "-d", node))[1]


def say(cluster, *options):
    out = cluster.ok("srun", "-Q", "--mem=10", *options, "bash", "-c", SAY).strip()
    return dict(word.split("=") for word in out.split())


def hold(cluster, *options):
    job = cluster.sbatch("--mem=10", "-o", "/dev/null", *options, "--wrap", "sleep 1000")
    until(lambda: cluster.job(job)["JobState"] == "RUNNING", what=f"job {job}")
    return job


def idle(cluster):
    cluster.ok("scancel", "--me")
    until(lambda: cluster.ok("squeue", "-h") == "", what="an empty queue")


def test_parts_of_gpus_and_whole_gpus(cluster):
    empty = "gpu:h100:0(IDX:N/A),nic:0,bandwidth:lustre:0,shard:h100:0(0/8,0/8,0/8,0/8),mps:h100:0(0/100,0/100,0/100,0/100)"
    assert used(cluster) == empty
    first = hold(cluster, "-w", "box", "--gres=shard:h100:4")
    hold(cluster, "-w", "box", "--gres=shard:2")
    hold(cluster, "-w", "box", "--gres=gpu:1")
    hold(cluster, "-w", "box", "--gres=mps:50")
    assert used(cluster) == ("gpu:h100:1(IDX:1),nic:0,bandwidth:lustre:0,shard:h100:6(6/8,0/8,0/8,0/8),"
                             "mps:h100:50(0/100,0/100,50/100,0/100)")
    assert "shard:h100:4(IDX:0)" in cluster.ok("scontrol", "show", "job", "-d", first)
    # Two GPUs are in use otherwise: one is left.
    waits = cluster.sbatch("-w", "box", "--gres=gpu:2", "--mem=10", "--wrap", "true")
    until(lambda: cluster.job(waits)["Reason"] == "Resources", what="the reason")
    idle(cluster)
    assert used(cluster) == empty


def test_environment(cluster):
    hold(cluster, "-w", "box", "--gres=gpu:1")
    assert say(cluster, "-w", "box", "--gres=shard:3") == {"cuda": "1", "shards": "3", "gpus": "none", "job": "none",
                                                           "mps": "none"}
    mps = say(cluster, "-w", "box", "--gres=mps:25")
    assert (mps["cuda"], mps["mps"]) == ("0", "25")
    # Without a line in gres.conf the GPUs of a node that shares them are numbers.
    assert say(cluster, "-w", "plain", "--gres=shard:a100:2")["cuda"] == "0"
    assert say(cluster, "-w", "box", "--gres=nic:1")["cuda"] == "none"
    idle(cluster)


def test_steps_share_the_parts_of_their_job(cluster):
    done = cluster.run("salloc", "-Q", "-w", "box", "--gres=shard:6", "-n2", "--mem=10", "bash", "-c",
                       f"srun -n1 --exact --gres=shard:2 --mem=5 bash -c '{SAY}'; srun -n1 --gres=none bash -c '{SAY}'; "
                       "srun -n1 --gres=shard:7 true")
    assert "the step asks for 7 shard on a node, the job has 6 there" in done.err, done
    first, second = (dict(w.split("=") for w in line.split()) for line in done.out.splitlines())
    assert (first["cuda"], first["shards"]) == ("0", "2")
    assert (second["cuda"], second["shards"]) == ("none", "none")


def test_one_gpu_for_each_task(cluster):
    out = cluster.ok("srun", "-Q", "-w", "box", "-n3", "--mem=10", "--tres-per-task=gres/shard:2",
                     "--gres-flags=one-task-per-sharing", "bash", "-c", "echo $CUDA_VISIBLE_DEVICES")
    assert sorted(out.split()) == ["0", "1", "2"]


def test_what_never_runs_out_and_what_does(cluster):
    for _ in range(2):
        hold(cluster, "-w", "box", "--gres=bandwidth:lustre:4G,nic:1")
    assert "nic:2," in used(cluster)
    waits = cluster.sbatch("-w", "box", "--gres=nic", "--mem=10", "--wrap", "true")
    until(lambda: cluster.job(waits)["Reason"] == "Resources", what="the reason")
    idle(cluster)


def test_binding_keeps_cores_beside_their_gpus(cluster):
    hold(cluster, "-w", "box", "-n3", "--gres=gpu:1")  # a core and a GPU of the first socket are left
    late = cluster.sbatch("-w", "box", "-n2", "--gres=gpu:3", "--mem=10", "--gres-flags=enforce-binding", "-o", "/dev/null",
                          "--wrap", "sleep 1000")
    until(lambda: cluster.job(late)["JobState"] == "RUNNING", what="the job")
    detail = cluster.ok("scontrol", "show", "job", "-d", late)
    assert "CPU_IDs=3-4" in detail and "GRES=gpu:h100:3(IDX:1-3)" in detail
    idle(cluster)


@pytest.mark.parametrize("gres, why", [
    ("shard:9", "9 shard on a node are asked for, the most any node has is 8"),
    ("shard:a100:3", "3 shard:a100 on a node are asked for, the most any node has is 2"),
    ("gpu:1,shard:1", "gpu and shard in one job"),
    ("fpga", "'fpga' is not among GresTypes"),
])
def test_refusals(cluster, gres, why):
    done = cluster.run("sbatch", f"--gres={gres}", "--wrap", "true")
    assert done.code == 1 and why in done.err, done


def test_help_lists_what_there_is(cluster):
    for command in ("sbatch", "salloc", "srun"):
        assert cluster.ok(command, "--gres=help").splitlines() == ["Valid gres options are:"] + [
            f"{name}[[:type]:count]" for name in ("gpu", "shard", "mps", "nic", "bandwidth")]

# SPDX-License-Identifier: Apache-2.0
"""Licences, limits and defaults of partitions, nodes that are not shared and cores that the system keeps, from slurm.conf
to what a job gets and says."""
import pytest

from conftest import Cluster, take_sanitizer_reports, until

CONF = """ClusterName=limits
SlurmctldHost=localhost
GresTypes=gpu
Licenses=matlab:3,ansys
AllowSpecResourcesUsage=YES
NodeName=n[1-2] Sockets=2 CoresPerSocket=2 RealMemory=4096 Gres=gpu:2
NodeName=kept Sockets=2 CoresPerSocket=2 RealMemory=4096 MemSpecLimit=1024 CoreSpecCount=2
PartitionName=all Nodes=n[1-2] Default=YES DefMemPerGPU=300 DefCpuPerGPU=2 TRESBillingWeights=CPU=1.0,Mem=1G,GRES/gpu=10
PartitionName=small Nodes=n[1-2] MaxNodes=1 MaxTime=10 MaxMemPerNode=1000 MaxCPUsPerNode=2
PartitionName=ml Nodes=n[1-2] AllowAccounts=ml DenyQos=low
PartitionName=alone Nodes=n[1-2] Exclusive=USER
PartitionName=booked Nodes=n[1-2] ReqResv=YES
PartitionName=spec Nodes=kept
"""
GRES = "NodeName=n[1-2] Name=gpu File=/dev/nvidia[0-1]\n"


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


def wait_reason(cluster, job_id, reason):
    until(lambda: cluster.job(job_id).get("Reason") == reason, what=f"job {job_id} to wait for {reason}")


def test_licenses(quiet):
    first = quiet.sbatch("--mem=10", "-L", "matlab:2,ansys", "-o", "lic.out", "--wrap", "echo $SLURM_JOB_LICENSES; sleep 100")
    quiet.wait_state(first, "RUNNING")
    second = quiet.sbatch("--mem=10", "-L", "matlab:2", "--wrap", "true")
    assert "Total=3 Used=2 Free=1 Reserved=0 Remote=no" in quiet.ok("scontrol", "show", "licenses", "matlab")
    job = quiet.ok("scontrol", "show", "job", first)
    assert "Licenses=matlab:2,ansys LicensesAlloc=matlab:2,ansys:1" in job
    wait_reason(quiet, second, "Licenses")
    until(lambda: (quiet.work / "lic.out").exists() and (quiet.work / "lic.out").read_text(), what="the script to speak")
    quiet.ok("scancel", first)
    quiet.wait_done(second)
    assert (quiet.work / "lic.out").read_text().startswith("matlab:2,ansys:1\n")
    refused = quiet.run("sbatch", "-L", "matlab:4", "--wrap", "true")
    assert "Invalid license specification: 4 of license 'matlab' asked for, there are 3" in refused.err


@pytest.mark.parametrize("options,reason", [
    ("-p small -N2", "PartitionNodeLimit"),
    ("-p small -t 20", "PartitionTimeLimit"),
    ("-p small --mem=2000", "MaxMemPerLimit"),
    ("-p ml --mem=10", "AccountNotAllowed"),
    ("-p ml -A ml -q low --mem=10", "QOSNotAllowed"),
])
def test_limits_wait_with_their_reason(quiet, options, reason):
    job = quiet.sbatch(*options.split(), "--wrap", "true")
    wait_reason(quiet, job, reason)


def test_what_never_enters(quiet):
    assert "partition booked is for jobs with --reservation" in quiet.run("sbatch", "-p", "booked", "--wrap", "true").err


def test_defaults_and_billing(quiet):
    out = quiet.ok("srun", "-n1", "-G2", "bash", "-c", "scontrol show job $SLURM_JOB_ID | grep AllocTRES")
    assert "cpu=4,mem=600M,node=1,billing=24,gres/gpu=2" in out


def test_cpus_of_a_partition(quiet):
    jobs = [quiet.sbatch("-p", "small", "--mem=10", "-t5", "-w", "n1", "--wrap", "sleep 100") for _ in range(3)]
    quiet.wait_state(jobs[1], "RUNNING")
    wait_reason(quiet, jobs[2], "Resources")


def test_nodes_of_one_user(quiet):
    job = quiet.sbatch("-p", "alone", "--mem=10", "-w", "n1", "--wrap", "sleep 100")
    quiet.wait_state(job, "RUNNING")
    assert "Owner=root(0)" in quiet.ok("scontrol", "show", "node", "n1")
    quiet.ok("srun", "-p", "alone", "--mem=10", "-w", "n1", "true")


def test_cores_that_the_system_keeps(quiet):
    node = quiet.ok("scontrol", "show", "node", "kept")
    assert "CPUAlloc=0 CPUEfctv=2 CPUTot=4" in node
    assert "CoreSpecCount=2 CPUSpecList=1,3 MemSpecLimit=1024" in node
    cpus = "echo $SLURM_JOB_CPUS_PER_NODE"
    assert quiet.ok("srun", "-p", "spec", "--exclusive", "--mem=0", "-n1", "bash", "-c", cpus) == "2\n"
    assert quiet.ok("srun", "-p", "spec", "-S1", "--mem=0", "-n1", "bash", "-c", cpus) == "3\n"
    assert quiet.ok("srun", "-p", "spec", "-S0", "--mem=0", "-n1", "bash", "-c", cpus) == "4\n"
    refused = quiet.run("sbatch", "-p", "spec", "-c3", "--wrap", "true")
    assert "3 CPUs on a node are asked for, the most any node has is 2" in refused.err


def test_oversubscribe_is_a_permission(quiet):
    assert quiet.ok("srun", "-s", "--mem=10", "echo", "there") == "there\n"


def test_more_tasks_than_cpus(quiet):
    out = quiet.ok("srun", "-O", "-N1", "-n9", "--mem=10", "bash", "-c", "echo $SLURM_JOB_CPUS_PER_NODE")
    assert out == "1\n" * 9


def test_all_memory_of_a_node(quiet):
    out = quiet.ok("srun", "-p", "spec", "--mem=0", "bash", "-c", "scontrol show job $SLURM_JOB_ID | grep AllocTRES")
    assert "mem=3G" in out

# SPDX-License-Identifier: Apache-2.0
"""muster up and muster down: idempotent, side by side, clear about what is wrong."""
import os
import signal
import socket
import stat
from pathlib import Path

import pytest

from conftest import BIN, Cluster, until


def states(cluster):
    return cluster.ok("sinfo", "-h", "-N", "-o", "%N %T").split()


def test_up_makes_what_it_promises(fresh):
    out = fresh.up().out
    assert str(fresh.dir / "env") in out and "down" in out
    assert states(fresh) == ["node1", "idle", "node2", "idle"]
    for name in ("slurmctld", "slurmd-node1", "slurmd-node2"):
        assert fresh.alive(name)
    assert stat.S_IMODE((fresh.dir / "etc/slurm.key").stat().st_mode) == 0o600
    assert (fresh.dir / "dev/nvidia1").exists()
    done = fresh.run("bash", "-c", f". {fresh.dir}/env && . {fresh.dir}/env && echo $PATH && command -v sinfo && sinfo",
                     env={"PATH": "/usr/bin:/bin", "SLURM_CONF": "/nonexistent"})
    assert done.code == 0 and done.out.count(f"{BIN}:") == 1, done


def test_up_twice_says_so(fresh):
    fresh.up()
    pids = [fresh.pid(n) for n in ("slurmctld", "slurmd-node1", "slurmd-node2")]
    assert "running already" in fresh.up().out
    assert pids == [fresh.pid(n) for n in ("slurmctld", "slurmd-node1", "slurmd-node2")]


def test_down_twice_says_so(fresh):
    fresh.up()
    out = fresh.down().out
    assert "controller" in out and "2 node daemons" in out
    assert "nothing was running" in fresh.down().out
    assert fresh.processes() == {}
    assert not list((fresh.dir / "run").glob("*.pid"))


def test_down_without_a_cluster(tmp_path):
    done = Cluster(directory=tmp_path).muster("down")
    assert done.code == 0 and "no cluster" in done.out


@pytest.mark.parametrize("victims", [["slurmctld"], ["slurmd-node2"], ["slurmd-node1", "slurmd-node2", "slurmctld"]])
def test_up_brings_back_what_died(fresh, victims):
    fresh.up()
    job_id = fresh.sbatch("-H", "--wrap", "true")
    for name in victims:
        fresh.kill(name)
    out = fresh.up().out
    assert ("started again" in out) == (len(victims) < 3)
    assert states(fresh) == ["node1", "idle", "node2", "idle"]
    assert fresh.job(job_id)["JobState"] == "PENDING"


def test_down_and_up_keep_the_state_and_the_port(fresh):
    fresh.up()
    port, job_id = fresh.port, fresh.sbatch("-H", "--wrap", "true")
    fresh.down()
    fresh.up()
    assert fresh.port == port and fresh.job(job_id)["JobState"] == "PENDING"
    assert fresh.sbatch("-H", "--wrap", "true") == job_id + 1


def test_down_ends_jobs_and_their_children(fresh):
    fresh.up()
    fresh.sbatch("-N2", "--wrap", "trap '' TERM; (setsid sleep 1000 &); srun sleep 1000; sleep 1000")
    until(lambda: sum("sleep 1000" in line for line in fresh.processes().values()) >= 3, what="the job's processes")
    fresh.down()
    assert fresh.processes() == {}


def test_clusters_side_by_side(fresh):
    other = Cluster(["--nodes", "1", "--gpus", "0"])
    try:
        fresh.up()
        other.up()
        assert fresh.port != other.port
        assert fresh.sbatch("-o", "here", "--wait", "--wrap", "hostname") == 1
        assert other.sbatch("-o", "there", "--wait", "--wrap", "hostname") == 1
        other.down()
        assert states(fresh) == ["node1", "idle", "node2", "idle"]
    finally:
        other.destroy()


def test_shape(fresh):
    fresh.up("--nodes", "3", "--gpus", "4", "--gpu-type", "h100", "--cpus", "6", "--memory", "5000")
    assert fresh.ok("sinfo", "-h", "-o", "%D %c %m %G").split() == ["3", "6", "5000", "gpu:h100:4"]
    assert "running already" in fresh.up("--gpus", "4").out
    done = fresh.muster("up", "--gpus", "5")
    assert done.code == 1 and "--gpus" in done.err and "another shape" in done.err


@pytest.mark.parametrize("args,words", [
    (["up", "--nodes", "0"], ["--nodes", "1 to"]),
    (["up", "--nodes", "x"], ["--nodes", "x"]),
    (["up", "--cpus", "-3"], ["--cpus", "-3"]),
    (["up", "--gpu-type", "a b"], ["--gpu-type", "a b"]),
    (["up", "--nosuch"], ["--nosuch"]),
    (["up", "extra"], ["extra"]),
    (["up", "--conf", "/no/such/slurm.conf"], ["/no/such/slurm.conf", "No such file"]),
    (["up", "--conf", "/dev/null", "--nodes", "2"], ["--conf", "--nodes"]),
    (["down", "extra"], ["extra", "--dir"]),
    (["upp"], ["upp", "'up'"]),
])
def test_bad_options(tmp_path, args, words):
    done = Cluster(directory=tmp_path).muster(*args)
    assert done.code == 1 and all(word in done.err for word in words), done
    assert not (tmp_path / "etc").exists()


def test_directory_that_cannot_be_used(tmp_path):
    cluster = Cluster(directory=tmp_path)
    for bad, word in ((tmp_path / "a b", "' '"), (tmp_path / ("x" * 100), "too long"), ("/proc/nothing", "/proc/nothing")):
        done = cluster.run(BIN / "muster", "up", "--dir", bad)
        assert done.code == 1 and word in done.err and "--dir" in done.err or "cannot create" in done.err, done


def test_port_that_is_taken(fresh):
    fresh.up()
    fresh.down()
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("", fresh.port))
        s.listen()
        done = fresh.muster("up")
        assert done.code == 1 and f"port {fresh.port}" in done.err and "SlurmctldPort" in done.err, done
    assert fresh.processes() == {}
    fresh.up()


def test_broken_configuration_names_the_line(fresh):
    fresh.up()
    fresh.down()
    text = fresh.conf.read_text()
    fresh.conf.write_text(text + "ReturnToServce=2\n")
    done = fresh.muster("up")
    assert done.code == 1 and "ReturnToService" in done.err and str(text.count("\n") + 1) in done.err, done
    fresh.conf.write_text(text)
    fresh.up()


def test_program_that_is_missing(fresh, tmp_path):
    (tmp_path / "muster").write_bytes((BIN / "muster").read_bytes())
    (tmp_path / "muster").chmod(0o755)
    done = fresh.run(tmp_path / "muster", "up", "--dir", fresh.dir)
    assert done.code == 1 and f"{tmp_path}/slurmctld" in done.err and "make" in done.err, done


def test_conf_gives_the_shape(fresh, tmp_path):
    (tmp_path / "nodes.conf").write_text(
        "NodeName=DEFAULT CPUs=4 RealMemory=2000\n"
        "NodeName=gpu[001-002] NodeAddr=10.0.0.[1-2] Port=7000 Gres=gpu:a100:2 \\\n   Features=big\n"
        "NodeName=login1 NodeHostname=elsewhere\n")
    (tmp_path / "slurm.conf").write_text(
        "# a site's file\nClusterName=thesite\nSlurmctldHost=head(10.0.0.254)\nslurmctldport=6817\nAuthType=auth/munge\n"
        "StateSaveLocation=/var/spool/ctld\nGresTypes=gpu\nInclude nodes.conf\n"
        "PartitionName=batch Nodes=gpu[001-002] Default=YES MaxTime=1-0\nPartitionName=all Nodes=ALL\n")
    (tmp_path / "gres.conf").write_text("NodeName=gpu[001-002] Name=gpu Type=a100 File=/dev/nvidia[70-71]\n")
    (tmp_path / "topology.conf").write_text("SwitchName=s1 Nodes=gpu[001-002],login1\n")
    fresh.up("--conf", tmp_path / "slurm.conf")
    assert fresh.ok("sinfo", "-h", "-N", "-p", "all", "-o", "%N %T").split() == [
        "gpu001", "idle", "gpu002", "idle", "login1", "idle"]
    assert "ClusterName=thesite" in fresh.conf.read_text() and fresh.port != 6817
    assert fresh.ok("sinfo", "-h", "-p", "batch", "-o", "%P %l").split() == ["batch*", "1-00:00:00"]
    assert (fresh.dir / "dev/nvidia71").exists() and (fresh.dir / "etc/topology.conf").exists()
    assert fresh.ok("srun", "-p", "batch", "--gres=gpu:a100:2", "printenv", "CUDA_VISIBLE_DEVICES").strip() == "0,1"
    assert "running already" in fresh.up("--conf", tmp_path / "slurm.conf").out


def test_conf_with_a_mistake_starts_nothing(fresh, tmp_path):
    (tmp_path / "slurm.conf").write_text("ClusterName=x\nNodeName=n[1-\n")
    done = fresh.muster("up", "--conf", tmp_path / "slurm.conf")
    assert done.code == 1 and "slurm.conf:2" in done.err, done
    assert not fresh.conf.exists() and fresh.processes() == {}
    fresh.up()


def test_default_directory(tmp_path):
    state = Path("/tmp") / f"mu-{os.getpid()}"
    cluster = Cluster(directory=tmp_path)
    env = {"XDG_STATE_HOME": state}
    try:
        done = cluster.run(BIN / "muster", "up", "--nodes", "1", "--gpus", "1", env=env)
        assert done.code == 0 and str(state / "muster/default") in done.out, done
        assert (state / "muster/default/env").exists()
    finally:
        assert cluster.run(BIN / "muster", "down", env=env).code == 0
        cluster.run("rm", "-rf", state)


def test_a_stopped_controller_is_ended_too(fresh):
    fresh.up()
    os.kill(fresh.pid(), signal.SIGSTOP)
    fresh.down()
    assert fresh.processes() == {}

# SPDX-License-Identifier: Apache-2.0
"""A cluster with auth/munge and a munged of its own, with its key and socket in the test's directory."""
import os
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from conftest import Cluster, open_to_users, take_sanitizer_reports, until
import wire


class Munged:
    def __init__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="mu-munge-", dir="/tmp"))
        self.dir.chmod(0o755)
        self.socket = self.dir / "socket"
        (self.dir / "key").write_bytes(secrets.token_bytes(128))
        (self.dir / "key").chmod(0o600)
        self.child = None

    def start(self):
        files = [f"--{name}-file={self.dir}/{name}" for name in ("key", "log", "pid", "seed")]
        self.child = subprocess.Popen(["/usr/sbin/munged", "--foreground", "--force", *files, f"--socket={self.socket}"],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(self.answers, what="munged")

    def answers(self):
        assert self.child.poll() is None, (self.dir / "log").read_text()
        with socket.socket(socket.AF_UNIX) as s:
            return s.connect_ex(str(self.socket)) == 0

    def stop(self):
        if self.child:
            self.child.terminate()
            self.child.wait()
            self.child = None

    def token(self, payload, user=None):
        """A credential of munged with any payload, for this process or another user."""
        done = subprocess.run(["munge", "-S", self.socket, "-s", payload], capture_output=True, check=True,
                              stdin=subprocess.DEVNULL, **(user.identity() if user else {}))
        return done.stdout.strip()


@pytest.fixture(scope="module")
def munged():
    if not Path("/usr/sbin/munged").exists():
        pytest.skip("munged is not installed (package munge)")
    munged = Munged()
    munged.start()
    yield munged
    munged.stop()
    shutil.rmtree(munged.dir, ignore_errors=True)


@pytest.fixture(scope="module")
def site(munged, request):
    cluster = Cluster(["--nodes", "2", "--gpus", "0"])
    if os.geteuid() == 0:
        open_to_users(cluster, request.getfixturevalue("users"))
    cluster.up()
    cluster.down()
    text = cluster.conf.read_text()
    text = re.sub(r"^AuthType=.*", "AuthType=auth/munge", text, flags=re.M)
    cluster.conf.write_text(re.sub(r"^AuthInfo=.*", f"AuthInfo=socket={munged.socket}", text, flags=re.M))
    (cluster.dir / "etc/slurm.key").unlink()
    cluster.up()
    yield cluster
    cluster.destroy()
    reports = take_sanitizer_reports()
    assert not reports, reports


@pytest.fixture
def cluster(site, munged):
    if not munged.child:
        munged.start()
    return site


def test_commands_and_jobs(cluster):
    assert cluster.ok("sinfo", "-h", "-o", "%D %T").split() == ["2", "idle"]
    job_id = cluster.sbatch("-N2", "-o", "out", "--wait", "--wrap", "srun -l printenv SLURMD_NODENAME")
    assert sorted((cluster.work / "out").read_text().splitlines()) == ["0: node1", "1: node2"]
    assert cluster.job(job_id)["UserId"].endswith(f"({os.getuid()})")
    assert cluster.ok("salloc", "-n1", "srun", "echo", "hi") == "hi\n"
    held = cluster.sbatch("-H", "-o", "/dev/null", "--wrap", "true")
    assert cluster.ok("squeue", "-h", "-o", "%i %T").split() == [str(held), "PENDING"]
    cluster.ok("scancel", held)
    assert re.search(r"^AuthType\s+= auth/munge$", cluster.ok("scontrol", "show", "config"), re.M)
    assert not list((cluster.dir / "run").glob("*.sock")), "munged gives the credentials"


def test_users(cluster, users):
    alice, bob = users
    job_id = cluster.sbatch("-o", "munge-out", "--wrap", "id -u; srun id -u; sleep 1000", user=alice)
    out = alice.home / "munge-out"
    until(lambda: out.exists() and out.read_text().split() == [str(alice.uid)] * 2, what="the job's output")
    done = cluster.run("scancel", job_id, user=bob)
    assert done.code == 1 and "Access/permission denied" in done.err, done
    assert cluster.run("scontrol", "reconfigure", user=bob).code == 1
    cluster.ok("scancel", job_id, user=alice)
    assert cluster.wait_done(job_id)["JobState"] == "CANCELLED"


def hello(cluster, token):
    return wire.Connection(socket.create_connection(("127.0.0.1", cluster.port)), token)


PURPOSE = f"muster {0:016x} muster"  # a hello, and for this cluster


def test_credentials(cluster, munged):
    token = munged.token(PURPOSE)
    hello(cluster, token).call("ping", {})
    for bad, words in ((token, "(?i)replay"), (munged.token("anything"), "another cluster or purpose"),
                       (munged.token(f"muster {0:016x} other"), "another cluster or purpose"),
                       (munged.token(f"muster {7:016x} muster"), "another cluster or purpose"),
                       (token[:-9] + b"AAAAAAA=:", "munge refuses"), (b"MUNGE:", "munge refuses"),
                       (b"\1abc", "same AuthType"), (b"MUNGE:" + b"A" * 60000, "munge refuses")):
        with pytest.raises(RuntimeError, match=words):
            hello(cluster, bad)
        until(lambda: re.search(words, cluster.log()), what="the refusal in the log")
    assert "UP" in cluster.ok("scontrol", "ping")


def test_a_user_is_no_node(cluster, munged, users):
    with pytest.raises(RuntimeError, match="Access/permission denied"):
        hello(cluster, munged.token(PURPOSE, users[0])).call("node_register", {"name": "node1"})


def test_without_munged(cluster, munged):
    job_id = cluster.sbatch("-o", "late", "--wrap", "while [ ! -e go ]; do sleep 0.05; done; exit 3")
    cluster.wait_state(job_id, "RUNNING")
    munged.stop()
    for command in (["squeue"], ["sinfo"], ["sbatch", "--wrap", "true"], ["srun", "true"], ["scontrol", "show", "nodes"]):
        done = cluster.run(*command)
        assert done.code == 1 and "munge" in done.err and str(munged.socket) in done.err, done
        assert "munged" in done.err or "Socket communication" in done.err or "connect" in done.err, done
        assert len(done.err.splitlines()) == 1, done
    # What is connected stays so: the job's end arrives.
    (cluster.work / "go").touch()
    until(lambda: not list(cluster.dir.glob("spool/*/*.sock")), what="the end to be acknowledged")
    munged.start()
    assert cluster.wait_done(job_id)["ExitCode"] == "3:0"


def test_daemons_wait_for_munged(cluster, munged):
    munged.stop()
    cluster.kill("slurmd-node1", 15)
    assert cluster.run("slurmd", "-f", cluster.conf, "-N", "node1").code == 0
    until(lambda: re.search(r"(?i)munge.*socket", cluster.log("slurmd-node1.log")), what="the reason in the node's log")
    munged.start()
    until(lambda: cluster.ok("sinfo", "-h", "-o", "%D %T").split() == ["2", "idle"], what="the node to be back")
    assert cluster.ok("srun", "-N2", "true") == ""

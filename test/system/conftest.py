# SPDX-License-Identifier: Apache-2.0
"""Real daemons for system tests: a virtual cluster per test module, in a directory of its own below /tmp.

A module says its cluster's shape in SHAPE (options of `muster up`) and gets it as the fixture `cluster`.  Tests
wait for conditions with until(), never for a span of time.  MUSTER_BIN names the programs to test; under a
sanitizer build every report of any process, daemons too, fails the module."""
import fcntl
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/lib"))
import wire  # noqa: E402

BIN = Path(os.environ.get("MUSTER_BIN", ROOT / "build/bin")).resolve()
SANITIZER_LOGS = os.environ.get("MUSTER_SANITIZER_LOGS")
SLOW = 4 if SANITIZER_LOGS else 1  # a sanitizer build takes its time


def until(condition, timeout=20, what="the condition"):
    """The first true value of condition(); fails after `timeout` seconds with the last false one."""
    deadline = time.monotonic() + timeout * SLOW
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            pytest.fail(f"waited {timeout * SLOW} s for {what}; last seen: {value!r}")
        time.sleep(0.01)


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __repr__(self):
        return f"exit {self.code}, stdout {self.out!r}, stderr {self.err!r}"


class Cluster:
    def __init__(self, shape=(), directory=None):
        self.dir = Path(directory or tempfile.mkdtemp(prefix="mu-", dir="/tmp"))
        self.bin = BIN
        self.shape = list(shape)
        self.work = self.dir / "work"
        self.work.mkdir(exist_ok=True)
        self.strays = []

    # --- life ---

    def muster(self, *args, **kw):
        return self.run(self.bin / "muster", *args, "--dir", self.dir, **kw)

    def up(self, *args):
        done = self.muster("up", *(args or self.shape))
        assert done.code == 0, f"{done}\n{self.logs()}"
        return done

    def down(self):
        done = self.muster("down")
        for child in self.strays:
            child.wait()
        assert done.code == 0 and "killed" not in done.out, done
        return done

    def destroy(self):
        self.down()
        left = self.processes()
        if not os.environ.get("MUSTER_KEEP"):
            shutil.rmtree(self.dir, ignore_errors=True)
        assert not left, f"processes are left: {left}"

    def processes(self):
        """{pid: command line} of whatever still has this directory on its command line or in its environment."""
        found = {}
        mark = str(self.dir).encode()
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                line = (entry / "cmdline").read_bytes()
                environ = (entry / "environ").read_bytes()
            except OSError:
                continue
            ours = mark in line or b"MUSTER_DIR=" + mark in environ or (
                b"SLURMD_NODENAME=" in environ and mark in environ)
            if ours and int(entry.name) != os.getpid():
                found[int(entry.name)] = line.replace(b"\0", b" ").decode(errors="replace").strip()
        return found

    @property
    def conf(self):
        return self.dir / "etc/slurm.conf"

    @property
    def port(self):
        return int(re.search(r"^SlurmctldPort=(\d+)", self.conf.read_text(), re.M)[1])

    def pid(self, daemon="slurmctld"):
        return int((self.dir / f"run/{daemon}.pid").read_text())

    def alive(self, daemon="slurmctld"):
        try:
            os.kill(self.pid(daemon), 0)
            return Path(f"/proc/{self.pid(daemon)}/cmdline").read_bytes() != b""
        except (OSError, ValueError):
            return False

    def kill(self, daemon="slurmctld", signo=signal.SIGKILL):
        pid = self.pid(daemon)
        os.kill(pid, signo)
        for child in self.strays:
            if child.pid == pid:
                child.wait()
        until(lambda: not Path(f"/proc/{pid}").exists() or self.is_zombie(pid), what=f"the end of {daemon}")

    @staticmethod
    def is_zombie(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            return True

    def start_controller(self):
        """Starts slurmctld without waiting until it can do anything, for tests that kill it at any moment."""
        with open(self.dir / "log/slurmctld.out", "ab") as log:
            child = subprocess.Popen([self.bin / "slurmctld", "-D", "-f", self.conf], stdin=subprocess.DEVNULL, stdout=log,
                                     stderr=log, env=self.env(), start_new_session=True, cwd=self.dir)
        self.strays.append(child)
        return child

    def logs(self, lines=15):
        text = []
        for path in sorted((self.dir / "log").glob("*")):
            tail = path.read_text(errors="replace").splitlines()[-lines:]
            text += [f"--- {path.name}", *tail] if tail else []
        return "\n".join(text)

    def log(self, name="slurmctld.log"):
        path = self.dir / "log" / name
        return path.read_text(errors="replace") if path.exists() else ""

    # --- commands ---

    def env(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "SBATCH", "SQUEUE", "SALLOC"))}
        env.update(PATH=f"{self.bin}:/usr/bin:/bin", SLURM_CONF=str(self.conf), LC_ALL="C", TZ="UTC")
        if SANITIZER_LOGS:
            # Leaks of the daemons are found by the simulator, in one process that ends by itself; the checker can
            # hang in a daemon that is being stopped.
            env["ASAN_OPTIONS"] = f"log_path={SANITIZER_LOGS}/report:detect_leaks=0"
        env.update({k: str(v) for k, v in more.items()})
        return env

    def run(self, *command, stdin=None, timeout=60, env=None, cwd=None, user=None):
        more = dict(user.variables() if user else {}, **(env or {}))
        done = subprocess.run([str(c) for c in command], input=stdin, stdin=None if stdin is not None else
                              subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=timeout * SLOW, env=self.env(**more),
                              cwd=cwd or (user.home if user else self.work), **(user.identity() if user else {}))
        return Result(done)

    def ok(self, *command, **kw):
        done = self.run(*command, **kw)
        assert done.code == 0, f"{' '.join(map(str, command))}: {done}\n{self.logs()}"
        return done.out

    def sh(self, script, **kw):
        return self.run("bash", "-c", script, **kw)

    def popen(self, *command, user=None, **kw):
        kw.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.env(**(user.variables() if user else {})), cwd=user.home if user else self.work,
                                **(user.identity() if user else {}), **kw)

    def script(self, text, name="job.sh"):
        path = self.work / name
        path.write_text(text if text.startswith("#!") else "#!/bin/bash\n" + text)
        path.chmod(0o755)
        return path

    def sbatch(self, *args, **kw):
        return int(self.ok("sbatch", "--parsable", *args, **kw).strip())

    def submit_seconds(self, script, seconds, name):
        """A job `name` that writes there, with a time limit in seconds, which commands round up to minutes."""
        reply = wire.Connection.open(self.port, self.dir / "run/auth.sock").call("submit", {
            "spec": {"name": name, "batch": True, "work_dir": str(self.work), "std_out": name, "command": "x.sh",
                     "request": {"nodes_min": 1, "ntasks": 1}, "time_limit": seconds * 1_000_000},
            "script": b"#!/bin/bash\n" + script.encode(), "token": time.monotonic_ns(),
            "env": f"PATH={self.bin}:/usr/bin:/bin\0SLURM_CONF={self.conf}\0".encode()})
        return reply[1][0]

    def output(self, name):
        """What a job has written to a file of the work directory so far."""
        path = self.work / name
        return path.read_text(errors="replace") if path.exists() else ""

    def job(self, job_id):
        """Key -> value of `scontrol -o show job`, {} when the controller does not know the job."""
        done = self.run("scontrol", "-o", "show", "job", job_id)
        return dict(re.findall(r"(\S+?)=(\S*)", done.out)) if done.code == 0 else {}

    def wait_state(self, job_id, *states, timeout=20):
        job = {}

        def reached():
            job.update(self.job(job_id))
            return job.get("JobState") in states
        try:
            until(reached, timeout, f"job {job_id} to be {' or '.join(states)}")
        except pytest.fail.Exception:
            pytest.fail(f"job {job_id} is {job.get('JobState')} ({job.get('Reason')}), not {states}\n{self.logs()}")
        return job

    def wait_done(self, job_id, timeout=30):
        return self.wait_state(job_id, "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY",
                               timeout=timeout)

    def cancel_all(self):
        self.run("scancel", "--me")
        until(lambda: not self.ok("squeue", "-h", "-o", "%i %T").strip(), what="an empty queue")


class User:
    """An ordinary user that exists for the tests, with a home of its own."""

    def __init__(self, name):
        entry = pwd.getpwnam(name)
        self.name, self.uid, self.gid, self.home = name, entry.pw_uid, entry.pw_gid, Path(entry.pw_dir)
        self.groups = os.getgrouplist(name, self.gid)

    def identity(self):
        return {"user": self.uid, "group": self.gid, "extra_groups": self.groups}

    def variables(self):
        return {"HOME": self.home, "USER": self.name, "LOGNAME": self.name}


USERS, GROUP = ["muster-t1", "muster-t2"], "muster-tg"


def remove_users():
    for name in USERS:
        subprocess.run(["userdel", name], capture_output=True)
    subprocess.run(["groupdel", GROUP], capture_output=True)


@pytest.fixture(scope="session")
def users():
    """Two ordinary users; the first one is in a supplementary group.  Only root can make them."""
    if os.geteuid() != 0:
        pytest.skip("not root: ordinary users cannot be created")
    if not shutil.which("useradd"):
        pytest.skip("there is no useradd to create users with")
    # One test run at a time has them; what an interrupted one left is cleared away.
    lock = open("/tmp/muster-test-users.lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    remove_users()
    base = Path(tempfile.mkdtemp(prefix="mu-users-", dir="/tmp"))
    base.chmod(0o755)
    subprocess.run(["groupadd", GROUP], check=True, capture_output=True)
    for name in USERS:
        subprocess.run(["useradd", "-M", "-U", "-s", "/bin/bash", "-d", base / name, name], check=True, capture_output=True)
    subprocess.run(["usermod", "-aG", GROUP, USERS[0]], check=True, capture_output=True)
    made = [User(name) for name in USERS]
    for user in made:
        user.home.mkdir(mode=0o700)
        os.chown(user.home, user.uid, user.gid)
    if SANITIZER_LOGS:
        os.chmod(SANITIZER_LOGS, 0o1777)
    yield made
    remove_users()
    shutil.rmtree(base, ignore_errors=True)
    lock.close()


def open_to_users(cluster, users):
    """Ordinary users reach the cluster's directory and the programs, wherever the repository lies."""
    cluster.dir.chmod(0o755)
    try:
        subprocess.run([BIN / "sbatch", "--version"], check=True, capture_output=True, **users[0].identity())
    except (OSError, subprocess.CalledProcessError):
        cluster.bin = cluster.dir / "bin"
        cluster.bin.mkdir(mode=0o755)
        for program in BIN.iterdir():
            if program.is_file():
                shutil.copy2(program, cluster.bin)


def take_sanitizer_reports():
    if not SANITIZER_LOGS:
        return ""
    reports = sorted(Path(SANITIZER_LOGS).glob("report*"))
    lines = [line for p in reports for line in p.read_text(errors="replace")[:4000].splitlines()]
    # The leak checker says so when the machine is too busy to stop a thread in time; it is no finding.
    text = "\n".join(line for line in lines if "was not suspended. False leaks are possible" not in line)
    for p in reports:
        p.unlink()
    return text


def start(shape):
    if not (BIN / "slurmctld").exists():
        pytest.fail(f"{BIN}/slurmctld is not built")
    cluster = Cluster(shape)
    cluster.up()
    return cluster


@pytest.fixture(scope="module")
def cluster(request):
    cluster = start(getattr(request.module, "SHAPE", ["--nodes", "4", "--gpus", "8", "--gpu-type", "h100"]))
    yield cluster
    cluster.destroy()
    reports = take_sanitizer_reports()
    assert not reports, reports


@pytest.fixture
def fresh(request):
    """A Cluster that is not up yet, for tests about up and down themselves."""
    cluster = Cluster(["--nodes", "2", "--gpus", "2"])
    yield cluster
    cluster.destroy()
    reports = take_sanitizer_reports()
    assert not reports, reports


@pytest.fixture
def quiet(cluster):
    """The module's cluster with nothing in the queue, before and after."""
    if not cluster.alive():
        cluster.up()
    cluster.cancel_all()
    yield cluster
    if cluster.alive():
        cluster.cancel_all()

# SPDX-License-Identifier: Apache-2.0
"""Daemons come and go; jobs stay, run once, and their exit codes arrive."""
import os
import random
import re
import signal
import threading
import time

import pytest

from conftest import SLOW, until

SHAPE = ["--nodes", "4", "--gpus", "2", "--cpus", "16"]


def release(cluster, name):
    (cluster.work / name).touch()


def waiting_script(flag, code=0):
    return f"echo started $SLURM_JOB_ID >> runs; while [ ! -e {flag} ]; do sleep 0.05; done; exit {code}"


def wait_started(cluster, job_id):
    until(lambda: (cluster.work / "runs").exists() and f"started {job_id}\n" in (cluster.work / "runs").read_text(),
          what=f"job {job_id} to start")


def runs_of(cluster, job_id):
    return (cluster.work / "runs").read_text().count(f"started {job_id}\n")


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGKILL])
def test_controller_restart_keeps_jobs(quiet, signo):
    flag = f"go-{signo}"
    running = quiet.sbatch("-N2", "-o", "/dev/null", "--wrap", waiting_script(flag, 5))
    held = quiet.sbatch("-H", "-J", "kept", "-o", "/dev/null", "--wrap", "true")
    wait_started(quiet, running)
    quiet.kill("slurmctld", signo)
    done = quiet.run("squeue", timeout=30)
    assert done.code == 1 and "Unable to contact slurm controller" in done.err, done
    quiet.up()
    assert quiet.job(running)["JobState"] == "RUNNING"
    assert quiet.job(held)["JobState"] == "PENDING" and quiet.job(held)["JobName"] == "kept"
    release(quiet, flag)
    job = quiet.wait_done(running)
    assert (job["JobState"], job["ExitCode"]) == ("FAILED", "5:0") and runs_of(quiet, running) == 1
    assert quiet.sbatch("-H", "-o", "/dev/null", "--wrap", "true") == held + 1


def test_job_that_ends_while_the_controller_is_away(quiet):
    job_id = quiet.sbatch("-o", "away.out", "--wrap", waiting_script("go-away", 9))
    wait_started(quiet, job_id)
    stepd = [pid for pid, line in quiet.processes().items() if "slurmstepd" in line]
    quiet.kill("slurmctld")
    release(quiet, "go-away")
    tasks_gone = lambda: not any("go-away" in line for line in quiet.processes().values())  # noqa: E731
    until(tasks_gone, what="the end of the script")
    quiet.up()
    job = quiet.wait_done(job_id)
    assert (job["JobState"], job["ExitCode"]) == ("FAILED", "9:0")
    assert stepd


def test_node_daemon_restart_adopts_steps(quiet):
    job_id = quiet.sbatch("-w", "node2", "-o", "/dev/null", "--wrap", waiting_script("go-adopt", 6))
    wait_started(quiet, job_id)
    quiet.kill("slurmd-node2")
    quiet.up()
    assert quiet.job(job_id)["JobState"] == "RUNNING"
    release(quiet, "go-adopt")
    job = quiet.wait_done(job_id)
    assert (job["JobState"], job["ExitCode"]) == ("FAILED", "6:0") and runs_of(quiet, job_id) == 1


def test_step_that_ends_while_the_node_daemon_is_away(quiet):
    job_id = quiet.sbatch("-w", "node3", "-o", "/dev/null", "--wrap", waiting_script("go-gone", 8))
    wait_started(quiet, job_id)
    quiet.kill("slurmd-node3")
    release(quiet, "go-gone")
    until(lambda: not any("go-gone" in line for line in quiet.processes().values()), what="the end of the script")
    quiet.up()
    job = quiet.wait_done(job_id)
    assert (job["JobState"], job["ExitCode"]) == ("FAILED", "8:0")


def test_cancel_after_a_node_daemon_restart(quiet):
    job_id = quiet.sbatch("-w", "node1", "-o", "/dev/null", "--wrap", waiting_script("never"))
    wait_started(quiet, job_id)
    quiet.kill("slurmd-node1")
    quiet.up()
    quiet.ok("scancel", job_id)
    assert quiet.wait_done(job_id)["JobState"] == "CANCELLED"
    until(lambda: not any("never" in line for line in quiet.processes().values()), what="the end of the script")


def test_srun_goes_on_without_a_controller(quiet):
    child = quiet.popen("srun", "-N2", "bash", "-c", "echo up; while [ ! -e go-srun ]; do sleep 0.05; done; echo end")
    assert child.stdout.readline() == "up\n"
    quiet.kill("slurmctld")
    release(quiet, "go-srun")
    quiet.up()
    out, err = child.communicate(timeout=30 * SLOW)
    assert child.returncode == 0 and out.count("end") == 2, (out, err)


class Submitter(threading.Thread):
    """Submits as fast as it can; `acked` are the jobs it got a number for, with the exit code they will have."""

    def __init__(self, cluster, number):
        super().__init__()
        self.cluster, self.number, self.acked, self.stop = cluster, number, {}, False

    def run(self):
        count = 0
        while not self.stop:
            count += 1
            code = count % 3
            done = self.cluster.run("sbatch", "--parsable", "-o", "/dev/null", "--no-requeue", "--wrap",
                                    f"echo ran $SLURM_JOB_ID >> ran-{self.number}; exit {code}", timeout=60)
            if done.code == 0:
                self.acked[int(done.out)] = code


def test_fifty_kills_lose_and_repeat_nothing(quiet):
    seed = int(os.environ.get("MUSTER_SEED", random.randrange(1 << 30)))
    print(f"MUSTER_SEED={seed}")
    rng = random.Random(seed)
    submitters = [Submitter(quiet, n) for n in range(3)]
    quiet.kill("slurmctld")
    child = quiet.start_controller()
    for s in submitters:
        s.start()
    try:
        for _ in range(50):
            time.sleep(rng.expovariate(1 / (0.15 * SLOW)))  # a random moment is what this test is about
            assert child.poll() is None, f"the controller ended by itself\n{quiet.logs()}"
            child.kill()
            child.wait()
            child = quiet.start_controller()
    finally:
        for s in submitters:
            s.stop = True
        for s in submitters:
            s.join()
    until(lambda: quiet.run("scontrol", "ping").code == 0, what="the controller")
    quiet.up()
    acked = {job: code for s in submitters for job, code in s.acked.items()}
    assert len(acked) == sum(len(s.acked) for s in submitters) > 50, "every job has a number of its own"
    until(lambda: not quiet.ok("squeue", "-h", "-o", "%i %T %r").strip(), timeout=120, what="an empty queue")

    ran = []
    for s in submitters:
        ran += map(int, re.findall(r"ran (\d+)", (quiet.work / f"ran-{s.number}").read_text()))
    twice = {job for job in ran if ran.count(job) > 1}
    assert not twice, f"seed {seed}: ran more than once"
    assert not set(acked) - set(ran), f"seed {seed}: acknowledged and lost"
    table = quiet.ok("scontrol", "-o", "show", "jobs")
    codes = {int(m[1]): int(m[2]) for m in re.finditer(r"JobId=(\d+) .*? ExitCode=(\d+):0", table)}
    wrong = {job: (code, codes.get(job)) for job, code in acked.items() if codes.get(job) != code}
    assert not wrong, f"seed {seed}: exit codes (expected, seen)"

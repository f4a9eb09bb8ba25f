# SPDX-License-Identifier: Apache-2.0
"""srun and salloc: tasks with live output, in an allocation and without one."""
import re
import signal

import pytest

from conftest import until


def test_outside_an_allocation(quiet):
    assert quiet.ok("srun", "printenv", "SLURMD_NODENAME") == "node1\n"
    until(lambda: not quiet.ok("squeue", "-h").strip(), what="the allocation to be given back")


def test_one_task_per_node(quiet):
    assert sorted(quiet.ok("srun", "-N4", "printenv", "SLURMD_NODENAME").split()) == [f"node{i}" for i in range(1, 5)]


def test_labels_and_streams(quiet):
    done = quiet.run("srun", "-n2", "-l", "bash", "-c", "echo out; echo err >&2")
    assert done.code == 0 and sorted(done.out.splitlines()) == ["0: out", "1: out"]
    assert sorted(line for line in done.err.splitlines() if "err" in line) == ["0: err", "1: err"]


def test_stdin_reaches_the_tasks(quiet):
    assert quiet.ok("srun", "-n1", "cat", stdin="one\ntwo\n") == "one\ntwo\n"
    assert sorted(quiet.ok("srun", "-n3", "cat", stdin="x\n").split()) == ["x", "x", "x"]


def test_large_output_arrives_whole(quiet):
    out = quiet.ok("srun", "-n1", "bash", "-c", "head -c 20000000 /dev/zero | tr '\\0' x")
    assert len(out) == 20000000 and set(out) == {"x"}


@pytest.mark.parametrize("script,code", [
    ("exit 0", 0), ("exit 7", 7), ("exit $SLURM_PROCID", 2), ("kill -SEGV $$", 139), ("kill -9 $$", 137),
])
def test_exit_code(quiet, script, code):
    done = quiet.run("srun", "-n3", "bash", "-c", script)
    assert done.code == code, done
    if code:
        assert "error" in done.err


def test_program_that_is_not_there(quiet):
    done = quiet.run("srun", "-n1", "/no/such/program")
    assert done.code == 2 and "/no/such/program" in done.err, done


def test_output_is_live(quiet):
    child = quiet.popen("srun", "-n1", "bash", "-c", "echo first; read line < fifo; echo second")
    (quiet.work / "fifo").unlink(missing_ok=True)
    quiet.ok("mkfifo", "fifo")
    try:
        assert child.stdout.readline() == "first\n"
        (quiet.work / "fifo").write_text("go\n")
        assert child.communicate(timeout=20)[0] == "second\n"
    finally:
        child.kill()


def test_kill_on_bad_exit(quiet):
    done = quiet.run("srun", "-n3", "-K", "bash", "-c", '[ $SLURM_PROCID = 1 ] && exit 5; sleep 1000')
    assert done.code in (5, 143, 137), done


def test_interrupt_ends_the_step(quiet):
    child = quiet.popen("srun", "-n2", "bash", "-c", "echo started; sleep 1000")
    assert child.stdout.readline() == "started\n"
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=30)
    assert child.returncode != 0
    until(lambda: not any("sleep 1000" in line for line in quiet.processes().values()), what="the end of the tasks")


def test_steps_inside_a_batch_job(quiet):
    job_id = quiet.sbatch("-N2", "-n4", "-o", "steps.out", "--wrap",
                          "srun -l bash -c 'echo $SLURM_STEP_ID $SLURM_LOCALID $SLURMD_NODENAME'; "
                          "srun -n1 printenv SLURM_STEP_ID; exit 3")
    job = quiet.wait_done(job_id)
    assert job["ExitCode"] == "3:0"
    lines = (quiet.work / "steps.out").read_text().splitlines()
    assert sorted(lines[:4]) == ["0: 0 0 node1", "1: 0 1 node1", "2: 0 0 node2", "3: 0 1 node2"]
    assert lines[4:] == ["1"]


def test_steps_share_the_allocation_in_turn(quiet):
    job_id = quiet.sbatch("-n2", "-c1", "-o", "par.out", "--wrap",
                          "for i in 1 2; do srun -n1 --exact bash -c 'echo $CUDA_VISIBLE_DEVICES$SLURM_STEP_ID' & done; wait",
                          timeout=40)
    quiet.wait_done(job_id)
    assert sorted((quiet.work / "par.out").read_text().split()) == ["0", "1"]


def test_salloc(quiet):
    done = quiet.run("salloc", "-N2", "srun", "printenv", "SLURMD_NODENAME")
    assert done.code == 0 and sorted(done.out.split()) == ["node1", "node2"], done
    granted = re.search(r"salloc: Granted job allocation (\d+)", done.err)
    assert granted and f"salloc: Relinquishing job allocation {granted[1]}" in done.err
    until(lambda: quiet.job(granted[1])["JobState"] == "COMPLETED", what="the end of the allocation")


def test_salloc_passes_the_exit_code(quiet):
    done = quiet.run("salloc", "-Q", "-N1", "bash", "-c", "exit 4")
    assert done.code == 4 and done.err == "", done


def test_salloc_environment(quiet):
    out = quiet.ok("salloc", "-N2", "--gpus-per-node=2", "bash", "-c",
                   "echo $SLURM_JOB_NODELIST; scontrol show hostnames; srun -n2 printenv CUDA_VISIBLE_DEVICES")
    assert out.split() == ["node[1-2]", "node1", "node2", "0,1", "0,1"]


def test_a_queued_srun_says_so_and_can_be_cancelled(quiet):
    blocker = quiet.sbatch("-N4", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 1000")
    quiet.wait_state(blocker, "RUNNING")
    child = quiet.popen("srun", "-N4", "true")
    line = child.stderr.readline()
    m = re.match(r"srun: job (\d+) queued and waiting for resources", line)
    assert m, line
    quiet.ok("scancel", m[1])
    child.communicate(timeout=20)
    assert child.returncode == 1


def test_gpus_per_task(quiet):
    out = quiet.ok("srun", "-n4", "--gpus-per-task=1", "-l", "printenv", "CUDA_VISIBLE_DEVICES")
    assert sorted(out.splitlines()) == ["0: 0", "1: 1", "2: 2", "3: 3"]

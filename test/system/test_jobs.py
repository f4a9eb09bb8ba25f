# SPDX-License-Identifier: Apache-2.0
"""Batch jobs from submission to output."""
import re

import pytest

from conftest import ROOT, until


def test_first_job(cluster):
    done = cluster.run("sbatch", "-o", "first.out", cluster.script("echo hello from $SLURM_JOB_ID\n"))
    assert done.code == 0 and re.fullmatch(r"Submitted batch job \d+\n", done.out), done
    job_id = done.out.split()[-1]
    job = cluster.wait_done(job_id)
    assert (job["JobState"], job["ExitCode"]) == ("COMPLETED", "0:0")
    assert (cluster.work / "first.out").read_text() == f"hello from {job_id}\n"


def test_a_job_is_visible_as_soon_as_it_was_named(cluster):
    for _ in range(20):
        job_id = cluster.sbatch("-H", "-o", "/dev/null", "--wrap", "true")
        assert cluster.ok("squeue", "-h", "-j", job_id, "-o", "%i").strip() == str(job_id)
        cluster.ok("scancel", job_id)


def test_default_output_and_arguments(cluster):
    script = cluster.script('echo "$1|$2|$3"; pwd\n', "args.sh")
    job_id = cluster.sbatch("--wait", script, "--image", "x y", "-n")
    out = (cluster.work / f"slurm-{job_id}.out").read_text().splitlines()
    assert out == ["--image|x y|-n", str(cluster.work)]


def test_script_on_stdin(cluster):
    job_id = cluster.sbatch("--wait", "-o", "stdin.out", stdin="#!/bin/sh\n#SBATCH -J fromstdin\necho $SLURM_JOB_NAME\n")
    assert (cluster.work / "stdin.out").read_text() == "fromstdin\n"
    assert cluster.job(job_id)["JobName"] == "fromstdin"


def test_precedence(cluster):
    script = cluster.script("#SBATCH -J header -N 3\n#SBATCH -t 5\necho ran\n", "prec.sh")
    by_header = cluster.job(cluster.sbatch("-H", script))
    by_env = cluster.job(cluster.sbatch("-H", script, env={"SBATCH_JOB_NAME": "env", "SBATCH_TIMELIMIT": "7"}))
    by_line = cluster.job(cluster.sbatch("-H", "-J", "line", "-N1", script, env={"SBATCH_JOB_NAME": "env"}))
    assert (by_header["JobName"], by_header["TimeLimit"]) == ("header", "00:05:00")
    assert (by_env["JobName"], by_env["TimeLimit"]) == ("env", "00:07:00")
    assert (by_line["JobName"], by_line["NumNodes"].split("-")[0]) == ("line", "1")
    cluster.cancel_all()


@pytest.mark.parametrize("script,state,code", [
    ("exit 0", "COMPLETED", "0:0"),
    ("exit 7", "FAILED", "7:0"),
    ("kill -9 $$", "FAILED", "0:9"),
])
def test_exit_codes(cluster, script, state, code):
    job = cluster.wait_done(cluster.sbatch("-o", "/dev/null", "--wrap", script))
    assert (job["JobState"], job["ExitCode"]) == (state, code)


def test_wait_passes_the_exit_code(cluster):
    assert cluster.run("sbatch", "--wait", "-o", "/dev/null", "--wrap", "exit 7").code == 7


def test_batch_script_runs_once_on_the_first_node(cluster):
    cluster.sbatch("--wait", "-N2", "--ntasks-per-node=8", "-o", "once.out", "--wrap",
                   "echo $SLURMD_NODENAME $SLURM_NTASKS $SLURM_JOB_NUM_NODES # srun in a comment")
    lines = (cluster.work / "once.out").read_text().splitlines()
    assert lines == ["node1 16 2"] or re.fullmatch(r"node\d 16 2", lines[0]) and len(lines) == 1


def test_environment_of_a_job(cluster):
    job_id = cluster.sbatch("--wait", "-N2", "-n3", "-c2", "--gpus-per-node=2", "-J", "envjob", "-o", "env.out", "--wrap",
                            "env", env={"MASTER_PORT": "1234", "RANK": "mine"})
    env = dict(line.split("=", 1) for line in (cluster.work / "env.out").read_text().splitlines() if "=" in line)
    expect = {"SLURM_JOB_ID": str(job_id), "SLURM_JOBID": str(job_id), "SLURM_JOB_NAME": "envjob", "SLURM_NTASKS": "3",
              "SLURM_JOB_NUM_NODES": "2", "SLURM_NNODES": "2", "SLURM_CPUS_PER_TASK": "2",
              "SLURM_SUBMIT_DIR": str(cluster.work), "SLURM_JOB_PARTITION": "main", "CUDA_VISIBLE_DEVICES": "0,1",
              "SLURM_GPUS_ON_NODE": "2", "MASTER_PORT": "1234", "RANK": "mine", "SLURM_PROCID": "0"}
    assert {k: env.get(k) for k in expect} == expect
    assert re.fullmatch(r"node\[\d-\d\]", env["SLURM_JOB_NODELIST"])
    assert "WORLD_SIZE" not in env and "MASTER_ADDR" not in env


def test_multi_node_gpu_job(cluster):
    script = (ROOT / "examples/train.sh").read_text()
    (cluster.work / "train.sh").write_text(script)
    job_id = cluster.sbatch("--wait", "-o", "train.out", "train.sh")
    lines = (cluster.work / "train.out").read_text().splitlines()
    ranks = [re.match(r"rank +(\d+) of 32 on node(\d)  local (\d)  GPU (\d) of 0,1,2,3,4,5,6,7$", line) for line in lines]
    found = sorted(tuple(map(int, m.groups())) for m in ranks if m)
    assert found == [(r, r // 8 + 1, r % 8, r % 8) for r in range(32)], lines
    assert any("MASTER_ADDR=node1" in line for line in lines)
    assert cluster.job(job_id)["NodeList"] == "node[1-4]"


def test_gpus_are_given_to_one_job_at_a_time(quiet):
    ids = [quiet.sbatch("-N1", "-w", "node1", "--gpus-per-node=4", "-o", f"gpu{i}.out", "--wrap",
                        "echo $CUDA_VISIBLE_DEVICES; while [ ! -e go ]; do sleep 0.05; done") for i in range(3)]
    for job_id in ids[:2]:
        quiet.wait_state(job_id, "RUNNING")
    until(lambda: quiet.job(ids[2]).get("Reason") == "Resources", what="the third job to wait for resources")
    seen = until(lambda: (lambda t: t if all(t) else None)(
        [(quiet.work / f"gpu{i}.out").read_text().strip() if (quiet.work / f"gpu{i}.out").exists() else "" for i in (0, 1)]))
    assert sorted(seen) == ["0,1,2,3", "4,5,6,7"]
    (quiet.work / "go").touch()
    for job_id in ids:
        assert quiet.wait_done(job_id)["JobState"] == "COMPLETED"
    (quiet.work / "go").unlink()


def test_array(quiet):
    job_id = quiet.sbatch("--array=1-5", "-o", "arr.%a", "--wait", "--wrap",
                          "echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT")
    for i in range(1, 6):
        assert (quiet.work / f"arr.{i}").read_text() == f"{job_id} {i} 5\n"


def test_what_is_not_built_is_refused_by_name(quiet):
    done = quiet.run("sbatch", "-d", "afterok:1", "-o", "/dev/null", "--wrap", "true")
    assert done.code == 1 and "--dependency" in done.err and quiet.ok("squeue", "-h") == "", done


def test_time_limit(quiet):
    """The smallest limit that commands know is a minute: the job gets a second more and then a minute less."""
    rounded = quiet.sbatch("-H", "-t", "0:01", "-o", "/dev/null", "--wrap", "true")
    assert quiet.job(rounded)["TimeLimit"] == "00:01:00"
    job_id = quiet.submit_seconds("echo started; sleep 1000", 61, "limit.out")
    quiet.wait_state(job_id, "RUNNING")
    until(lambda: "started" in quiet.output("limit.out"), what="the job's first word")
    assert quiet.job(job_id)["TimeLimit"] == "00:01:01"
    quiet.ok("scontrol", "update", f"jobid={job_id}", "timelimit=-1")
    assert quiet.wait_done(job_id)["JobState"] == "TIMEOUT"
    until(lambda: not quiet.ok("squeue", "-h", "-t", "R,CG").strip(), what="the job to be gone")
    assert "DUE TO TIME LIMIT" in quiet.output("limit.out")


def test_many_jobs(quiet):
    ids = [int(x) for x in quiet.ok("bash", "-c", "for i in $(seq 60); do sbatch --parsable -o /dev/null --wrap "
                                    "\"echo $i >> many\"; done").split()]
    assert ids == list(range(ids[0], ids[0] + 60))
    until(lambda: not quiet.ok("squeue", "-h").strip(), timeout=40, what="an empty queue")
    assert sorted(map(int, (quiet.work / "many").read_text().split())) == list(range(1, 61))

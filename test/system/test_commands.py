# SPDX-License-Identifier: Apache-2.0
"""squeue, sinfo, scontrol and scancel against a live controller."""
import re

import pytest

from conftest import until


def held(cluster, *args):
    return cluster.sbatch("-H", "-o", "/dev/null", *args, "--wrap", "sleep 1000")


def test_squeue_default(quiet):
    job_id = held(quiet, "-J", "waiting")
    lines = quiet.ok("squeue").splitlines()
    assert lines[0] == "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)"
    assert re.fullmatch(rf" {{17}}?\s*{job_id} +main +waiting +\S+ PD +0:00 +1 \(JobHeldUser\)", lines[1]), lines[1]


def test_squeue_filters(quiet):
    a, b = held(quiet, "-J", "a"), held(quiet, "-J", "b")
    assert quiet.ok("squeue", "-h", "-n", "a", "-o", "%A,%j") == f"{a},a\n"
    assert quiet.ok("squeue", "-h", "-t", "PD", "-S", "-i", "-o", "%i").split() == [str(b), str(a)]
    assert quiet.ok("squeue", "-h", "-t", "R") == ""
    assert quiet.ok("squeue", "-h", "--me", "-j", f"{a},{b}", "-o", "%i").split() == [str(a), str(b)]


def test_squeue_survives_a_closed_pipe(quiet):
    held(quiet)
    done = quiet.sh("squeue | head -c1")
    assert done.code == 0 and done.err == "", done


def test_sinfo(quiet):
    lines = quiet.ok("sinfo").splitlines()
    assert lines[0].split() == ["PARTITION", "AVAIL", "TIMELIMIT", "NODES", "STATE", "NODELIST"]
    assert lines[1].split() == ["main*", "up", "infinite", "4", "idle", "node[1-4]"]
    job_id = quiet.sbatch("-N1", "-w", "node2", "-o", "/dev/null", "--wrap", "sleep 1000")
    quiet.wait_state(job_id, "RUNNING")
    rows = [line.split()[3:] for line in quiet.ok("sinfo", "-h").splitlines()]
    assert rows == [["1", "mix", "node2"], ["3", "idle", "node[1,3-4]"]]


@pytest.mark.parametrize("command,out", [
    (["hostnames", "n[1-3,7]"], "n1\nn2\nn3\nn7\n"),
    (["hostnames", "gpu[008-010]x"], "gpu008x\ngpu009x\ngpu010x\n"),
    (["hostlist", "n1,n2,n3,n7"], "n[1-3,7]\n"),
])
def test_hostlists_need_no_controller(quiet, command, out):
    assert quiet.ok("scontrol", "show", *command, env={"SLURM_CONF": "/nonexistent"}) == out


def test_hostnames_reads_the_environment(quiet):
    assert quiet.ok("scontrol", "show", "hostnames", env={"SLURM_JOB_NODELIST": "n[1-2]"}) == "n1\nn2\n"


def test_show(quiet):
    job_id = held(quiet, "-N2", "--comment", "a b")
    text = quiet.ok("scontrol", "show", "job", job_id)
    assert text.startswith(f"JobId={job_id} JobName=wrap\n") and "Comment=a b" in text
    assert quiet.ok("scontrol", "-o", "show", "job", job_id).count("\n") == 1
    node = quiet.ok("scontrol", "show", "node", "node3")
    assert "NodeName=node3 " in node and "State=IDLE" in node and "Gres=gpu:h100:8" in node
    assert "PartitionName=main" in quiet.ok("scontrol", "show", "partition")
    assert re.search(r"^SlurmctldPort\s+= %d$" % quiet.port, quiet.ok("scontrol", "show", "config"), re.M)


def test_show_unknown(quiet):
    for what, name in (("job", "999999"), ("node", "nosuch"), ("partition", "nosuch")):
        done = quiet.run("scontrol", "show", what, name)
        assert done.code == 1 and name in done.out + done.err or "Invalid job id" in done.out + done.err, done


def test_ping(quiet):
    assert "UP" in quiet.ok("scontrol", "ping")


def test_hold_and_release(quiet):
    job_id = quiet.sbatch("-H", "-o", "/dev/null", "--wrap", "true")
    quiet.ok("scontrol", "release", job_id)
    assert quiet.wait_done(job_id)["JobState"] == "COMPLETED"
    job_id = quiet.sbatch("--begin=now+1hour", "-o", "/dev/null", "--wrap", "true")
    assert quiet.ok("squeue", "-h", "-j", job_id, "-o", "%r").strip() == "BeginTime"
    quiet.ok("scontrol", "hold", job_id)
    assert quiet.ok("squeue", "-h", "-j", job_id, "-o", "%r").strip() == "JobHeldUser"


def test_requeue(quiet):
    job_id = quiet.sbatch("-o", "requeue.out", "--open-mode=append", "--wrap",
                          "echo run $SLURM_RESTART_COUNT; [ -e second ] || sleep 1000")
    quiet.wait_state(job_id, "RUNNING")
    until(lambda: (quiet.work / "requeue.out").exists() and (quiet.work / "requeue.out").read_text(), what="its output")
    (quiet.work / "second").touch()
    quiet.ok("scontrol", "requeue", job_id)
    assert quiet.wait_state(job_id, "COMPLETED", timeout=60)["Restarts"] == "1"
    assert (quiet.work / "requeue.out").read_text().count("run") == 2


def test_update_job(quiet):
    job_id = held(quiet)
    quiet.ok("scontrol", "update", f"jobid={job_id}", "timelimit=20", "comment=a b", "nice=5")
    text = quiet.ok("scontrol", "show", "job", job_id)
    assert "TimeLimit=00:20:00" in text and "Comment=a b" in text and "Nice=5" in text
    for bad in ("bogus=1", "timelimit=banana"):
        done = quiet.run("scontrol", "update", f"jobid={job_id}", bad)
        assert done.code == 1 and bad.split("=")[0] in (done.out + done.err).lower(), done


def test_drain_and_resume(quiet):
    done = quiet.run("scontrol", "update", "nodename=node3", "state=drain")
    assert done.code == 1 and "eason" in done.out + done.err, done
    quiet.ok("scontrol", "update", "nodename=node3", "state=drain", "reason=fan")
    try:
        assert quiet.ok("sinfo", "-h", "-n", "node3", "-o", "%T").strip() == "drained"
        assert re.search(r"^fan +\S+ +\S+ +node3", quiet.ok("sinfo", "-R", "-h"), re.M)
        assert "node3" not in quiet.ok("srun", "-N3", "printenv", "SLURMD_NODENAME")
    finally:
        quiet.ok("scontrol", "update", "nodename=node3", "state=resume")
    assert quiet.ok("sinfo", "-h", "-n", "node3", "-o", "%T").strip() == "idle"


@pytest.mark.parametrize("names,state", [("node[3,99]", "drain"), ("node3", "IDEL")])
def test_bad_node_update_changes_nothing(quiet, names, state):
    done = quiet.run("scontrol", "update", f"nodename={names}", f"state={state}", "reason=x")
    assert done.code == 1 and ("99" in done.out + done.err or "IDEL" in done.out + done.err), done
    assert quiet.ok("sinfo", "-h", "-o", "%T").strip() == "idle"


def test_scancel(quiet):
    pending, running = held(quiet), quiet.sbatch("-o", "/dev/null", "--wrap", "sleep 1000")
    quiet.wait_state(running, "RUNNING")
    quiet.ok("scancel", pending, running)
    assert quiet.wait_done(pending)["JobState"] == "CANCELLED"
    assert quiet.wait_done(running)["JobState"] == "CANCELLED"
    until(lambda: not any("sleep 1000" in line for line in quiet.processes().values()), what="the end of the tasks")


def test_scancel_by_name_state_and_user(quiet):
    a, b, c = held(quiet, "-J", "a"), held(quiet, "-J", "b"), held(quiet, "-J", "b")
    quiet.ok("scancel", "-n", "b", "-t", "PENDING")
    assert quiet.ok("squeue", "-h", "-o", "%i").split() == [str(a)]
    assert quiet.run("scancel", "-u", "nosuchuser").code == 1
    assert quiet.run("scancel", "abc").code == 1
    assert {quiet.job(j)["JobState"] for j in (b, c)} == {"CANCELLED"}


def test_scancel_signal_reaches_the_tasks(quiet):
    job_id = quiet.sbatch("-o", "sig.out", "--wrap", "srun bash -c 'trap \"echo got; exit 0\" USR1; echo ready; "
                          "while :; do sleep 0.05; done'")
    until(lambda: (quiet.work / "sig.out").exists() and "ready" in (quiet.work / "sig.out").read_text(), what="the task")
    quiet.ok("scancel", "-s", "USR1", job_id)
    quiet.wait_done(job_id)
    assert "got" in (quiet.work / "sig.out").read_text()


def test_reconfigure(quiet):
    text = quiet.conf.read_text()
    quiet.conf.write_text(text + "PartitionName=extra Nodes=node[1-2] MaxTime=10\n")
    try:
        quiet.ok("scontrol", "reconfigure")
        until(lambda: "extra" in quiet.ok("sinfo", "-h", "-o", "%R"), what="the new partition")
        job_id = quiet.sbatch("-p", "extra", "--wait", "-o", "/dev/null", "--wrap", "true")
        assert quiet.job(job_id)["Partition"] == "extra"
    finally:
        quiet.conf.write_text(text)
        quiet.ok("scontrol", "reconfigure")
    until(lambda: "extra" not in quiet.ok("sinfo", "-h", "-o", "%R"), what="its end")


def test_reconfigure_with_a_mistake_changes_nothing(quiet):
    text, pid = quiet.conf.read_text(), quiet.pid()
    quiet.conf.write_text(text + "Nonsense=1\n")
    try:
        done = quiet.run("scontrol", "reconfigure")
        assert done.code == 1 and "Nonsense" in done.out + done.err, done
    finally:
        quiet.conf.write_text(text)
    assert quiet.pid() == pid and "UP" in quiet.ok("scontrol", "ping")

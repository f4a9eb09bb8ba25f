# SPDX-License-Identifier: Apache-2.0
"""The life of the daemons: how they start, what they say when they cannot, how they read their configuration again
and how they stop."""
import os
import re
import signal
import socket
import stat
import subprocess
import time
from pathlib import Path

import pytest

from conftest import Cluster, take_sanitizer_reports, until


@pytest.fixture
def site():
    """A configured cluster with nothing running: the tests start its daemons themselves."""
    cluster = Cluster(["--nodes", "2", "--gpus", "0"])
    cluster.up()
    cluster.down()
    yield cluster
    cluster.destroy()
    reports = take_sanitizer_reports()
    assert not reports, reports


@pytest.fixture
def up(site):
    site.up()
    return site


def edit(cluster, old, new):
    text = cluster.conf.read_text()
    assert old in text
    cluster.conf.write_text(text.replace(old, new))


def add(cluster, *lines):
    cluster.conf.write_text(cluster.conf.read_text() + "".join(f"{line}\n" for line in lines))


def answers(cluster):
    return "is UP" in cluster.run("scontrol", "ping").out


def stop(cluster, daemon="slurmctld"):
    cluster.kill(daemon, signal.SIGTERM)


def node_states(cluster):
    return dict(line.split() for line in cluster.ok("sinfo", "-h", "-N", "-o", "%N %T").splitlines())


# --- checking ---------------------------------------------------------------------------------------


def test_check_finds_all_errors_and_notes(site):
    add(site, "Prolog=/bin/true", "KillWiat=3", "KillWait=soon", "NodeName=n3 CPUs=many")
    lines = site.conf.read_text().count("\n")
    done = site.run("slurmctld", "-t", "-f", site.conf)
    assert done.code == 1 and done.err == ""
    for line, words in ((lines - 3, "note: Prolog: understood, has no effect yet"),
                        (lines - 2, "error: KillWiat: unknown key, did you mean KillWait?"),
                        (lines - 1, "error: KillWait=soon"), (lines, "error: ")):
        assert f"slurm.conf:{line}: {words}" in done.out, done


def test_check_finds_a_node_that_is_not_there(site):
    add(site, "PartitionName=p2 Nodes=node[1-9]")
    done = site.run("slurmctld", "-t", "-f", site.conf)
    assert done.code == 1 and re.search(r"slurm.conf:\d+: error: Nodes=node.*node3 is not configured", done.out), done


def test_check_of_a_good_file(site):
    done = site.run("slurmctld", "-t", "-f", site.conf)
    assert done.code == 0 and "error" not in done.out, done
    assert not site.alive()


# --- starting ---------------------------------------------------------------------------------------


def test_in_the_background_it_is_ready_when_the_command_returns(site):
    done = site.run("slurmctld", "-f", site.conf)
    assert done.code == 0 and done.out + done.err == "", done
    assert site.alive() and answers(site)
    for name in ("node1", "node2"):
        assert site.run("slurmd", "-f", site.conf, "-N", name).code == 0
        assert site.alive(f"slurmd-{name}")
    until(lambda: set(node_states(site).values()) == {"idle"}, what="the nodes to be idle")
    for link in Path(f"/proc/{site.pid()}/fd").iterdir():
        assert link.name not in ("0", "1", "2") or os.readlink(link) == "/dev/null"
    assert os.getsid(site.pid()) == site.pid()
    assert site.sbatch("--wait", "-o", "/dev/null", "--wrap", "true")


def test_a_second_one_is_refused(up):
    for command, daemon in ((["slurmctld"], "slurmctld"), (["slurmd", "-N", "node1"], "slurmd-node1")):
        for mode in ([], ["-D"]):
            done = up.run(*command, *mode, "-f", up.conf)
            assert done.code == 1 and f"process {up.pid(daemon)} already runs" in done.err, done
            assert f"{daemon}.pid" in done.err
    assert answers(up) and set(node_states(up).values()) == {"idle"}


def test_a_pid_file_that_was_left_behind_does_no_harm(site):
    (site.dir / "run/slurmctld.pid").write_text(f"{os.getpid()}\n")
    assert site.run("slurmctld", "-f", site.conf).code == 0
    assert site.pid() != os.getpid() and answers(site)


@pytest.mark.parametrize("change,words", [
    (("run/slurmctld.pid", "nosuchdir/slurmctld.pid"), "nosuchdir/slurmctld.pid: No such file or directory"),
    (("log/slurmctld.log", "nosuchdir/x.log"), "nosuchdir/x.log: No such file or directory"),
    (("/state\n", "/no/such/state\n"), "StateSaveLocation"),
    (("SlurmUser=", "SlurmUser=no-such-user-"), "there is no such user"),
    (("AuthType=auth/slurm", "AuthType=auth/none"), "auth/none"),
])
def test_what_is_wrong_is_said_to_whoever_starts_it(site, change, words):
    edit(site, *change)
    for mode in ([], ["-D"]):
        done = site.run("slurmctld", *mode, "-f", site.conf)
        assert done.code == 1 and words in done.err and "slurmctld: fatal: " in done.err, done
    assert site.processes() == {}


def test_a_port_that_is_taken(site):
    with socket.create_server(("", site.port)):
        done = site.run("slurmctld", "-f", site.conf)
        assert done.code == 1 and f"SlurmctldPort={site.port}" in done.err and "address already in use" in done.err.lower(), done
    assert not (site.dir / "run/slurmctld.pid").exists()


@pytest.mark.parametrize("mode,words", [(0o604, "mode 0604"), (0o660, "mode 0660"), (0o000, None)])
def test_a_key_that_others_can_read_is_refused(site, mode, words):
    key = site.dir / "etc/slurm.key"
    key.chmod(mode)
    if words is None:
        words = "has 3 bytes, a key has"
        key.chmod(0o600)
        key.write_text("abc")
    for command in (["slurmctld"], ["slurmd", "-N", "node1"]):
        done = site.run(*command, "-f", site.conf)
        assert done.code == 1 and words in done.err and str(key) in done.err, done
    assert site.processes() == {}


def test_made_files_are_private(up):
    up.sbatch("-H", "--wrap", "true")
    for path in [up.dir / "etc/slurm.key", *up.dir.glob("state/*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    for path in (up.dir / "state", up.dir / "log"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700, path


def test_systemd_is_told(site):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        path = str(site.dir / "notify")
        notify.bind(path)
        notify.settimeout(30)
        for command in (["slurmctld"], ["slurmd", "-N", "node1"]):
            child = subprocess.Popen([site.bin / command[0], *command[1:], "--systemd", "-f", site.conf],
                                     stdin=subprocess.DEVNULL, env=site.env(NOTIFY_SOCKET=path))
            site.strays.append(child)
            assert notify.recv(100).startswith(b"READY=1")
            assert child.poll() is None and (command[0] != "slurmctld" or answers(site))


def test_foreground_without_a_log_file_speaks_on_stderr(site):
    edit(site, f"SlurmctldLogFile={site.dir}/log/slurmctld.log\n", "")
    child = site.popen(site.bin / "slurmctld", "-D", "-v", "-f", site.conf)
    until(lambda: answers(site), what="the controller")
    child.terminate()
    out, err = child.communicate(timeout=30)
    assert child.returncode == 0 and out == ""
    assert f"ready on port {site.port}" in err and "stopping" in err and err.startswith("slurmctld: ")


def test_log_file_of_the_command_line_and_rotation(site):
    log, moved = site.work / "my.log", site.work / "my.log.1"
    site.run("slurmctld", "-f", site.conf, "-L", log)
    assert "ready on port" in log.read_text()
    for number, signo in enumerate((signal.SIGUSR2, signal.SIGHUP)):
        log.rename(moved)
        os.kill(site.pid(), signo)
        until(log.exists, what="a new log file")
        site.run("scontrol", "reconfigure")
        until(lambda: "configuration read again" in log.read_text(), what="words in it")


# --- the machine ------------------------------------------------------------------------------------


def test_slurmd_prints_its_machine(site):
    out = site.ok("slurmd", "-C")
    line, uptime = out.splitlines()
    values = dict(word.split("=") for word in line.split())
    assert values["NodeName"] == socket.gethostname().split(".")[0]
    assert int(values["CPUs"]) == len(os.sched_getaffinity(1)) or int(values["CPUs"]) >= os.cpu_count()
    assert int(values["CPUs"]) == int(values["Boards"]) * int(values["SocketsPerBoard"]) * int(
        values["CoresPerSocket"]) * int(values["ThreadsPerCore"])
    total = int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())[1]) // 1024
    assert int(values["RealMemory"]) == total
    assert re.fullmatch(r"UpTime=\d+-\d\d:\d\d:\d\d", uptime)
    # The line is one of slurm.conf's own language.
    edit(site, "NodeName=node[1-2]", f"{line}\nNodeName=node[1-2]")
    assert site.run("slurmctld", "-t", "-f", site.conf).code == 0


def test_slurmd_of_a_node_that_is_not_configured(site):
    done = site.run("slurmd", "-N", "nosuch", "-f", site.conf)
    assert done.code == 1 and "'nosuch'" in done.err and str(site.conf) in done.err and "-N" in done.err, done


# --- reconfiguring ----------------------------------------------------------------------------------


def start_node(cluster, name):
    assert cluster.run("slurmd", "-f", cluster.conf, "-N", name).code == 0


@pytest.mark.parametrize("how", ["signal", "scontrol"])
def test_a_new_node_and_partition(up, how):
    edit(up, "NodeName=node[1-2]", "NodeName=node[1-3]")
    add(up, "PartitionName=extra Nodes=node[2-3] MaxTime=60", "KillWait=7")
    if how == "signal":
        os.kill(up.pid(), signal.SIGHUP)
    else:
        up.ok("scontrol", "reconfigure")
    until(lambda: "extra" in up.ok("sinfo", "-h", "-o", "%P"), what="the partition")
    assert re.search(r"^KillWait\s+= 7 sec", up.ok("scontrol", "show", "config"), re.M)
    start_node(up, "node3")
    until(lambda: node_states(up).get("node3") == "idle", what="the new node")
    out = up.ok("srun", "-p", "extra", "-N2", "-l", "printenv", "SLURMD_NODENAME")
    assert sorted(out.split()) == ["0:", "1:", "node2", "node3"]


def test_a_broken_file_changes_nothing(up):
    job_id = up.sbatch("-H", "-o", "/dev/null", "--wrap", "true")
    before = up.ok("scontrol", "show", "config")
    good = up.conf.read_text()
    add(up, "KillWait=8", "PartitionName=broken Nodes=node[1-9]")
    line = up.conf.read_text().count("\n")
    done = up.run("scontrol", "reconfigure")
    assert done.code == 1 and f"slurm.conf:{line}" in done.err and "node3" in done.err, done
    os.kill(up.pid(), signal.SIGHUP)
    until(lambda: up.log().count("the configuration in force stays") == 2, what="the refusal in the log")
    steady = [text for text in (before, up.ok("scontrol", "show", "config"))]
    assert [re.search(r"KillWait.*", text)[0] for text in steady] == [re.search(r"KillWait.*", before)[0]] * 2
    assert "broken" not in up.ok("sinfo", "-h", "-o", "%P") and up.job(job_id)["JobState"] == "PENDING"
    up.conf.write_text(good)
    up.ok("scontrol", "reconfigure")
    up.ok("scontrol", "release", job_id)
    assert up.wait_done(job_id)["JobState"] == "COMPLETED"


@pytest.mark.parametrize("old,new,key", [("ClusterName=muster", "ClusterName=other", "ClusterName"),
                                         ("SlurmctldPort=", "SlurmctldPort=7777 #", "SlurmctldPort"),
                                         ("/state\n", "/state2\n", "StateSaveLocation")])
def test_what_needs_a_restart_is_said(up, old, new, key):
    good = up.conf.read_text()
    edit(up, old, new)
    changed = up.conf.read_text()
    # The command reads the same file and must still find the controller.
    up.conf.write_text(good)
    other = up.work / "slurm.conf"
    other.write_text(good)
    up.conf.write_text(changed)
    done = up.run("scontrol", "reconfigure", env={"SLURM_CONF": other})
    assert done.code == 1 and key in done.err and "restart" in done.err, done
    up.conf.write_text(good)
    assert answers(up)


def test_a_node_is_removed_while_a_job_runs_there(up):
    job_id = up.sbatch("-w", "node2", "-o", "out", "--wrap", "while [ ! -e go ]; do sleep 0.05; done; echo done")
    up.wait_state(job_id, "RUNNING")
    edit(up, "NodeName=node[1-2]", "NodeName=node1")
    edit(up, "Nodes=node[1-2]", "Nodes=node1")
    up.ok("scontrol", "reconfigure")
    assert node_states(up) == {"node1": "idle"}
    assert up.job(job_id)["JobState"] == "RUNNING" and up.job(job_id)["NodeList"] == "node2"
    # Nothing new goes there, and a restart of the controller changes nothing about that.
    done = up.run("sbatch", "-w", "node2", "--wrap", "true")
    assert done.code == 1 and "node2" in done.err, done
    up.kill()
    up.start_controller()
    until(lambda: answers(up), what="the controller")
    assert up.job(job_id)["JobState"] == "RUNNING"
    (up.work / "go").touch()
    assert up.wait_done(job_id)["JobState"] == "COMPLETED"
    assert (up.work / "out").read_text() == "done\n"
    assert up.sbatch("--wait", "-o", "/dev/null", "--wrap", "true")
    # And it can come back.
    edit(up, "NodeName=node1", "NodeName=node[1-2]")
    edit(up, "Nodes=node1", "Nodes=node[1-2]")
    up.ok("scontrol", "reconfigure")
    until(lambda: node_states(up) == {"node1": "idle", "node2": "idle"}, what="both nodes")
    assert up.ok("srun", "-w", "node2", "printenv", "SLURMD_NODENAME") == "node2\n"


def test_a_partition_is_removed_with_jobs_in_it(up):
    add(up, "PartitionName=extra Nodes=node2")
    up.ok("scontrol", "reconfigure")
    runs = up.sbatch("-p", "extra", "-o", "/dev/null", "--wrap", "sleep 1000")
    up.wait_state(runs, "RUNNING")
    waits = up.sbatch("-p", "extra", "-H", "-o", "/dev/null", "--wrap", "true")
    edit(up, "PartitionName=extra Nodes=node2\n", "")
    up.ok("scontrol", "reconfigure")
    assert up.job(runs)["JobState"] == "RUNNING"
    up.ok("scontrol", "release", waits)
    up.ok("scontrol", "update", f"jobid={waits}", "partition=main")
    assert up.wait_done(waits)["JobState"] == "COMPLETED"
    up.ok("scancel", runs)
    assert up.wait_done(runs)["JobState"] == "CANCELLED"


# --- stopping ---------------------------------------------------------------------------------------


def test_a_clean_stop_loses_nothing(up):
    runs = up.sbatch("-o", "out", "--wrap", "while [ ! -e go ]; do sleep 0.05; done; exit 5")
    up.wait_state(runs, "RUNNING")
    held = [up.sbatch("-H", "-o", "/dev/null", "--wrap", "true") for _ in range(10)]
    stop(up)
    assert not (up.dir / "run/slurmctld.pid").exists()
    done = up.run("squeue")
    assert done.code == 1 and "Unable to contact slurm controller" in done.err, done
    (up.work / "go").touch()
    start = up.run("slurmctld", "-f", up.conf)
    assert start.code == 0 and "journal: cut" not in up.log()
    assert sorted(int(i) for i in up.ok("squeue", "-h", "-t", "PD", "-o", "%i").split()) == held
    assert up.wait_done(runs)["ExitCode"] == "5:0"


def test_a_node_daemon_stops_and_its_jobs_go_on(up):
    job_id = up.sbatch("-w", "node1", "-o", "out", "--wrap", "while [ ! -e go ]; do sleep 0.05; done; exit 6")
    up.wait_state(job_id, "RUNNING")
    stop(up, "slurmd-node1")
    assert not (up.dir / "run/slurmd-node1.pid").exists()
    (up.work / "go").touch()
    start_node(up, "node1")
    assert up.wait_done(job_id)["ExitCode"] == "6:0"


def test_shutdown_stops_all_daemons(up):
    pids = [up.pid(name) for name in ("slurmctld", "slurmd-node1", "slurmd-node2")]
    up.ok("scontrol", "shutdown")
    until(lambda: all(Cluster.is_zombie(pid) for pid in pids), what="the daemons to end")
    assert not list((up.dir / "run").glob("*.pid"))


# --- limits -----------------------------------------------------------------------------------------

DATE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"


def test_time_limit_and_kill_wait(up):
    add(up, "KillWait=1")
    up.ok("scontrol", "reconfigure")
    polite = up.submit_seconds("trap 'echo on TERM; exit 7' TERM; sleep 1000 & wait", 1, "polite")
    stubborn = up.submit_seconds("trap '' TERM; echo started; while :; do sleep 0.1; done", 1, "stubborn")
    stepped = up.submit_seconds("srun sleep 1000", 1, "stepped")
    for job_id in (polite, stubborn, stepped):
        job = up.wait_done(job_id)
        assert job["JobState"] == "TIMEOUT" and job["Reason"] == "TimeLimit", job
    until(lambda: not up.ok("squeue", "-h").strip(), what="the jobs to be gone")

    def line(job_id):
        return rf"slurmstepd: error: \*\*\* JOB {job_id} ON node\d CANCELLED AT {DATE} DUE TO TIME LIMIT \*\*\*"
    assert re.search(line(polite), (up.work / "polite").read_text())
    assert "on TERM" in (up.work / "polite").read_text()
    assert re.search(line(stubborn), (up.work / "stubborn").read_text())
    text = (up.work / "stepped").read_text()
    assert re.search(rf"STEP {stepped}\.0 ON node\d CANCELLED AT {DATE} DUE TO TIME LIMIT", text), text
    ended = up.job(stubborn)
    span = [time.mktime(time.strptime(ended[key], "%Y-%m-%dT%H:%M:%S")) for key in ("StartTime", "EndTime")]
    assert 1 <= span[1] - span[0] <= 10, ended
    assert not [p for p in up.processes().values() if "sleep" in p]


def test_kill_wait_of_a_cancelled_job(up):
    add(up, "KillWait=1")
    up.ok("scontrol", "reconfigure")
    job_id = up.sbatch("-o", "out", "--wrap", "trap '' TERM; echo started; while :; do sleep 0.1; done")
    out = up.work / "out"
    until(lambda: out.exists() and "started" in out.read_text(), what="the job")
    started = time.monotonic()
    up.ok("scancel", job_id)
    until(lambda: not up.ok("squeue", "-h").strip(), what="the job to be gone")
    assert time.monotonic() - started >= 0.9
    assert re.search(rf"\*\*\* JOB {job_id} ON node\d CANCELLED AT {DATE} \*\*\*", out.read_text()), out.read_text()

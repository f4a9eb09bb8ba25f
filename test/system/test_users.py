# SPDX-License-Identifier: Apache-2.0
"""Daemons of root, jobs of ordinary users: a job runs as the user who submitted it and as nobody else, files are
opened as that user, and nobody touches what belongs to another.  Who a user is, the credential says: the same is
tried with words that no command would send."""
import contextlib
import grp
import hashlib
import hmac
import os
import re
import socket
import stat
import struct
import time
from pathlib import Path

import pytest

from conftest import Cluster, open_to_users, take_sanitizer_reports, until
import wire

DENIED = "Access/permission denied"


@pytest.fixture(scope="module")
def cluster(users):
    cluster = Cluster(["--nodes", "2", "--gpus", "0"])
    open_to_users(cluster, users)
    cluster.up()
    yield cluster
    cluster.destroy()
    reports = take_sanitizer_reports()
    assert not reports, reports


@pytest.fixture(autouse=True)
def empty_queue(cluster):
    yield
    assert cluster.alive(), cluster.logs()
    for user in cluster.ok("squeue", "-h", "-o", "%u").split():
        cluster.ok("scancel", "-u", user)
    until(lambda: not cluster.ok("squeue", "-h", "-o", "%i").strip(), what="an empty queue")


@pytest.fixture
def alice(users):
    return users[0]


@pytest.fixture
def bob(users):
    return users[1]


def names(user):
    return {grp.getgrgid(gid).gr_name for gid in user.groups}


def finish(cluster, user, *args, **kw):
    """Submits as the user and waits; the job as scontrol shows it."""
    job_id = cluster.sbatch(*args, user=user, **kw)
    return cluster.wait_done(job_id)


def running(cluster, user, *args):
    job_id = cluster.sbatch("-o", "/dev/null", *args, "--wrap", "sleep 1000", user=user)
    cluster.wait_state(job_id, "RUNNING")
    return job_id


@contextlib.contextmanager
def acting_as(user):
    """This process for the length of a block: what the kernel tells about it is the user's identity."""
    os.setegid(user.gid)
    os.seteuid(user.uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def connect(cluster, user):
    with acting_as(user):
        return wire.Connection.open(cluster.port, cluster.dir / "run/auth.sock")


# --- who a job runs as ------------------------------------------------------------------------------


def test_a_job_runs_as_its_user_with_all_groups(cluster, alice):
    job = finish(cluster, alice, "-N2", "-o", "out", "--wrap", "id; echo; srun -l id; echo; pwd; echo $HOME; umask")
    batch, tasks, place = (alice.home / "out").read_text().split("\n\n")
    assert job["JobState"] == "COMPLETED" and job["UserId"] == f"{alice.name}({alice.uid})"
    assert batch.startswith(f"uid={alice.uid}({alice.name}) gid={alice.gid}("), batch
    for line in (batch, *tasks.splitlines()):
        assert set(re.findall(r"\d+\(([^)]*)\)", line)) == {alice.name} | names(alice), line
    assert len(tasks.splitlines()) == 2 and "muster-tg" in batch and "root" not in batch + tasks
    assert place.split()[:2] == [str(alice.home), str(alice.home)]


def test_nothing_of_root_is_left_in_a_task(cluster, bob):
    """All four ids, no capability, no open descriptor but the three streams."""
    script = "grep -E '^(Uid|Gid|Groups|CapEff|CapPrm|CapInh):' /proc/self/status; ls -l /proc/self/fd; kill -0 $PPID"
    done = cluster.run("srun", "sh", "-c", script, user=bob)
    assert f"Uid:\t{bob.uid}\t{bob.uid}\t{bob.uid}\t{bob.uid}\n" in done.out, done
    assert f"Gid:\t{bob.gid}\t{bob.gid}\t{bob.gid}\t{bob.gid}\n" in done.out
    assert re.search(rf"^Groups:\t{bob.gid} ?$", done.out, re.M)
    assert re.findall(r"Cap\w+:\t0+\n", done.out) == re.findall(r"Cap\w+:.*\n", done.out)
    assert {int(fd) for fd in re.findall(r"(\d+) -> ", done.out)} <= {0, 1, 2, 3}  # 3 is ls's own
    assert "not permitted" in done.err


def test_the_environment_is_the_submitters(cluster, alice):
    finish(cluster, alice, "-o", "env", "--wrap", "env; srun env | sed 's/^/task:/'",
           env={"COLOUR": "blue", "HOME": "/elsewhere"})
    lines = (alice.home / "env").read_text().splitlines()
    for line in ("COLOUR=blue", "HOME=/elsewhere", f"USER={alice.name}", f"SLURM_JOB_UID={alice.uid}",
                 f"SLURM_JOB_USER={alice.name}"):
        assert line in lines and f"task:{line}" in lines, line
    assert not [line for line in lines if "MUSTER_DIR" in line]


def test_output_is_the_users_own_with_the_users_umask(cluster, alice):
    os.mkdir(alice.home / "made")
    os.chown(alice.home / "made", alice.uid, alice.gid)
    done = cluster.ok("bash", "-c", "umask 027; sbatch --parsable --wait -o made/%j-%u -e err --wrap "
                      "'umask; touch by-job'", user=alice)
    out = alice.home / f"made/{done.strip()}-{alice.name}"
    assert out.read_text() == "0027\n"
    for path in (out, alice.home / "err", alice.home / "by-job"):
        at = path.stat()
        assert (at.st_uid, at.st_gid, stat.S_IMODE(at.st_mode)) == (alice.uid, alice.gid, 0o640), path


@pytest.mark.parametrize("option", ["-o", "-e", "-i"])
def test_no_file_is_opened_that_the_user_may_not(cluster, alice, bob, option):
    secret = bob.home / "secret"
    secret.write_text("mine")
    secret.chmod(0o600)
    for path in (Path("/root/muster-test-no"), secret):
        job = finish(cluster, alice, option, path, "--wrap", "echo ran >> ran-anyway")
        assert job["JobState"] == "FAILED" and not (alice.home / "ran-anyway").exists()
        until(lambda: f"'{path}': Permission denied" in cluster.log(), what="the reason in the log")
    assert secret.read_text() == "mine" and not Path("/root/muster-test-no").exists()
    done = cluster.run("srun", option, secret, "true", user=alice)
    assert done.code != 0 and "Permission denied" in done.err, done
    assert finish(cluster, alice, "-o", "/dev/null", "--wrap", "true")["JobState"] == "COMPLETED"
    assert "drain" not in cluster.ok("sinfo", "-h", "-o", "%T")


def test_a_link_does_not_help(cluster, alice):
    (alice.home / "link").symlink_to("/etc/shadow")
    before = Path("/etc/shadow").read_bytes()
    job = finish(cluster, alice, "-o", "link", "--wrap", "echo owned::0:0:::::")
    assert job["JobState"] == "FAILED" and Path("/etc/shadow").read_bytes() == before


def test_a_directory_that_the_user_may_not_enter(cluster, alice, bob):
    """Slurm goes to /tmp then; the output is there too."""
    finish(cluster, alice, "-D", bob.home, "-o", f"{alice.home}/where", "--wrap", "pwd")
    text = (alice.home / "where").read_text()
    assert f"'{bob.home}': Permission denied" in text and text.endswith("\n/tmp\n"), text
    job = finish(cluster, alice, "-D", bob.home, "-o", "mu-%u-relative", "--wrap", "true")
    made = Path(f"/tmp/mu-{alice.name}-relative")
    assert job["JobState"] == "COMPLETED" and made.stat().st_uid == alice.uid
    made.unlink()


def test_salloc_gives_the_users_own_shell(cluster, alice):
    done = cluster.run("salloc", "-n1", "sh", "-c", "id -u; srun id -un", user=alice)
    assert done.out.split() == [str(alice.uid), alice.name], done


# --- what is on disk --------------------------------------------------------------------------------


def readable_by_others(cluster, user, *places):
    """Files below the places that the user can open, found by trying."""
    found = cluster.run("find", *places, "-type", "f", "-readable", user=user).out.split()
    return [path for path in found if not path.endswith((".conf", ".pid"))]


def test_the_script_in_the_spool_is_for_its_user_alone(cluster, alice, bob):
    job_id = cluster.sbatch("-o", "/dev/null", "--wrap", "cat $0 > script-copy; sleep 1000", user=alice)
    copy = alice.home / "script-copy"
    until(lambda: copy.exists() and copy.read_text(), what="the job to read its script")
    found = list(cluster.dir.glob("spool/*/job*/slurm_script"))
    assert len(found) == 1 and f"job{job_id:05}" in str(found[0])
    assert (found[0].stat().st_uid, stat.S_IMODE(found[0].stat().st_mode) & 0o077) == (alice.uid, 0)
    assert cluster.run("cat", found[0], user=bob).code != 0
    assert "sleep 1000" in cluster.ok("cat", found[0], user=alice)
    cluster.ok("scancel", job_id, user=alice)
    cluster.wait_done(job_id)
    until(lambda: not found[0].parent.exists(), what="the spool to be cleared")


def test_a_harsh_umask_does_not_hurt_the_script(cluster, alice):
    out = cluster.ok("bash", "-c", "umask 0777; sbatch --wait -o /dev/null --wrap 'exit 3' || echo $?", user=alice)
    assert out.endswith("\n3\n"), out


def test_state_and_keys_are_not_for_others(cluster, alice, bob):
    running(cluster, alice)
    assert readable_by_others(cluster, bob, cluster.dir / "state", cluster.dir / "spool", cluster.dir / "etc",
                              cluster.dir / "log") == []
    writable = cluster.run("find", cluster.dir, "-writable", "!", "-type", "l", user=bob).out.split()
    assert writable == [str(cluster.dir / "run/auth.sock")]  # open to all: it gives everybody their own name
    for path in cluster.dir.glob("spool/*/*.sock"):
        assert cluster.run("python3", "-c", f"import socket; socket.socket(socket.AF_UNIX).connect('{path}')",
                           user=alice).code != 0


# --- what belongs to others -------------------------------------------------------------------------


def refused(cluster, user, *command):
    done = cluster.run(*command, user=user)
    assert done.code != 0 and DENIED in done.err + done.out, f"{command}: {done}"


def test_nobody_touches_another_users_job(cluster, alice, bob):
    runs = running(cluster, alice)
    waits = cluster.sbatch("-H", "-o", "/dev/null", "--wrap", "true", user=alice)
    free = cluster.sbatch("--begin=now+1hour", "-o", "/dev/null", "--wrap", "true", user=alice)
    for command in (["scancel", runs], ["scancel", waits], ["scancel", "-s", "STOP", runs], ["scancel", "-b", "-s", "TERM", runs],
                    ["scontrol", "hold", free], ["scontrol", "release", waits], ["scontrol", "requeue", runs],
                    ["scontrol", "requeuehold", runs], ["scontrol", "update", f"jobid={runs}", "timelimit=1"],
                    ["scontrol", "update", f"jobid={waits}", "name=mine"],
                    ["srun", f"--jobid={runs}", "--overlap", "id"]):
        refused(cluster, bob, *command)
    assert cluster.job(runs)["JobState"] == "RUNNING" and cluster.job(runs)["Restarts"] == "0"
    assert cluster.job(waits)["Reason"] == "JobHeldUser" and cluster.job(free)["Reason"] == "BeginTime"
    # By name or state nothing of another user is meant, so nothing happens.
    cluster.run("scancel", "-t", "RUNNING", user=bob)
    cluster.run("scancel", "-n", "wrap", user=bob)
    assert cluster.job(runs)["JobState"] == "RUNNING" and cluster.job(waits)["JobState"] == "PENDING"
    assert str(runs) in cluster.ok("squeue", "-h", "-o", "%i", user=bob).split()
    for command in (["scontrol", "release", waits], ["scontrol", "hold", free], ["scancel", runs, waits, free]):
        cluster.ok(*command, user=alice)
    assert cluster.wait_done(runs)["JobState"] == "CANCELLED"


def test_root_may(cluster, alice):
    runs = running(cluster, alice)
    waits = cluster.sbatch("--begin=now+1hour", "-o", "/dev/null", "--wrap", "true", user=alice)
    cluster.ok("scontrol", "hold", waits)
    assert cluster.job(waits)["Reason"] == "JobHeldAdmin"
    refused(cluster, alice, "scontrol", "release", waits)
    cluster.ok("scontrol", "release", waits)
    cluster.ok("scontrol", "update", f"jobid={runs}", "timelimit=1:00:00")
    refused(cluster, alice, "scontrol", "update", f"jobid={runs}", "timelimit=2:00:00")
    cluster.ok("scontrol", "update", f"jobid={runs}", "timelimit=30", user=alice)
    assert cluster.job(runs)["TimeLimit"] == "00:30:00"
    cluster.ok("scontrol", "requeue", runs)
    until(lambda: cluster.job(runs).get("Restarts") == "1", what="the second start")
    cluster.ok("scancel", runs)
    assert cluster.wait_done(runs)["JobState"] == "CANCELLED"


@pytest.mark.parametrize("command", [
    ["scontrol", "update", "nodename=node1", "state=drain", "reason=x"], ["scontrol", "reconfigure"],
    ["scontrol", "shutdown"], ["scontrol", "update", "partitionname=main", "state=down"]])
def test_the_cluster_is_for_administrators(cluster, alice, command):
    refused(cluster, alice, *command)
    assert cluster.ok("sinfo", "-h", "-o", "%T %a", user=alice).split() == ["idle", "up"]


def test_priority_is_not_for_everybody(cluster, alice):
    job_id = cluster.sbatch("-H", "-o", "/dev/null", "--wrap", "true", user=alice)
    refused(cluster, alice, "scontrol", "update", f"jobid={job_id}", "priority=4294967295")
    refused(cluster, alice, "scontrol", "update", f"jobid={job_id}", "nice=-5")
    cluster.ok("scontrol", "update", f"jobid={job_id}", "nice=-5")


def test_partitions_for_some(cluster, alice, bob):
    before = cluster.conf.read_text()
    cluster.conf.write_text(before + "PartitionName=group Nodes=ALL AllowGroups=muster-tg\n"
                            "PartitionName=roots Nodes=ALL RootOnly=YES\nPartitionName=users Nodes=ALL DisableRootJobs=YES\n")
    cluster.ok("scontrol", "reconfigure")
    for partition, allowed in (("group", (alice, None)), ("roots", (None,)), ("users", (alice, bob))):
        for user in (alice, bob, None):
            done = cluster.run("sbatch", "-p", partition, "-o", "/dev/null", "--wrap", "true", user=user)
            assert done.code == (0 if user in allowed else 1), (partition, user and user.name, done)
            assert done.code == 0 or (DENIED in done.err and partition in done.err), done
    cluster.conf.write_text(before)
    until(lambda: not cluster.ok("squeue", "-h").strip(), what="the jobs to end")
    cluster.ok("scontrol", "reconfigure")


# --- what no command would say ----------------------------------------------------------------------


def request_of(user, **more):
    return {"spec": {"name": "forged", "batch": True, "work_dir": "/tmp", "std_out": f"{user.home}/forged",
                     "command": "x.sh", "request": {"nodes_min": 1}, **more},
            "script": b"#!/bin/sh\nid\n", "token": time.monotonic_ns(), "groups": [0, 4, 42]}


def test_groups_are_not_taken_from_the_request(cluster, alice):
    job_id = connect(cluster, alice).call("submit", request_of(alice))[1][0]
    assert cluster.wait_done(job_id)["JobState"] == "COMPLETED"
    text = (alice.home / "forged").read_text()
    assert set(re.findall(r"\(([^)]*)\)", text)) == {alice.name} | names(alice), text


def credential(cluster, uid, issued=0, life=60, key=None, name="muster", challenge=0):
    """A credential as the local daemon makes it, signed with the cluster's key or another one."""
    now = time.time_ns() // 1000 + issued * 1_000_000
    body = b"\1"
    for tag, value in enumerate([name, uid, uid, now, now + life * 1_000_000, int.from_bytes(os.urandom(7), "little"),
                                 "here", challenge], 1):
        if isinstance(value, str):
            body += wire.varint(tag << 3 | 2) + wire.varint(len(value)) + value.encode()
        elif value:
            body += wire.varint(tag << 3) + wire.varint(value)
    key = key or (cluster.dir / "etc/slurm.key").read_bytes()
    return body + hmac.digest(key, body, hashlib.sha256)


def hello(cluster, token):
    return wire.Connection(socket.create_connection(("127.0.0.1", cluster.port)), token)


def test_a_credential_of_our_own_making(cluster, alice):
    """The helper makes good ones, so that what is refused below is refused for its one fault."""
    hello(cluster, credential(cluster, alice.uid)).call("ping", {})


@pytest.mark.parametrize("fault,words", [
    ({"key": b"x" * 64}, "signature is wrong"), ({"issued": -600}, "expired"), ({"issued": 600}, "in the future"),
    ({"life": 10 ** 9}, "impossible lifetime"), ({"name": "other"}, "cluster 'other'"), ({"challenge": 7}, "purpose")])
def test_credentials_with_one_fault(cluster, fault, words):
    with pytest.raises(RuntimeError, match=words):
        hello(cluster, credential(cluster, 0, **fault))
    assert re.search(words, cluster.log())


def test_a_users_credential_with_another_uid(cluster, alice):
    with acting_as(alice):
        token = bytearray(wire.Connection.token(cluster.dir / "run/auth.sock"))
    at = token.index(wire.varint(2 << 3) + wire.varint(alice.uid))
    token[at + 1:at + 1 + len(wire.varint(alice.uid))] = wire.varint(0)
    with pytest.raises(RuntimeError, match="signature is wrong"):
        hello(cluster, bytes(token))


@pytest.mark.parametrize("message,values", [
    ("node_register", {"name": "node1", "facts": {}}), ("node_heartbeat", {}), ("reconfigure", {}), ("shutdown", {}),
    ("step_end", {"job_id": 1, "attempt": 1}), ("job_clean", {"job_id": 1, "attempt": 1}),
    ("node_update", {"names": "node1", "keys": [{"key": "State", "value": "DOWN"}]}),
    ("partition_update", {"name": "main"})])
def test_a_user_is_no_node_and_no_administrator(cluster, alice, message, values):
    with pytest.raises(RuntimeError, match=DENIED):
        connect(cluster, alice).call(message, values)
    assert cluster.ok("sinfo", "-h", "-o", "%T").split() == ["idle"]


@pytest.mark.parametrize("message", ["launch", "terminate_job", "stepd_launch", "io_hello", "token", "hello"])
def test_messages_that_are_not_for_the_controller(cluster, alice, message):
    with pytest.raises((RuntimeError, ConnectionError)):
        connect(cluster, alice).call(message, {})


def test_messages_about_another_users_job(cluster, alice, bob):
    job_id = running(cluster, alice)
    filter_ = {"filter": {"ids": [job_id]}}
    for message, values in (("job_wait", {"job_id": job_id, "for_end": True}), ("job_release", {"job_id": job_id}),
                            ("step_create", {"job_id": job_id, "argv": ["id"], "overlap": True}),
                            ("job_update", {**filter_, "keys": [{"key": "Name", "value": "x"}]})):
        with pytest.raises(RuntimeError, match=DENIED):
            connect(cluster, bob).call(message, values)
    for message in ("cancel", "job_requeue"):
        reply = connect(cluster, bob).call(message, filter_)
        assert DENIED in reply[2][0].decode(), reply
    assert cluster.job(job_id)["JobState"] == "RUNNING"


def test_the_secret_of_a_step_is_not_shown(cluster, alice, bob):
    """Whoever knows a step's cookie could speak to its srun in the place of its tasks."""
    srun = cluster.popen("srun", "sleep", "1000", user=alice)
    until(lambda: cluster.ok("squeue", "-h", "-s", "-o", "%i").strip(), what="the step")
    step_tags = {f.name: f.tag for f in wire.SCHEMA.find("records", "step").fields}
    steps_tag = next(f.tag for f in wire.SCHEMA.find("records", "job").fields if f.name == "steps")
    for user in (bob, alice):
        jobs = connect(cluster, user).call("job_query", {})[1]
        steps = [wire.decode(step) for job in jobs for step in wire.decode(job).get(steps_tag, [])]
        assert steps and all(step_tags["srun_port"] in step for step in steps)
        assert not any(step_tags["cookie"] in step for step in steps)
    srun.kill()
    srun.communicate()


def test_the_nodes_obey_nobody_else(cluster, alice):
    """The local socket of a node gives credentials and takes no orders."""
    with acting_as(alice), socket.socket(socket.AF_UNIX) as local:
        local.connect(str(cluster.dir / "run/auth.sock"))
        with pytest.raises((RuntimeError, ConnectionError)):
            wire.Connection(local).call("stepd_terminate", {"job_id": 1})


# --- SlurmUser --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(users):
    """A controller that is not root's: SlurmUser is the second user; the node daemons are root's."""
    site = Cluster(["--nodes", "2", "--gpus", "0"])
    open_to_users(site, users)
    site.up()
    site.down()
    slurm = users[1]
    text = site.conf.read_text()
    assert "SlurmUser=root\n" in text
    site.conf.write_text(text.replace("SlurmUser=root\n", f"SlurmUser={slurm.name}\n"))
    site.ok("chown", "-R", slurm.name, *(site.dir / name for name in ("state", "run", "log", "etc/slurm.key")))
    yield site
    site.destroy()
    reports = take_sanitizer_reports()
    assert not reports, reports


@pytest.fixture
def split(site, bob):
    """The same, running: started by root, whom the controller leaves behind."""
    if not site.alive():
        assert site.run("slurmctld", "-f", site.conf).code == 0
        for name in ("node1", "node2"):
            assert site.run("slurmd", "-f", site.conf, "-N", name).code == 0
    until(lambda: set(site.ok("sinfo", "-h", "-N", "-o", "%T").split()) == {"idle"}, what="idle nodes")
    return site


def ids(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return {key: set(map(int, re.search(rf"^{key}:\t(.*)$", status, re.M)[1].split())) for key in ("Uid", "Gid", "Groups")}


def test_the_controller_goes_on_as_slurm_user(split, bob):
    assert ids(split.pid()) == {"Uid": {bob.uid}, "Gid": {bob.gid}, "Groups": {bob.gid}}
    assert ids(split.pid("slurmd-node1"))["Uid"] == {0}
    owners = {path: path.stat().st_uid for path in [*split.dir.glob("state/*"), split.dir / "run/slurmctld.pid"]}
    assert set(owners.values()) == {bob.uid}, owners


def test_jobs_of_others_under_a_slurm_user(split, alice, bob):
    for user in (alice, bob):
        job = finish(split, user, "-N2", "-o", "split", "--wrap", "id -u; srun id -u")
        assert job["JobState"] == "COMPLETED"
        assert (user.home / "split").read_text().split() == [str(user.uid)] * 3
    assert split.ok("srun", "-N2", "id", "-u").split() == ["0", "0"]


def test_slurm_user_and_root_may(split, alice, bob):
    for user in (bob, None):
        job_id = running(split, alice)
        split.ok("scontrol", "update", f"jobid={job_id}", "timelimit=2:00:00", user=user)
        split.ok("scontrol", "update", "nodename=node2", "state=drain", "reason=test", user=user)
        assert "drain" in split.ok("sinfo", "-h", "-n", "node2", "-o", "%T")
        split.ok("scontrol", "update", "nodename=node2", "state=resume", user=user)
        split.ok("scontrol", "reconfigure", user=user)
        split.ok("scancel", job_id, user=user)
        assert split.wait_done(job_id)["JobState"] == "CANCELLED"
    job_id = running(split, bob)
    refused(split, alice, "scancel", job_id)
    refused(split, alice, "scontrol", "update", "nodename=node2", "state=drain", "reason=x")
    split.ok("scancel", job_id, user=bob)
    split.wait_done(job_id)


def test_slurm_user_starts_the_controller_itself(split, alice, bob):
    job_id = split.sbatch("-o", "/dev/null", "--wrap", "while [ ! -e go-on ]; do sleep 0.05; done; exit 4", user=alice)
    split.wait_state(job_id, "RUNNING")
    split.kill("slurmctld", 15)
    done = split.run("slurmctld", "-f", split.conf, user=alice)
    assert done.code == 1 and "slurmctld" in done.err and ("SlurmUser" in done.err or "pid" in done.err), done
    done = split.run("slurmctld", "-f", split.conf, user=bob)
    assert done.code == 0, done
    (alice.home / "go-on").touch()
    assert split.wait_done(job_id)["ExitCode"] == "4:0"
    (alice.home / "go-on").unlink()


def test_a_controller_of_somebody_else_says_why_not(site, alice):
    other = alice.home / "slurm.conf"
    other.write_text(site.conf.read_text().replace(f"{site.dir}/run", str(alice.home)))
    done = site.run("slurmctld", "-f", other, user=alice)
    assert done.code == 1 and f"started by uid {alice.uid}" in done.err and "SlurmUser=" in done.err, done
    assert not (alice.home / "slurmctld.pid").exists()


def test_a_key_of_somebody_else_is_refused(site, alice):
    text = site.conf.read_text()
    key = alice.home / "slurm.key"
    key.write_bytes(b"k" * 64)
    key.chmod(0o600)
    os.chown(key, alice.uid, alice.gid)
    other = alice.home / "slurm.conf"
    other.write_text(re.sub(r"(AuthInfo=.*)", rf"\1,key={key}", text).replace(f"{site.dir}/run", str(alice.home)))
    done = site.run("slurmd", "-f", other, "-N", "node1")
    assert done.code == 1 and f"belongs to uid {alice.uid}" in done.err, done


def test_nodes_obey_no_controller_of_somebody_else(split, alice, bob):
    """A process of another user on the controller's port that even has the key: it cannot be SlurmUser."""
    split.kill("slurmctld", 15)
    key = (split.dir / "etc/slurm.key").read_bytes()
    with socket.create_server(("127.0.0.1", split.port)) as server:
        server.settimeout(30)
        link, _ = server.accept()
        link.settimeout(30)
        head = link.recv(24, socket.MSG_WAITALL)
        said = wire.decode(link.recv(int.from_bytes(head[16:20], "little"), socket.MSG_WAITALL))
        token = credential(split, alice.uid, key=key, challenge=said[5][0])
        body = wire.encode("welcome", {"version": 1, "uid": 0, "token": token})
        head = struct.pack("<IBBHQI", wire.MAGIC, 1, wire.REPLY, 1, 0, len(body))
        link.sendall(head + struct.pack("<I", wire.crc32c(head)) + body)
        assert link.recv(1) == b"", "the node daemon hangs up"
        link.close()
    logs = [split.log(f"slurmd-node{i}.log") for i in (1, 2)]
    until(lambda: any(f"is uid {alice.uid} and not the controller" in split.log(f"slurmd-node{i}.log") for i in (1, 2)),
          what=f"the reason in a log: {logs}")
    assert split.run("slurmctld", "-f", split.conf, user=bob).code == 0

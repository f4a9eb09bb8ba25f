# SPDX-License-Identifier: Apache-2.0
"""What cannot be done is refused in one line that names it, with Slurm's exit code, and nothing is queued."""
import pytest

SHAPE = ["--nodes", "2", "--gpus", "4", "--gpu-type", "h100", "--cpus", "8", "--memory", "8000"]

WRAP = ["--wrap", "true"]
TABLE = [
    # command, exit code, words that must be in the one line
    (["sbatch", "--nosuch=3", *WRAP], 255, ["nosuch"]),
    (["sbatch", "nosuchfile.sh"], 1, ["nosuchfile.sh"]),
    (["sbatch", "-p", "nope", *WRAP], 1, ["nope", "main"]),
    (["sbatch", "-w", "node[1-", *WRAP], 1, ["node[1-"]),
    (["sbatch", "-w", "n]1-2[", *WRAP], 1, ["n]1-2["]),
    (["sbatch", "-x", "bad[", *WRAP], 1, ["bad["]),
    (["sbatch", "-w", "node[1-2,99]", *WRAP], 1, ["node99"]),
    (["sbatch", "--gres=gpu:1:tesla:v100", *WRAP], 1, ["gpu:1:tesla:v100", "name:type:count"]),
    (["sbatch", "--gres=gpu:9", *WRAP], 1, ["Requested node configuration is not available"]),
    (["sbatch", "--gres=tpu:1", *WRAP], 1, ["Invalid generic resource (gres) specification"]),
    (["sbatch", "-C", "nosuchfeature", *WRAP], 1, ["nosuchfeature"]),
    (["sbatch", "--mem=1T", *WRAP], 1, ["Requested node configuration is not available"]),
    (["sbatch", "-c", "64", *WRAP], 1, ["Requested node configuration is not available"]),
    (["sbatch", "-t", "banana", *WRAP], 255, ["banana"]),
    (["sbatch", "--begin=whenever", *WRAP], 255, ["whenever"]),
    (["sbatch", "-n", "-1", *WRAP], 1, ["-1"]),
    (["sbatch", "-n", "x", *WRAP], 1, ["x"]),
    (["sbatch", "--array=x", *WRAP], 1, ["x"]),
    (["sbatch", "--mem=10", "--mem-per-cpu=10", *WRAP], 1, ["mem"]),
    (["sbatch", *WRAP, "extra.sh"], 1, ["wrap"]),
    (["srun", "-p", "nope", "true"], 1, ["nope"]),
    (["srun", "--jobid=999999", "true"], 1, ["999999", "Invalid job id specified"]),
    (["srun"], 1, ["srun"]),
    (["salloc", "--nosuch"], 255, ["nosuch"]),
    (["squeue", "--nosuch"], 1, ["nosuch"]),
    (["squeue", "-t", "BOGUS"], 1, ["BOGUS"]),
    (["sinfo", "--nosuch"], 1, ["nosuch"]),
    (["scancel", "abc"], 1, ["abc"]),
    (["scancel", "--state=BOGUS"], 1, ["BOGUS"]),
    (["scontrol", "frobnicate"], 1, ["frobnicate"]),
    (["scontrol", "show", "frobs"], 1, ["frobs"]),
]


@pytest.mark.parametrize("command,code,words", TABLE, ids=[" ".join(row[0]) for row in TABLE])
def test_refused(cluster, command, code, words):
    before = cluster.ok("squeue", "-h", "-a", "-t", "all", "-o", "%i")
    done = cluster.run(*command)
    text = done.out + done.err
    assert done.code == code and all(word in text for word in words), done
    assert "==" not in text and "Assert" not in text
    assert cluster.ok("squeue", "-h", "-a", "-t", "all", "-o", "%i") == before


@pytest.mark.parametrize("name,content,words", [
    ("nobang.sh", b"echo hi\n", ["nobang.sh", "#!"]),
    ("crlf.sh", b"#!/bin/bash\r\necho hi\r\n", ["crlf.sh", "DOS"]),
    ("empty.sh", b"", ["empty.sh"]),
    ("binary.sh", b"#!/bin/sh\n\0\1\2", ["binary.sh"]),
])
def test_scripts(cluster, name, content, words):
    (cluster.work / name).write_bytes(content)
    done = cluster.run("sbatch", name)
    assert done.code == 1 and all(w.lower() in done.err.lower() for w in words), done
    assert cluster.ok("squeue", "-h", "-t", "all") == ""


def test_unknown_option_in_the_script(cluster):
    path = cluster.script("#SBATCH --nodeNum=3\ntrue\n", "bad.sh")
    done = cluster.run("sbatch", path)
    assert done.code == 255 and "nodeNum" in done.err, done


def test_no_controller(cluster):
    done = cluster.run("squeue", env={"SLURM_CONF": "/nonexistent/slurm.conf"})
    assert done.code == 1 and "/nonexistent/slurm.conf" in done.err, done

# SPDX-License-Identifier: Apache-2.0
"""What README.md tells a newcomer to type, typed; and the demo."""
import os
import re
import subprocess

from conftest import BIN, ROOT, SLOW


def run_blocks():
    return re.findall(r"<!-- run -->\n```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.S)


def test_readme_commands():
    home = f"/tmp/mr-{os.getpid()}"
    blocks = run_blocks()
    assert len(blocks) >= 4
    # `make` and build/bin are what this very run has built already.
    text = "\n".join(blocks).replace("make\n", "", 1).replace("build/bin/", f"{BIN}/")
    script = f"set -e; mkdir -p {home}/work; cp -r {ROOT}/examples {home}/work; cd {home}/work\n" + text
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "SBATCH", "XDG"))}
    env["HOME"] = home
    try:
        done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, timeout=120 * SLOW,
                              stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "has GPUs 0,1" in done.stdout and "0: 0,1,2,3" in done.stdout and "1: 0,1,2,3" in done.stdout
        assert re.search(r"main\* +up +infinite +4 +idle +node\[1-4\]", done.stdout)
    finally:
        subprocess.run([BIN / "muster", "down"], env=env, capture_output=True)
        subprocess.run(["rm", "-rf", home])


def test_demo():
    done = subprocess.run([ROOT / "demo/demo.sh"], env=dict(os.environ, MUSTER_BIN=str(BIN)), capture_output=True,
                          text=True, timeout=120 * SLOW, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\x1b" not in done.stdout, "plain in a pipe"
    for rank in range(32):
        assert re.search(rf"^rank +{rank} of 32 on node{rank // 8 + 1} ", done.stdout, re.M), rank
    assert re.search(r"train +\S+ +R +0:0\d +4 node\[1-4\]", done.stdout)
    assert "alloc" in done.stdout and "stopped the cluster" in done.stdout

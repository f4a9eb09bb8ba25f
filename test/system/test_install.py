# SPDX-License-Identifier: Apache-2.0
"""`make install`: what it puts where, and that it works from there."""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, Cluster, take_sanitizer_reports

pytestmark = pytest.mark.skipif(os.environ.get("MUSTER_BUILD", "gcc") != "gcc", reason="installs the plain build")
PREFIX = "/opt/muster"
PROGRAMS = ["muster", "salloc", "sbatch", "scancel", "scontrol", "sinfo", "slurmctld", "slurmd", "slurmstepd", "squeue", "srun"]


def configured_prefix():
    done = subprocess.run(["/usr/bin/meson", "introspect", ROOT / "build", "--buildoptions"], capture_output=True, check=True)
    return next(o["value"] for o in json.loads(done.stdout) if o["name"] == "prefix")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The tree that `make install` makes, under another prefix than the build directory has."""
    dest, before = tmp_path_factory.mktemp("dest"), configured_prefix()
    done = subprocess.run(["make", "install", f"PREFIX={PREFIX}", f"DESTDIR={dest}"], cwd=ROOT, capture_output=True, text=True)
    subprocess.run(["/usr/bin/meson", "setup", "--reconfigure", ROOT / "build", f"-Dprefix={before}"], capture_output=True,
                   check=True)
    assert done.returncode == 0, done.stdout + done.stderr
    yield dest / PREFIX[1:]
    shutil.rmtree(dest, ignore_errors=True)


def test_everything_is_there_and_nothing_else(installed):
    files = {str(p.relative_to(installed)) for p in installed.rglob("*") if p.is_file()}
    expected = {f"bin/{name}" for name in PROGRAMS}
    expected |= {f"share/man/man{p.name.split('.')[-3]}/{p.name[:-len('.scd.in')]}" for p in (ROOT / "doc/man").glob("*.in")}
    expected |= {f"lib/systemd/system/{name}.service" for name in ("slurmctld", "slurmd")}
    expected |= {f"share/doc/muster/{name}" for name in (
        "README.md", "LICENSE", "ARCHITECTURE.md", "examples/slurm.conf", "examples/gres.conf", "examples/gpu.sh",
        "examples/train.sh", *(f"guides/{p.name}" for p in (ROOT / "doc/guides").glob("*.md")))}
    assert files == expected


def test_pages_are_manual_pages(installed):
    for path in installed.glob("share/man/*/*"):
        text = path.read_text()
        assert re.search(rf'^\.TH "{re.escape(path.stem)}" "{path.suffix[1:]}"', text, re.M), path
        assert not re.search(r"^@|@$", text, re.M), f"{path.name}: something was not filled in"


@pytest.mark.parametrize("name", ["slurmctld", "slurmd"])
def test_units_start_what_was_installed(installed, name):
    text = (installed / f"lib/systemd/system/{name}.service").read_text()
    command = re.search(r"^ExecStart=(\S+) --systemd$", text, re.M)[1]
    assert command == f"{PREFIX}/bin/{name}" and (installed / "bin" / name).exists()
    assert "Type=notify" in text and "[Install]" in text


def test_units_are_understood(installed, tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze")
    for unit in installed.glob("lib/systemd/system/*.service"):
        copy = tmp_path / unit.name
        copy.write_text(unit.read_text().replace(PREFIX, str(installed)))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True)
        ours = [line for line in (done.stdout + done.stderr).splitlines() if unit.name in line]
        assert not ours, ours


def test_a_cluster_runs_from_there(installed):
    cluster = Cluster(["--nodes", "2", "--gpus", "2"])
    cluster.bin = installed / "bin"
    try:
        cluster.up()
        out = cluster.ok("srun", "-N2", "--gpus-per-node=2", "-l", "printenv", "CUDA_VISIBLE_DEVICES")
        assert sorted(out.splitlines()) == ["0: 0,1", "1: 0,1"]
        for pid in cluster.processes():
            assert Path(f"/proc/{pid}/exe").resolve().parent == installed / "bin"
    finally:
        cluster.destroy()
    assert not take_sanitizer_reports()


def test_examples_are_good(installed):
    examples = installed / "share/doc/muster/examples"
    done = subprocess.run([installed / "bin/slurmctld", "-t", "-f", examples / "slurm.conf"], capture_output=True, text=True)
    assert done.returncode == 0 and "no effect" not in done.stdout, done.stdout


def test_a_relative_prefix_is_refused():
    done = subprocess.run([ROOT / "tools/install", "opt"], capture_output=True, text=True)
    assert done.returncode == 1 and "absolute" in done.stderr

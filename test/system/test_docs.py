# SPDX-License-Identifier: Apache-2.0
"""What the guides and manual pages tell people to type, typed; and what they say, compared with what there is.

A block marked `run` is run by bash as it stands, one marked `file NAME` is written to that file; all blocks of a document
are one session in an empty directory, on a cluster of the usual shape.  Marks are comments: `<!-- run -->` in Markdown,
`; run` in manual pages."""
import re
import subprocess
import sys

import pytest

from conftest import BIN, ROOT

sys.path.insert(0, str(ROOT / "tools"))
from schemagen import Schema  # noqa: E402

SHAPE = []
PAGES = sorted((ROOT / "doc/man").glob("*.scd.in"))
GUIDES = sorted(p for p in (ROOT / "doc/guides").glob("*.md")
                if "```\n```text\n" not in p.read_text())  # those that show output are run by test_guides.py
BLOCK = re.compile(r"^(?:; |<!-- )(run|file \S+)(?: -->)?\n```\w*\n(.*?)^```$", re.S | re.M)
MARK = re.compile(r"^(?:; |<!-- )(?:run|file)\b.*$", re.M)


def session(path):
    """The marked blocks of a document as one script."""
    text = path.read_text()
    blocks = BLOCK.findall(text)
    assert len(blocks) == len(MARK.findall(text)), f"{path.name}: a mark without a block"
    script = ["set -e -o pipefail"]
    for mark, body in blocks:
        script.append(body if mark == "run" else f"cat > {mark.split()[1]} <<'MUSTER_END'\n{body}MUSTER_END\n")
    return "\n".join(script), blocks


@pytest.mark.parametrize("path", PAGES + GUIDES, ids=lambda p: p.name.replace(".scd.in", ""))
def test_commands_run_as_written(cluster, path):
    script, blocks = session(path)
    if not blocks:
        assert path.name.startswith("slurmstepd"), "a document without a command that runs"
        return
    here = cluster.work / path.name
    here.mkdir()
    try:
        done = cluster.run("bash", "-c", script, cwd=here, timeout=120)
        assert done.code == 0, f"{script}\n{done.out}\n{done.err}"
        assert "error" not in done.err, done.err
    finally:
        for conf in here.glob("*/etc/slurm.conf"):
            cluster.run(BIN / "muster", "down", "--dir", conf.parent.parent)
        cluster.cancel_all()


def test_every_program_has_a_page():
    programs = {p.name for p in BIN.iterdir() if p.is_file() and p.stat().st_mode & 0o111} - {"simcluster"}
    pages = {p.name.split(".")[0] for p in PAGES}
    assert programs - pages == set()


def page(name):
    return next(p for p in PAGES if p.name.startswith(name + ".")).read_text()


@pytest.mark.parametrize("program,command", [
    ("slurmctld", ["-h"]), ("slurmd", ["-h"]), ("muster", ["up", "--help"]), ("muster", ["down", "--help"])])
def test_every_option_is_in_the_page(program, command):
    done = subprocess.run([BIN / program, *command], capture_output=True, text=True)
    options = re.findall(r"^\s+(--?[a-zA-Z][a-z-]*)", done.stdout, re.M)
    assert options, done
    for option in options:
        assert f"*{option}*" in page(program), option


def test_every_keyword_is_in_the_page():
    done = subprocess.run([BIN / "scontrol", "--help"], capture_output=True, text=True)
    words = re.findall(r"^  ([a-z_]+)  ", done.stdout, re.M)
    assert "show" in words and "ping" in words, done
    for word in words:
        assert f"*{word}*" in page("scontrol"), word


def test_every_key_of_update_is_in_the_page():
    keys = re.findall(r'^\t\{ "(\w+)", change_', (ROOT / "src/core/change.c").read_text(), re.M)
    keys += re.findall(r'str_ieq\(pair->key, "(\w+)"\)', (ROOT / "src/core/nodes.c").read_text())
    assert "TimeLimit" in keys and "Weight" in keys
    for key in set(keys) - {"JobName", "AvailableFeatures", "ActiveFeatures"}:  # other names of the same
        assert re.search(rf"\b{key}\b", page("scontrol")), key


def test_keys_with_an_effect_say_what_they_do():
    done = subprocess.run([sys.executable, ROOT / "tools/mangen.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_reasons_of_the_guide_are_those_that_exist():
    """Every reason that the core or the planner gives is explained, and no other one."""
    enum = next(e for e in Schema(ROOT / "schema/reasons.def").enums if e.name == "job_reason")
    sources = "".join(p.read_text() for folder in ("core", "sched", "slurmctld") for p in (ROOT / "src" / folder).glob("*.c"))
    given = {text for _, symbol, text, _ in enum.values if f"JOB_REASON_{symbol.upper()}" in sources}
    table = re.findall(r"^\| `(\w+)` \|", (ROOT / "doc/guides/why-is-my-job-waiting.md").read_text(), re.M)
    assert sorted(table) == sorted(given)


def test_examples_are_those_of_the_guide():
    files = {mark.split()[1]: body for mark, body in session(ROOT / "doc/guides/first-cluster.md")[1] if mark != "run"}
    assert files == {name: (ROOT / "examples" / name).read_text() for name in ("slurm.conf", "gres.conf")}


def documents():
    for pattern in ("*.md", "doc/**/*.md", "src/*/*.md", "test/**/*.md"):
        yield from ROOT.glob(pattern)


def test_links_lead_somewhere():
    for path in documents():
        for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
            assert (path.parent / link).exists(), f"{path.relative_to(ROOT)}: {link}"


def test_folders_know_their_files():
    """A README of src/ names every file of its folder (topo_* names several), and none that does not exist."""
    wrong = []
    for readme in (ROOT / "src").glob("*/README.md"):
        text, folder = readme.read_text(), readme.parent
        words = set(re.findall(r"\w+\*?", text))
        for name in {p.stem for p in folder.glob("*.c")} - {"main"}:
            if name not in words and not any(w.endswith("*") and w != "*" and name.startswith(w[:-1]) for w in words):
                wrong.append(f"{folder.name}/README.md does not name {name}")
        for name in re.findall(r"`(\w+\.c)`", text):
            if not list((ROOT / "src").glob(f"*/{name}")):
                wrong.append(f"{folder.name}/README.md names {name}, which does not exist")
    assert not wrong, "\n".join(wrong)

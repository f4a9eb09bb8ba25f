# SPDX-License-Identifier: Apache-2.0
"""Guides that show what commands print: the commands are typed, and what comes out is compared.

Blocks of shell behind `<!-- run -->` are run one after the other in one directory; a block of text right behind one is
its output and errors, where `...` stands for anything."""
import re

import pytest

from conftest import ROOT

TORCHRUN = """#!/bin/bash
for word; do
	[[ $word =~ nproc_per_node=(.*) ]] && n=${BASH_REMATCH[1]}
	[[ $word =~ rdzv_endpoint=(.*) ]] && at=${BASH_REMATCH[1]}
done
echo "torchrun on $SLURMD_NODENAME: $n workers, meeting at $at"
"""
SHAPE = []


GUIDES = sorted(p for p in (ROOT / "doc/guides").glob("*.md") if "```\n```text\n" in p.read_text())


def blocks(guide):
    return re.findall(r"<!-- run -->\n```sh\n(.*?)```\n(?:```text\n(.*?)```\n)?", guide.read_text(), re.S)


def matches(expected, got):
    parts = [re.escape(part) for part in expected.split("...")]
    return re.fullmatch(".*".join(parts), got)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda p: p.name)
def test_guide(quiet, guide):
    programs = quiet.dir / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "torchrun").write_text(TORCHRUN)
    (programs / "torchrun").chmod(0o755)
    found = blocks(guide)
    assert len(found) >= 10
    for command, expected in found:
        done = quiet.run("bash", "-c", "set -e; exec 2>&1\n" + command, env={"PATH": f"{programs}:{quiet.env()['PATH']}"})
        assert done.code == 0, f"{command}\n{done}"
        assert not expected or matches(expected, done.out), f"{command}gives\n{done.out}and not\n{expected}"

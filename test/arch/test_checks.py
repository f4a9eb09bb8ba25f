# SPDX-License-Identifier: Apache-2.0
"""The architecture checks themselves: each must notice what it is there for."""
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"
SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n"


def run(*command, **kw):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **kw)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("file,include,word", [
    ("src/base/a.c", "core/cluster.h", "downwards"),
    ("src/core/a.c", "store/journal.h", "downwards"),
    ("src/sched/a.c", "core/cluster.h", "downwards"),
    ("src/wire/a.c", "auth.h", "names no folder"),
    ("src/wire/a.c", "nosuch/auth.h", "no known folder"),
    ("src/extra/a.c", "base/str.h", "not in the table"),
])
def test_layers_refuses(tmp_path, file, include, word):
    write(tmp_path / file, f'{SPDX}#include "{include}"\n')
    done = run(TOOLS / "check-layers", tmp_path)
    assert done.returncode == 1 and word in done.stdout


def test_layers_accepts_downwards(tmp_path):
    write(tmp_path / "src/core/a.c", f'{SPDX}#include "core/b.h"\n#include "sched/c.h"\n#include <time.h>\n')
    assert run(TOOLS / "check-layers", tmp_path).returncode == 0


def compile_into(tmp_path, name, source, archive=None):
    obj = tmp_path / "build/src" / name
    write(obj.with_suffix(".c"), source)
    assert run("gcc", "-O1", "-fPIE", "-c", obj.with_suffix(".c"), "-o", obj).returncode == 0
    if archive:
        assert run("ar", "rc", tmp_path / "build/src" / archive, obj).returncode == 0
    return tmp_path / "build"


@pytest.mark.parametrize("source,symbol", [
    ("#include <time.h>\nlong f(void){return time(0);}", "time"),
    ("#include <stdlib.h>\nchar *f(void){return getenv(\"A\");}", "getenv"),
    ("#include <stdio.h>\nvoid f(int i){printf(\"%d\", i);}", "printf"),
    ("int loop_now(void);int f(void){return loop_now();}", "loop_now"),
])
def test_pure_refuses(tmp_path, source, symbol):
    compile_into(tmp_path, "core/a.o", source, "core/libcore.a")
    build = compile_into(tmp_path, "sched/a.o", "int g(void){return 1;}", "sched/libsched.a")
    done = run(TOOLS / "check-pure", build)
    assert done.returncode == 1 and f"uses {symbol};" in done.stdout


def test_pure_needs_the_libraries(tmp_path):
    assert run(TOOLS / "check-pure", tmp_path).returncode == 1


@pytest.mark.parametrize("source,ok", [
    ("static int counter; int f(void){return counter++;}", False),
    ("int limit = 3;", False),
    ("_Thread_local int last; ", False),
    ("int f(void){static int n; return n++;}", False),
    ("static const char *const names[] = {\"a\", \"b\"}; const char *f(int i){return names[i];}", True),
    ("const int limit = 3;", True),
])
def test_globals(tmp_path, source, ok):
    build = compile_into(tmp_path, "x/lib_a.c.o", source)
    assert run(TOOLS / "check-globals", build).returncode == (0 if ok else 1)


def test_headers_must_stand_alone(tmp_path):
    write(tmp_path / "src/base/a.h", "#pragma once\nsize_t f(void);\n")
    (tmp_path / "build/src").mkdir(parents=True)
    done = run(TOOLS / "check-headers", tmp_path, tmp_path / "build")
    assert done.returncode == 1 and "base/a.h does not compile alone" in done.stdout


def test_schema_numbers_stay(tmp_path):
    for name in ("check-schema", "schemagen.py"):
        os.makedirs(tmp_path / "tools", exist_ok=True)
        (tmp_path / "tools" / name).write_text((TOOLS / name).read_text())
    check = [tmp_path / "tools/check-schema"]
    os.chmod(check[0], 0o755)
    rows = tmp_path / "schema/a.def"
    write(rows, "record a  Help.\n  1  first  u32\n  2  second  str(8)\n")
    assert run(*check).returncode == 1, "a row that is not in the list"
    assert run(*check, "--update").returncode == 0
    assert run(*check).returncode == 0
    for text in ("1  other  u32", "1  first  str"):
        write(rows, f"record a  Help.\n  {text}\n")
        assert run(*check).returncode == 1, text
        assert run(*check, "--update").returncode == 1, "an update never renames"
    write(rows, "record a  Help.\n  1  first  u32?\n  3  third  u32\n")
    assert run(*check, "--update").returncode == 0, "a row may go, another may come"
    write(rows, "record a  Help.\n  1  first  u32\n  2  third  str\n")
    assert run(*check).returncode == 1, "but the number of the one that went is not free"


def test_style_wants_spdx_and_readmes(tmp_path):
    write(tmp_path / "src/base/a.c", "int a;\n")
    done = run(TOOLS / "check-style.py", tmp_path)
    assert done.returncode == 1
    assert "src/base/a.c:1: no SPDX line" in done.stdout and "src/base: no README.md" in done.stdout


def test_report_sums_up(tmp_path):
    junit = write(tmp_path / "a.xml", '<testsuites><testsuite><testcase name="x"/><testcase name="y"><failure '
                  'message="no"/></testcase><testcase name="z"><skipped/></testcase></testsuite></testsuites>')
    done = run(TOOLS / "test-report", "build gcc=pass", f"unit={junit}")
    assert done.returncode == 1 and done.stdout.splitlines()[-1] == "2 passed, 1 failed, 1 skipped"
    done = run(TOOLS / "test-report", "build gcc=pass", f"unit={tmp_path}/none.xml")
    assert done.returncode == 1 and done.stdout.splitlines()[-1] == "1 passed, 1 failed"
    done = run(TOOLS / "test-report", "build gcc=pass")
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "1 passed, 0 failed"

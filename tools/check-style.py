#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a reader relies on in every file, and a look at the long ones: usage check-style.py [ROOT].

Fails when a source file has no SPDX line or keeps a note of unfinished work, and when a folder of src/ has no
README.md.  Prints the ten longest functions and files; length is for the author to judge."""
import re
import subprocess
import sys
from pathlib import Path

SOURCES = (".c", ".h", ".py", ".sh")
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")


def tracked(root):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True)
    if out.returncode == 0:
        return [root / name for name in out.stdout.splitlines() if (root / name).is_file()]
    skip = {"build", "build-asan", ".git"}
    return [p for p in root.rglob("*") if p.is_file() and not skip & set(p.relative_to(root).parts)]


def is_source(path):
    if path.suffix in SOURCES:
        return True
    if path.suffix or path.stat().st_size > 1 << 20:
        return False
    with path.open("rb") as f:
        return f.read(2) == b"#!"


def functions(path, lines):
    """(length, where, name) of each function: a body opens with { and closes with } in the first column."""
    start, head = None, ""
    for number, line in enumerate(lines, 1):
        if re.match(r"[a-zA-Z_].*\(", line) and not line.rstrip().endswith(";"):
            head = re.sub(r"\(.*", "", line).split()[-1].lstrip("*")
        elif line.startswith("{"):
            start = number
        elif line.startswith("}") and start:
            yield number - start - 1, f"{path}:{start}", head
            start = None


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    problems, longest_functions, longest_files = [], [], []
    for path in sorted(tracked(root)):
        if not is_source(path):
            continue
        name = path.relative_to(root)
        lines = path.read_text(errors="replace").splitlines()
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
            problems.append(f"{name}:1: no SPDX line")
        problems += [f"{name}:{n}: unfinished work is noted elsewhere, not in the source"
                     for n, line in enumerate(lines, 1) if UNFINISHED.search(line)]
        longest_files.append((len(lines), str(name)))
        if path.suffix == ".c":
            longest_functions += functions(name, lines)
    for folder in sorted(p for p in (root / "src").iterdir() if p.is_dir()):
        if not (folder / "README.md").is_file():
            problems.append(f"src/{folder.name}: no README.md")

    print("longest functions:")
    for length, where, name in sorted(longest_functions, reverse=True)[:10]:
        print(f"{length:6} lines  {where}  {name}")
    print("longest files:")
    for length, name in sorted(longest_files, reverse=True)[:10]:
        print(f"{length:6} lines  {name}")
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()

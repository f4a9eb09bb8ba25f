#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fill the OPTIONS and ENVIRONMENT parts of a manual page from schema/options.def.

usage: mangen.py COMMAND PAGE.scd.in OUT.scd

Lines `@OPTIONS@` and `@ENVIRONMENT@` of the page are replaced; the result is input for scdoc."""
import sys
from pathlib import Path

from schemagen import Schema


def escape(text):
    for c in "\\*_":
        text = text.replace(c, "\\" + c)
    return text


def synopsis(row):
    value = row["value"]
    text = f"*--{row['long_name']}*"
    if value and value.startswith("[") and value.endswith("]"):
        text += f"[=_{escape(value[1:-1])}_]"
    elif value:
        text += f"=_{escape(value)}_"
    return f"*-{row['letter']}*, {text}" if row["letter"] else text


def options(rows):
    lines = []
    for row in rows:
        if row["parse"]:
            lines += [synopsis(row), f"\t{escape(row['help'])}", ""]
    missing = [f"*--{row['long_name']}*" for row in rows if not row["parse"]]
    if missing:
        lines += ["These are known, and refused by this version:", ", ".join(missing) + "."]
    return lines


def environment(rows, command):
    lines = []
    for row in rows:
        for name in (row[command] or "").split(","):
            if name and row["parse"]:
                lines += [f"*{escape(name)}*", f"\tThe same as *--{row['long_name']}*.", ""]
    return lines


def main(argv):
    command, page, out = argv[1:]
    table = next(t for t in Schema(Path(__file__).parent.parent / "schema/options.def").tables if t.name == "options")
    names = [column for column, _ in table.columns]
    rows = [dict(zip(names, row)) for row in table.rows]
    rows = [row for row in rows if command in row["cmds"].split(",")]
    parts = {"@OPTIONS@": options(rows), "@ENVIRONMENT@": environment(rows, command)}
    lines = []
    for line in Path(page).read_text().splitlines():
        lines += parts.get(line, [line])
    Path(out).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv)

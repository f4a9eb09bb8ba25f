#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fill in the parts of a manual page that the rows of schema/ know.

usage: mangen.py PAGE.scd.in OUT.scd      the result is input for scdoc
       mangen.py --check                  rows that a page shows and that have no help text

A line of the page that stands between two @ is replaced:

  @options COMMAND@       its options, and those that are known and refused
  @environment COMMAND@   the variables that stand for options
  @columns OF@            columns of squeue and sinfo: job, step, node
  @keys RECORD@           keys of a configuration file: slurm_conf, node_conf, gres_conf, ...
  @old RECORD...@         older spellings of keys, and keys that are gone
  @variables SCOPE@       what a job finds in its environment: batch, task, alloc
  @states ENUM@           words and short words of schema/states.def"""
import re
import sys
from pathlib import Path

from schemagen import Schema

ROOT = Path(__file__).resolve().parent.parent
UNITS = {"sec": "seconds", "min": "minutes", "usec": "microseconds"}
KINDS = {"bool": "YES|NO", "u32": "number", "u64": "number", "str": "text"}
PARSED = {"time": "time", "time_limit": "time", "memory": "size", "size": "number", "count": "number", "level": "level"}


def schema(name):
    return Schema(ROOT / f"schema/{name}.def")


def table(file, name):
    found = next(t for t in schema(file).tables if t.name == name)
    columns = [column for column, _ in found.columns]
    return [dict(zip(columns, row)) for row in found.rows]


def record(name):
    for file in ("conf", "node"):
        for found in schema(file).records:
            if found.name == name:
                return found
    sys.exit(f"mangen: there is no record '{name}' in schema/conf.def and schema/node.def")


def escape(text):
    for c in "\\*_":
        text = text.replace(c, "\\" + c)
    return text


def defined(term, text):
    return [term, f"\t{text}", ""]


def names(words):
    return ", ".join(f"*{escape(w)}*" for w in words) + "."


# --- options ---

def refused_by_controller():
    """What the commands read and core/submit.c refuses by name."""
    text = (ROOT / "src/core/submit.c").read_text()
    body = text[text.index("refuse_missing"):]
    return re.findall(r'"(--[^"]+)" \}', body[:body.index("\n}\n")])


def option_rows(command):
    """name, letter, value, whether it is built, variables, help: from either table of options."""
    if command in ("sbatch", "salloc", "srun"):
        refused = refused_by_controller()
        return [dict(row, name=row["long_name"], built=row["parse"] and f"--{row['long_name']}" not in refused,
                     env=row[command])
                for row in table("options", "options") if command in row["cmds"].split(",")]
    rows = [dict(row, built=row["sets"]) for row in table("query_options", "query_options") if row["cmds"] == command]
    if not rows:
        sys.exit(f"mangen: no table has options of '{command}'")
    return rows


def synopsis(row):
    value = row["value"]
    text = f"*--{row['name']}*"
    if value and value.startswith("[") and value.endswith("]") and value.count("[") == 1:
        text += f"[=_{escape(value[1:-1])}_]"
    elif value:
        text += f"=_{escape(value)}_"
    return f"*-{row['letter']}*, {text}" if row["letter"] else text


def options(command):
    lines, missing = [], []
    for row in option_rows(command):
        if row["built"]:
            lines += defined(synopsis(row), escape(row["help"]))
        else:
            missing.append(f"--{row['name']}")
    if command in ("sbatch", "salloc", "srun"):
        missing += [word for word in refused_by_controller() if "=" in word]
    if missing:
        lines += ["These are known, and refused by this version:", names(missing)]
    return lines


def environment(command):
    lines = []
    for row in option_rows(command):
        for name in (row["env"] or "").split(","):
            if name and row["built"]:
                lines += defined(f"*{escape(name)}*", f"The same as *--{row['name']}*.")
    return lines


# --- columns, variables, states ---

def columns(of):
    lines, empty = [], []
    for row in table("formats", "columns"):
        if row["of"] != of:
            continue
        words = ([f"%{row['letter']}"] if row["letter"] else []) + row["names"].split(",")
        if row["value"] == "absent":
            empty += words
        else:
            lines += defined(", ".join(f"*{escape(w)}*" for w in words), escape(row["help"]))
    if empty:
        lines += ["These belong to features that do not exist here and show what Slurm shows where they are not used:",
                  names(empty)]
    return lines


def variables(scope):
    return [line for row in table("environment", "variables") if scope in row["scopes"].split(",")
            for line in defined(f"*{escape(row['name'])}*", escape(row["help"]))]


def states(name):
    found = next(e for e in schema("states").enums if e.name == name)
    return [", ".join(f"{text} ({short})" if short != text else text for _, _, text, short in found.values) + "."]


# --- keys ---

def key_value(field):
    attrs = field.attrs
    if "oneof" in attrs:
        return "|".join(word for word in attrs["oneof"].split("|") if ":" not in word)
    if attrs.get("parse") in PARSED:
        return PARSED[attrs["parse"]]
    if attrs.get("unit"):
        return UNITS.get(attrs["unit"], attrs["unit"])
    enum = next((e for e in schema("states").enums if e.name == field.base), None)
    return "|".join(v[2] for v in enum.values) if enum else KINDS.get(field.base, "text")


def key_limits(field):
    attrs, text = field.attrs, ""
    if attrs.get("default"):
        text += f" Default: {escape(attrs['default'])}."
    low, high = attrs.get("min", "0" if field.base in ("u32", "u64") else None), attrs.get("max")
    if high:
        text += f" From {low} to {high}."
    elif attrs.get("min") and attrs["min"] != "0":
        text += f" At least {attrs['min']}."
    return text


def keys(name):
    lines, idle = [], []
    for field in record(name).fields:
        if "key" not in field.attrs:
            continue
        if field.attrs.get("use") == "no":
            idle.append(field.attrs["key"])
        else:
            between = ": " if field.attrs["key"].islower() else "="  # YAML, or a line of Key=Value
            lines += defined(f"*{escape(field.attrs['key'])}*{between}_{escape(key_value(field))}_",
                             (escape(field.help) + key_limits(field)).strip())
    if idle:
        lines += ["These are understood and have no effect yet; *slurmctld -t* says so when one is used:", names(idle)]
    return lines


def old(*records):
    lines = []
    for row in table("conf", "old_keys"):
        if row["record"] in records:
            then = row["key"] + (f"={row['value']}" if row["value"] else "")
            now = row["new_key"] + (f"={row['new_value']}" if row["new_value"] else "")
            lines += defined(f"*{escape(then)}*", f"Read as {escape(now)}.")
    for row in table("conf", "gone_keys"):
        if row["record"] in records:
            lines += defined(f"*{escape(row['key'])}*", f"Gone. Write {escape(row['hint'])}.")
    return lines


PARTS = {f.__name__: f for f in (options, environment, columns, keys, old, variables, states)}


def directive(line):
    words = line.strip("@").split() if line.startswith("@") and line.endswith("@") else []
    if words and words[0] not in PARTS:
        sys.exit(f"mangen: '{line}' is none of {', '.join(PARTS)}")
    return words


def fill(page):
    lines = []
    for line in page.read_text().splitlines():
        words = directive(line)
        lines += PARTS[words[0]](*words[1:]) if words else [line]
    return "\n".join(lines) + "\n"


def check():
    """A key that has an effect and says nothing about itself."""
    missing = []
    for page in sorted((ROOT / "doc/man").glob("*.in")):
        for line in page.read_text().splitlines():
            words = directive(line)
            if words[:1] == ["keys"]:
                missing += [f"{page.name}: {f.attrs['key']} of record {words[1]} has no help text in its row"
                            for f in record(words[1]).fields
                            if "key" in f.attrs and f.attrs.get("use") != "no" and not f.help]
    print("\n".join(missing) or "every key that has an effect has a help text")
    return 1 if missing else 0


def main(argv):
    if argv[1:] == ["--check"]:
        return check()
    if len(argv) != 3:
        sys.exit(__doc__)
    Path(argv[2]).write_text(fill(Path(argv[1])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

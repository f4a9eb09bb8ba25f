#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turn the rows of schema/*.def into C and .proto.

usage: schemagen.py c NAME.def OUT.h OUT.c     one file's structs, enums, descriptors and tables
       schemagen.py proto OUT.proto FILE.def... everything that travels, for other languages

A .def file has four kinds of blocks; `#` starts a comment line, rows are indented:

  use job                                  names of another .def file may be used here

  enum job_state [prefix=JS]  Help text.
    0  pending  PENDING  PD                number, symbol, text, optional short text

  record job  Help text.
    1  name  str(1024)  [key=Value ...]  Help text.
                                           tag, member, type, attributes in brackets, help

      types: bool u32 u64 i64 usec f64 str bytes bits, an enum's or a record's name;
             `?` behind: optional (a has_ member); `[]` behind: repeated (n_ member);
             `(n)` behind: longest text or most elements accepted.

  event 7 job_started  Help text.          a record that the journal knows by number; rows as above
  message 10 submit submit_request submit_reply user  Help text.
                                           number, name, request record, reply record, who may send

  table options long short:u32 parse:kind cmds:set help
    nodes  N  nodes  sbatch,srun  Help.    a row of columns, the last takes the rest of the line;
                                           `-` is NULL; types: (text) u32 kind (enum of the values
                                           seen) set (bits of the comma-separated values seen);
                                           a column may be quoted: "two words"
"""
import re
import sys
from pathlib import Path

SCALARS = {
    "bool": ("bool", "BOOL", "bool"),
    "u32": ("uint32_t", "U32", "uint32"),
    "u64": ("uint64_t", "U64", "uint64"),
    "i64": ("int64_t", "I64", "int64"),
    "usec": ("usec_t", "I64", "int64"),
    "f64": ("double", "F64", "double"),
    "str": ("char *", "STR", "string"),
    "bytes": ("struct bytes ", "BYTES", "bytes"),
    "bits": ("struct bitset ", "BITS", "bytes"),
}
DEFAULT_MAX = {"STR": 65536, "BYTES": 64 << 20, "REPEATED": 1 << 20}
NUMERIC_ATTRS = ("min", "max")


class SchemaError(Exception):
    pass


class Field:
    def __init__(self, where, tag, name, type_text, attrs, help_text):
        m = re.fullmatch(r"([a-z][a-z0-9_]*)(\?|\[\])?(?:\((\d+)\))?", type_text)
        if not m:
            raise SchemaError(f"{where}: '{type_text}' is not a type")
        self.tag, self.name, self.help, self.attrs = int(tag), name, help_text, attrs
        self.base = m[1]
        self.optional = m[2] == "?"
        self.repeated = m[2] == "[]"
        self.limit = int(m[3]) if m[3] else None
        self.where = where


class Record:
    def __init__(self, name, help_text, where):
        self.name, self.help, self.where, self.fields = name, help_text, where, []

    def add(self, field):
        for other in self.fields:
            if other.tag == field.tag:
                raise SchemaError(f"{field.where}: tag {field.tag} is already '{other.name}'")
            if other.name == field.name:
                raise SchemaError(f"{field.where}: '{field.name}' is declared twice")
        self.fields.append(field)


class Enum:
    def __init__(self, name, help_text):
        self.name, self.values = name, []
        m = re.match(r"prefix=(\w+)\s+", help_text)
        self.prefix = m[1] if m else symbol(name)
        self.help = help_text[m.end():] if m else help_text


class Table:
    def __init__(self, name, columns):
        self.name, self.columns, self.rows = name, columns, []


class Schema:
    """One parsed .def file together with what it uses."""

    def __init__(self, path):
        self.path = Path(path)
        self.stem = self.path.stem
        self.uses, self.enums, self.records, self.events = [], [], [], []
        self.messages, self.tables = [], []
        self.parse()

    def parse(self):
        block = None
        for number, raw in enumerate(self.path.read_text().splitlines(), 1):
            where = f"{self.path.name}:{number}"
            line = raw.rstrip()
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            if line[0].isspace():
                if block is None:
                    raise SchemaError(f"{where}: a row without a block above it")
                self.row(block, line.strip(), where)
            else:
                block = self.head(line, where)

    def head(self, line, where):
        words = line.split(None, 2)
        kind = words[0]
        rest = words[2] if len(words) > 2 else ""
        if kind == "use":
            self.uses.append(Schema(self.path.with_name(words[1] + ".def")))
            return None
        if kind == "enum":
            self.enums.append(Enum(words[1], rest))
            return self.enums[-1]
        if kind == "record":
            self.records.append(Record(words[1], rest, where))
            return self.records[-1]
        if kind == "event":
            name, _, help_text = rest.partition(" ")
            if any(number == int(words[1]) for number, _ in self.events):
                raise SchemaError(f"{where}: event number {words[1]} is taken")
            record = Record(name, help_text.strip(), where)
            self.records.append(record)
            self.events.append((int(words[1]), record))
            return record
        if kind == "message":
            parts = line.split(None, 6)
            if len(parts) < 7:
                raise SchemaError(f"{where}: message needs number, name, request, reply, access, help")
            if any(m[0] == int(parts[1]) for m in self.messages):
                raise SchemaError(f"{where}: message number {parts[1]} is taken")
            self.messages.append((int(parts[1]), *parts[2:]))
            return None
        if kind == "table":
            self.tables.append(Table(words[1], [c.partition(":")[::2] for c in rest.split()]))
            return self.tables[-1]
        raise SchemaError(f"{where}: '{kind}' opens no block (enum, record, event, message, table)")

    def row(self, block, line, where):
        if isinstance(block, Enum):
            parts = [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', line)]
            if not 3 <= len(parts) <= 4:
                raise SchemaError(f"{where}: an enum row is number, symbol, text [short]")
            if any(v[0] == int(parts[0]) for v in block.values):
                raise SchemaError(f"{where}: number {parts[0]} is taken")
            block.values.append((int(parts[0]), parts[1], parts[2], parts[-1]))
        elif isinstance(block, Record):
            m = re.fullmatch(r"(\d+)\s+(\w+)\s+(\S+)(?:\s+\[([^\]]*)\])?\s*(.*)", line)
            if not m:
                raise SchemaError(f"{where}: a field row is tag, name, type, [attributes], help")
            attrs = {}
            for word in re.findall(r'(\w+)=("[^"]*"|\S+)|(\w+)', m[4] or ""):
                attrs[word[0] or word[2]] = word[1].strip('"') if word[0] else "yes"
            block.add(Field(where, m[1], m[2], m[3], attrs, m[5]))
        else:
            cells = re.findall(r'"([^"]*)"|(\S+)', line)
            need = len(block.columns)
            if len(cells) < need:
                raise SchemaError(f"{where}: table {block.name} has {need} columns, this row {len(cells)}")
            m = re.fullmatch(r'((?:(?:"[^"]*"|\S+)\s+){%d})(.*)' % (need - 1), line)
            head = [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', m[1])]
            last = m[2].strip()
            if last.startswith('"') and last.endswith('"') and len(last) > 1:
                last = last[1:-1]
            block.rows.append([None if c == "-" else c for c in head + [last]])

    def find(self, what, name):
        for schema in [self] + self.uses:
            for item in getattr(schema, what):
                if item.name == name:
                    return item
            if schema is not self:
                found = schema.find(what, name)
                if found:
                    return found
        return None


def c_string(text):
    if text is None:
        return "NULL"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def symbol(text):
    return re.sub(r"[^A-Z0-9]", "_", text.upper())


class CWriter:
    def __init__(self, schema):
        self.schema = schema
        self.h, self.c = [], []

    def kind_of(self, f):
        """(C member type, FIELD_ kind, descriptor of a nested record or enum)."""
        if f.base in SCALARS:
            return SCALARS[f.base][0], SCALARS[f.base][1], None
        if self.schema.find("enums", f.base):
            return f"enum {f.base}", "ENUM", f"{f.base}_enum"
        if self.schema.find("records", f.base):
            return f"struct {f.base}", "RECORD", f"{f.base}_record"
        raise SchemaError(f"{f.where}: no type, enum or record named '{f.base}'")

    def enum(self, e):
        self.h.append(f"/* {e.help} */\nenum {e.name} {{")
        for number, sym, _, _ in e.values:
            self.h.append(f"\t{e.prefix}_{symbol(sym)} = {number},")
        self.h.append(f"\t{symbol(e.name)}_COUNT = {max(v[0] for v in e.values) + 1},\n}};")
        self.h.append(f"extern const struct enum_desc {e.name}_enum;\n")
        self.c.append(f"static const struct enum_value {e.name}_values[] = {{")
        for number, sym, text, short in e.values:
            self.c.append(f"\t{{ {number}, {c_string(text)}, {c_string(short)} }},")
        self.c.append("};")
        self.c.append(f'const struct enum_desc {e.name}_enum = {{ "{e.name}", {e.name}_values, {len(e.values)} }};\n')

    def member(self, f):
        ctype, kind, _ = self.kind_of(f)
        ctype = ctype if ctype.endswith(("*", " ")) else ctype + " "
        if f.repeated:
            star = "*" if ctype.endswith("*") else "*"
            return f"\t{ctype}{star}{f.name};\n\tuint32_t n_{f.name};"
        has = f"\tbool has_{f.name};\n" if f.optional else ""
        return f"{has}\t{ctype}{f.name};"

    def struct(self, r):
        self.h.append(f"/* {r.help} */\nstruct {r.name} {{")
        for f in r.fields:
            note = f" /* {f.help} */" if f.help else ""
            self.h.append(self.member(f) + note)
        if not r.fields:
            self.h.append("\tchar nothing;")
        self.h.append(f"}};\nextern const struct record {r.name}_record;\n")

    def descriptor(self, r):
        rows = []
        for position, f in sorted(enumerate(r.fields), key=lambda p: p[1].tag):
            _, kind, sub = self.kind_of(f)
            limit = f.limit
            if limit is None:
                limit = DEFAULT_MAX["REPEATED"] if f.repeated else DEFAULT_MAX.get(kind, 0)
            flags = [n for n, on in (("FIELD_OPTIONAL", f.optional), ("FIELD_REPEATED", f.repeated)) if on]
            extra = {k: v for k, v in f.attrs.items()}
            row = [
                f".tag = {f.tag}", f".kind = FIELD_{kind}", f".flags = {' | '.join(flags) or 0}",
                f".row = {position}", f".name = \"{f.name}\"",
                f".offset = offsetof(struct {r.name}, {f.name})", f".limit = {limit}",
            ]
            if f.optional:
                row.append(f".has_offset = offsetof(struct {r.name}, has_{f.name})")
            if f.repeated:
                row.append(f".count_offset = offsetof(struct {r.name}, n_{f.name})")
            if kind == "RECORD":
                row.append(f".sub = &{sub}")
            if kind == "ENUM":
                row.append(f".values = &{sub}")
            for key, member in (("key", "key"), ("default", "def"), ("unit", "unit"), ("parse", "parse"),
                                ("absent", "absent")):
                if key in extra:
                    row.append(f".{member} = {c_string(extra.pop(key))}")
            for key in NUMERIC_ATTRS:
                if key in extra:
                    row.append(f".{key} = {int(extra.pop(key))}")
            if extra:
                row.append(".attrs = " + c_string(" ".join(f"{k}={v}" for k, v in extra.items())))
            if f.help:
                row.append(f".help = {c_string(f.help)}")
            rows.append("\t{ " + ", ".join(row) + " },")
        fields = f"{r.name}_fields" if rows else "NULL"
        if rows:
            self.c.append(f"static const struct field {r.name}_fields[] = {{")
            self.c += rows
            self.c.append("};")
        self.c.append(f'const struct record {r.name}_record = {{ "{r.name}", sizeof(struct {r.name}), '
                      f"{fields}, {len(rows)} }};\n")

    def events(self):
        events = sorted(self.schema.events, key=lambda e: e[0])
        self.h.append("enum event_kind {")
        for number, r in events:
            self.h.append(f"\tEVENT_{symbol(r.name)} = {number},")
        self.h.append(f"\tEVENT_KIND_COUNT = {events[-1][0] + 1},\n}};\n")
        self.h.append("/* Something that happened; the journal is a list of these. */")
        self.h.append("struct event {\n\tenum event_kind kind;\n\tunion {")
        for _, r in events:
            self.h.append(f"\t\tstruct {r.name} {r.name};")
        self.h.append("\t};\n};\n/* The record of an event kind, or NULL for an unknown number. */")
        self.h.append("extern const struct record *const event_records[EVENT_KIND_COUNT];\n")
        self.c.append("const struct record *const event_records[EVENT_KIND_COUNT] = {")
        for number, r in events:
            self.c.append(f"\t[EVENT_{symbol(r.name)}] = &{r.name}_record,")
        self.c.append("};\n")

    def messages(self):
        messages = sorted(self.schema.messages)
        self.h.append("enum message_kind {")
        for m in messages:
            self.h.append(f"\tMSG_{symbol(m[1])} = {m[0]}, /* {m[5]} */")
        self.h.append(f"\tMSG_COUNT = {messages[-1][0] + 1},\n}};\n")
        access = sorted({m[4] for m in messages})
        self.h.append("enum message_access {\n" + "".join(f"\tACCESS_{symbol(a)},\n" for a in access) + "};\n")
        self.h.append("extern const struct message_desc message_descs[MSG_COUNT]; /* name NULL: unknown */\n")
        self.c.append("const struct message_desc message_descs[MSG_COUNT] = {")
        for number, name, request, reply, acc, help_text in messages:
            def rec(n):
                if n == "-":
                    return "NULL"
                if not self.schema.find("records", n):
                    raise SchemaError(f"message {name}: no record named '{n}'")
                return f"&{n}_record"
            self.c.append(f'\t[MSG_{symbol(name)}] = {{ "{name}", {rec(request)}, {rec(reply)}, '
                          f"ACCESS_{symbol(acc)}, {c_string(help_text)} }},")
        self.c.append("};\n")

    def table(self, t):
        single = t.name[:-1] if t.name.endswith("s") else t.name
        members = []
        for i, (col, kind) in enumerate(t.columns):
            if kind == "kind":
                values = []
                for row in t.rows:
                    if row[i] is not None and row[i] not in values:
                        values.append(row[i])
                name = f"{single}_{col}"
                self.h.append(f"enum {name} {{\n\t{symbol(name)}_NONE,")
                self.h += [f"\t{symbol(name)}_{symbol(v)}," for v in values]
                self.h.append("};\n")
                members.append(f"\tenum {name} {col};")
            elif kind == "set":
                values = []
                for row in t.rows:
                    for v in (row[i] or "").split(","):
                        if v and v not in values:
                            values.append(v)
                name = f"{single}_{col}"
                self.h.append(f"enum {name} {{")
                self.h += [f"\t{symbol(name)}_{symbol(v)} = 1u << {n}," for n, v in enumerate(values)]
                self.h.append("};\n")
                members.append(f"\tuint32_t {col}; /* {symbol(name)}_ bits */")
            elif kind == "u32":
                members.append(f"\tuint32_t {col};")
            elif kind == "i32":
                members.append(f"\tint {col};")
            else:
                members.append(f"\tconst char *{col};")
        self.h.append(f"struct {single}_row {{\n" + "\n".join(members) + "\n};")
        self.h.append(f"enum {{ {symbol(single)}_ROW_COUNT = {len(t.rows)} }};")
        self.h.append(f"extern const struct {single}_row {t.name}_table[{symbol(single)}_ROW_COUNT];\n")
        self.c.append(f"const struct {single}_row {t.name}_table[{symbol(single)}_ROW_COUNT] = {{")
        for row in t.rows:
            cells = []
            for (col, kind), cell in zip(t.columns, row):
                name = symbol(f"{single}_{col}")
                if kind == "kind":
                    cells.append(f"{name}_{symbol(cell)}" if cell is not None else f"{name}_NONE")
                elif kind == "set":
                    cells.append(" | ".join(f"{name}_{symbol(v)}" for v in (cell or "").split(",") if v) or "0")
                elif kind in ("u32", "i32"):
                    cells.append(cell or "0")
                else:
                    cells.append(c_string(cell))
            self.c.append("\t{ " + ", ".join(cells) + " },")
        self.c.append("};\n")

    def write(self, header, source):
        s = self.schema
        note = f"/* Generated from schema/{s.path.name} by tools/schemagen.py; edit the rows there. */"
        self.h += [note, "#pragma once", '#include "schema/record.h"', ""]
        self.h += [f'#include "schema/{u.stem}.h"' for u in s.uses]
        self.c += [note, f'#include "schema/{s.stem}.h"', "", "#include <stddef.h>", ""]
        for e in s.enums:
            self.enum(e)
        for r in s.records:
            self.struct(r)
        for r in s.records:
            self.descriptor(r)
        if s.events:
            self.events()
        if s.messages:
            self.messages()
        for t in s.tables:
            self.table(t)
        Path(header).write_text("\n".join(self.h) + "\n")
        Path(source).write_text("\n".join(self.c) + "\n")


def proto(out, paths):
    lines = ["// Generated by tools/schemagen.py: what travels and what is kept, for other languages.",
             'syntax = "proto3";', "package muster;", ""]
    for path in paths:
        s = Schema(path)
        for e in s.enums:
            values = e.values if e.values[0][0] == 0 else [(0, "unset", "", "")] + e.values
            lines.append(f"enum {e.name} {{")
            lines += [f"  {symbol(e.name)}_{symbol(v[1])} = {v[0]};" for v in values]
            lines.append("}")
        for r in s.records:
            lines.append(f"// {r.help}\nmessage {r.name} {{")
            for f in r.fields:
                kind = SCALARS[f.base][2] if f.base in SCALARS else f.base
                label = "repeated " if f.repeated else "optional " if f.optional and f.base in SCALARS else ""
                lines.append(f"  {label}{kind} {f.name} = {f.tag};")
            lines.append("}")
    Path(out).write_text("\n".join(lines) + "\n")


def main(argv):
    try:
        if len(argv) == 5 and argv[1] == "c":
            CWriter(Schema(argv[2])).write(argv[3], argv[4])
        elif len(argv) >= 4 and argv[1] == "proto":
            proto(argv[2], argv[3:])
        else:
            sys.exit(__doc__)
    except SchemaError as e:
        sys.exit(f"schemagen: {e}")


if __name__ == "__main__":
    main(sys.argv)

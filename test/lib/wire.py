# SPDX-License-Identifier: Apache-2.0
"""The wire protocol in Python, made from the rows of schema/: for benchmarks and tests that need what no command
does, such as a hundred thousand submissions over one connection or a message that no command would send."""
import socket
import struct
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))
import schemagen  # noqa: E402

SCHEMA = schemagen.Schema(ROOT / "schema/messages.def")
MESSAGES = {m[1]: m for m in SCHEMA.messages}
MAGIC = int.from_bytes(b"MSTR", "little")
REPLY, FAILURE, ONEWAY = 1, 2, 4
TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 & -(byte & 1))
    TABLE.append(byte)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_one(field, value):
    if field.base in ("str", "bytes"):
        data = value.encode() if isinstance(value, str) else value
        return varint(field.tag << 3 | 2) + varint(len(data)) + data
    record = SCHEMA.find("records", field.base)
    if record:
        data = encode(field.base, value)
        return varint(field.tag << 3 | 2) + varint(len(data)) + data
    return varint(field.tag << 3) + varint(int(value))


def encode(record_name, values):
    """A record from a dict of its members; numbers in lists are written one by one."""
    record = SCHEMA.find("records", record_name)
    out = b""
    for field in record.fields:
        if field.name in values:
            value = values[field.name]
            for item in value if field.repeated else [value]:
                out += encode_one(field, item)
    return out


def read_varint(data, pos):
    value = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, pos


def decode(data):
    """{tag: [numbers and byte strings]}"""
    pos, out = 0, {}
    while pos < len(data):
        key, pos = read_varint(data, pos)
        if key & 7 == 0:
            value, pos = read_varint(data, pos)
        elif key & 7 == 2:
            size, pos = read_varint(data, pos)
            value, pos = data[pos:pos + size], pos + size
        else:
            size = 8 if key & 7 == 1 else 4
            value, pos = data[pos:pos + size], pos + size
        out.setdefault(key >> 3, []).append(value)
    return out


def frame(message, values, request_id=1, flags=0):
    number, _, request, *_ = MESSAGES[message]
    body = encode(request, values)
    head = struct.pack("<IBBHQI", MAGIC, 1, flags, number, request_id, len(body))
    return head + struct.pack("<I", crc32c(head)) + body


class Connection:
    def __init__(self, sock, token=None, cluster="muster"):
        self.sock, self.file, self.next_id = sock, sock.makefile("rb"), 1
        if token is not None:  # on a local socket the kernel says who we are
            self.call("hello", {"version": 1, "program": "python", "token": token, "cluster": cluster})

    @classmethod
    def open(cls, port, auth_socket, cluster="muster"):
        token = cls.token(auth_socket, cluster)
        return cls(socket.create_connection(("127.0.0.1", port)), token, cluster)

    @classmethod
    def token(cls, auth_socket, cluster="muster"):
        """A credential; a daemon that ends or reads its configuration again leaves the socket to the next: ask that."""
        end = time.monotonic() + 10
        while True:
            with socket.socket(socket.AF_UNIX) as local:
                local.connect(str(auth_socket))
                try:
                    return cls(local).call("token", {"cluster": cluster})[1][0]
                except ConnectionError:
                    if time.monotonic() > end:
                        raise

    def send(self, message, values):
        self.sock.sendall(frame(message, values, self.next_id))
        self.next_id += 1

    def receive(self):
        head = self.file.read(24)
        if len(head) < 24:
            raise ConnectionError("the other side closed the connection")
        _, _, flags, _, _, length, _ = struct.unpack("<IBBHQII", head)
        body = decode(self.file.read(length))
        if flags & FAILURE:
            raise RuntimeError(body.get(2, [b"refused"])[0].decode())
        return body

    def call(self, message, values):
        self.send(message, values)
        return self.receive()

# SPDX-License-Identifier: Apache-2.0
"""Bytes from strangers: refused and logged, and the daemon lives."""
import os
import random
import socket
import struct

import pytest

from conftest import until
import wire

SHAPE = ["--nodes", "1", "--gpus", "0"]
HELLO = 1


def header(kind, length, magic=wire.MAGIC, version=1, flags=0):
    head = struct.pack("<IBBHQI", magic, version, flags, kind, 1, length)
    return head + struct.pack("<I", wire.crc32c(head))


def hello(token, cluster="muster"):
    return wire.frame("hello", {"version": 1, "program": "test", "token": token, "cluster": cluster})


def noise(n):
    return random.Random(n).randbytes(n)


ATTACKS = {
    "noise": noise(4000),
    "noise-with-magic": b"MSTR" + noise(4000),
    "http": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "wrong-version": header(HELLO, 0, version=99),
    "wrong-checksum": header(HELLO, 0)[:-1] + b"\0",
    "oversized": header(HELLO, 0xFFFFFFFF),
    "unknown-message": header(9999, 0),
    "no-hello": header(11, 0),
    "empty-hello": header(HELLO, 0),
    "hello-of-noise": header(HELLO, 500) + noise(500),
    "no-token": hello(b""),
    "short-token": hello(b"x"),
    "forged-token": hello(noise(96)),
    "long-token": hello(noise(60000)),
    "reply-nobody-asked-for": header(HELLO, 0, flags=1),
}


def attack(where, data, family):
    """Sends and reads to the end: whatever comes back, it must be a refusal and the connection's end."""
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(30)
        s.connect(where)
        try:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            answer = b""
            while chunk := s.recv(65536):
                answer += chunk
            return answer
        except ConnectionError:
            return b""


@pytest.mark.parametrize("name", ATTACKS)
def test_controller_port(cluster, name):
    pid, before = cluster.pid(), len(cluster.log())
    answer = attack(("127.0.0.1", cluster.port), ATTACKS[name], socket.AF_INET)
    if answer:
        assert answer[:4] == b"MSTR" and answer[5] & 2, "only a refusal may come back"
    until(lambda: len(cluster.log()) > before, what="a line in the controller's log")
    assert cluster.pid() == pid and "UP" in cluster.ok("scontrol", "ping")


@pytest.mark.parametrize("name", [n for n in ATTACKS if n not in ("no-token", "short-token", "forged-token", "long-token")])
def test_auth_socket(cluster, name):
    attack(str(cluster.dir / "run/auth.sock"), ATTACKS[name], socket.AF_UNIX)
    assert "UP" in cluster.ok("scontrol", "ping")
    assert cluster.alive() and cluster.alive("slurmd-node1")


def test_half_a_message_does_not_hold_others_up(cluster):
    silent = [socket.create_connection(("127.0.0.1", cluster.port)) for _ in range(50)]
    for i, s in enumerate(silent):
        s.sendall(hello(noise(96))[:i])
    assert "UP" in cluster.ok("scontrol", "ping")
    for s in silent:
        s.close()


def test_many_connections(cluster):
    for i in range(300):
        attack(("127.0.0.1", cluster.port), noise(i), socket.AF_INET)
    fds = len(os.listdir(f"/proc/{cluster.pid()}/fd"))
    until(lambda: len(os.listdir(f"/proc/{cluster.pid()}/fd")) <= max(fds, 40), what="descriptors to be given back")
    assert cluster.sbatch("--wait", "-o", "/dev/null", "--wrap", "true")


def connection(cluster):
    return wire.Connection.open(cluster.port, cluster.dir / "run/auth.sock")


def test_a_credential_is_good_once(cluster):
    token = wire.Connection.token(cluster.dir / "run/auth.sock")
    wire.Connection(socket.create_connection(("127.0.0.1", cluster.port)), token).call("ping", {})
    with pytest.raises((RuntimeError, ConnectionError)):
        wire.Connection(socket.create_connection(("127.0.0.1", cluster.port)), token)
    changed = bytes(token[:-1]) + bytes([token[-1] ^ 1])
    with pytest.raises((RuntimeError, ConnectionError)):
        wire.Connection(socket.create_connection(("127.0.0.1", cluster.port)), changed)


# shutdown does what it says even when it is empty, and job_wait waits.
@pytest.mark.parametrize("message", sorted(set(wire.MESSAGES) - {"shutdown", "job_wait"}))
def test_every_message_with_nothing_in_it(cluster, message):
    """Authenticated, but empty, and much of it not meant for the controller at all."""
    try:
        connection(cluster).call(message, {})
    except (RuntimeError, ConnectionError):
        pass
    assert "UP" in cluster.ok("scontrol", "ping")


def test_every_message_with_noise_in_it(cluster):
    for number in range(120):
        link = connection(cluster)
        body = noise(number * 7)
        head = struct.pack("<IBBHQI", wire.MAGIC, 1, 0, number, 7, len(body))
        try:
            link.sock.sendall(head + struct.pack("<I", wire.crc32c(head)) + body)
            link.sock.shutdown(socket.SHUT_WR)
            while link.sock.recv(65536):
                pass
        except ConnectionError:
            pass
    assert cluster.alive() and "UP" in cluster.ok("scontrol", "ping")


def test_the_same_submission_twice_is_one_job(cluster):
    request = {"spec": {"name": "twice", "hold": True, "batch": True, "work_dir": "/tmp", "std_out": "/dev/null",
                        "command": "x.sh", "request": {"nodes_min": 1}},
               "script": b"#!/bin/true\n", "token": 123456789}
    first = connection(cluster).call("submit", request)
    second = connection(cluster).call("submit", request)
    assert first[1] == second[1]
    cluster.cancel_all()

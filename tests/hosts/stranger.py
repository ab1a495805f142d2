#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One who does not belong to a job knocks at its doors.

   stranger.py user PID...
       as another user: fails if anything of these processes can be read, or a local socket of
       mpiexec answers
   stranger.py record FILE LOW HIGH
       until it is ended: write the address, the port and the greeting of each connection to a port
       in [LOW, HIGH] that passes any interface here
   stranger.py replay FILE LOW-HIGH         repeat recorded greetings, word for word
   stranger.py version FILE LOW-HIGH        greet as another version of the protocol
   stranger.py garbage FILE LOW-HIGH        say random bytes, in front of and within a greeting
   stranger.py flood FILE LOW-HIGH COUNT    hold so many silent connections to each door

The last four knock at mpiexec, which must listen, and at all other doors at these ports of the hosts.
They fail if one does not hang up within ten seconds on who has said something wrong, or says more
than its own half of a greeting.
"""
import os
import random
import resource
import socket
import struct
import sys
import time

FIRST, SECOND, PROOF = 68, 84, 32  # bytes of the messages of a greeting: src/net/greet.c
HEAD, PATIENCE = "10.77.0.1", 10


def can_read(path):
    try:
        with open(path, "rb") as handle:
            return len(handle.read(1)) > 0
    except OSError:
        return False


def user(*pids):
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    for pid in pids:
        for name in ("environ", "mem", "maps", "fd/0", "auxv"):
            if can_read(f"/proc/{pid}/{name}"):
                sys.exit(f"another user reads {name} of process {pid}")
        try:
            os.kill(int(pid), 0)
            sys.exit(f"another user may send signals to process {pid}")
        except PermissionError:
            pass
    doors = 0
    for line in open("/proc/net/unix"):
        name = line.split()[-1]
        if not name.startswith("@") or line.split()[3] != "00010000":  # not one that listens
            continue
        one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        one.settimeout(10)
        try:
            one.connect("\0" + name[1:])
            doors += 1
            one.sendall(os.urandom(200))
            if one.recv(1):
                sys.exit(f"the socket {name} answers another user")
        except ConnectionError:
            pass
    print(f"{len(pids)} processes and {doors} sockets tried")


# ---- Recording ----------------------------------------------------------------------------------

def tcp_of(frame):
    """(flow, sequence number, bytes) of a TCP packet over IPv4, or None."""
    if len(frame) < 54 or frame[12:14] != b"\x08\x00" or frame[23] != socket.IPPROTO_TCP:
        return None
    header = 14 + 4 * (frame[14] & 15)
    payload = header + 4 * (frame[header + 12] >> 4)
    end = 14 + struct.unpack("!H", frame[16:18])[0]
    ports = struct.unpack("!HH", frame[header:header + 4])
    flow = (frame[26:30], ports[0], frame[30:34], ports[1])
    return flow, struct.unpack("!I", frame[header + 4:header + 8])[0], frame[header + 13], frame[payload:end]


def record(name, low, high):
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
    begins, flows = {}, {}
    print("ready", flush=True)
    with open(name, "w", encoding="ascii") as out:
        while True:
            packet = tcp_of(wire.recv(65536))
            if packet is None or not int(low) <= packet[0][3] <= int(high):
                continue
            flow, at, flags, data = packet
            if flags & 2:  # SYN
                begins[flow], flows[flow] = (at + 1) % 2**32, {}
            if flow not in flows or not data:
                continue
            offset = (at - begins[flow]) % 2**32
            if offset < FIRST + PROOF:
                flows[flow][offset] = data
            said = b""
            while len(said) in flows[flow]:
                said += flows[flow][len(said)]
            if len(said) >= FIRST + PROOF:
                out.write(f"{socket.inet_ntoa(flow[2])} {flow[3]} {said[:FIRST + PROOF].hex()}\n")
                out.flush()
                del flows[flow]


# ---- Knocking -----------------------------------------------------------------------------------

def greetings(name, ports):
    """[(address, port, bytes)]: one that was recorded of each door, at other doors one of mpiexec."""
    with open(name, encoding="ascii") as lines:
        found = {(a, int(p)): bytes.fromhex(said) for a, p, said in map(str.split, lines)}
    of_head = [said for (address, _), said in found.items() if address == HEAD]
    if not of_head:
        sys.exit("no greeting of mpiexec was recorded")
    low, high = map(int, ports.split("-"))
    for address in ("10.77.0.11", "10.77.0.12", "10.77.0.13"):
        for port in range(low, high + 1):
            one = knock(address, port)
            if one is not None:
                one.close()
                found.setdefault((address, port), of_head[0])
    return [(a, p, said) for (a, p), said in found.items()]


def knock(address, port):
    """A connection; None: the door is shut, which that of mpiexec may not be."""
    one = socket.socket()
    one.settimeout(PATIENCE)
    try:
        one.connect((address, port))
    except ConnectionRefusedError:
        if address == HEAD:
            sys.exit("mpiexec listens no more")
        return None
    return one


def hears(one, most):
    """At most so many bytes, then the end, in time."""
    heard = b""
    try:
        while len(heard) <= most:
            got = one.recv(4096)
            if not got:
                return heard
            heard += got
    except ConnectionError:
        return heard
    except socket.timeout:
        sys.exit(f"the door {one.getpeername()} does not hang up")
    sys.exit(f"the door {one.getpeername()} says {len(heard)} bytes")


def say(one, data):
    try:
        one.sendall(data)
    except ConnectionError:
        pass


def answered(one, first):
    """The listener's half, after the first message; b"": it has hung up."""
    say(one, first)
    heard = b""
    try:
        while len(heard) < SECOND:
            got = one.recv(SECOND - len(heard))
            if not got:
                break
            heard += got
    except ConnectionError:
        pass
    return heard


def replay(name, ports):
    refused = 0
    for address, port, said in greetings(name, ports):
        one = knock(address, port)
        if one is None:
            continue
        if len(answered(one, said[:FIRST])) != SECOND and address == HEAD:
            sys.exit("mpiexec does not answer a greeting")
        say(one, said[FIRST:])
        hears(one, 0)
        refused += 1
    print(f"{refused} recorded greetings refused")


def version(name, ports):
    for address, port, said in greetings(name, ports):
        one = knock(address, port)
        if one is not None and answered(one, b"xylem-1\n" + said[8:FIRST]):
            sys.exit(f"{address}:{port} answers another version")


def garbage(name, ports):
    numbers = random.Random(os.environ.get("XYLEM_SEED", "xylem"))
    for address, port, said in greetings(name, ports):
        wrong_name = said[:12] + b"\xff\xff\xff\x7f" + said[16:FIRST]
        for data in (numbers.randbytes(1 << 20), numbers.randbytes(FIRST), b"GET / HTTP/1.0\r\n\r\n" * 9,
                     b"\0" * 4096, wrong_name, said[:FIRST] + numbers.randbytes(PROOF),
                     said[:FIRST] + numbers.randbytes(1 << 20)):
            one = knock(address, port)
            if one is not None:
                say(one, data)
                hears(one, SECOND)
        one = knock(address, port)  # half a message, and gone
        if one is not None:
            say(one, said[:FIRST // 2])
            one.close()


def flood(name, ports, count):
    """They stay until the job has ended, in a process of their own."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
    held = [knock(address, port) for address, port, _ in greetings(name, ports) for _ in range(int(count))]
    if os.fork() == 0:
        time.sleep(8)
        os._exit(0)
    print(f"{len(held)} connections held")


{"user": user, "record": record, "replay": replay, "version": version, "garbage": garbage,
 "flood": flood}[sys.argv[1]](*sys.argv[2:])

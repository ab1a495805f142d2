#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The line of a host of namespaces_lib.sh, through this program, which changes its packets.

   relay.py NAMESPACE ADDRESS BRIDGE WHAT

Takes the place of eth0 in the network namespace of process NAMESPACE: one TAP device there with its
hardware address and ADDRESS, and one in BRIDGE. Prints "ready", then carries frames until it is
ended. WHAT is one of

   delay     each frame waits for 20 ms
   reorder   every fifth frame waits for 5 ms, and others overtake it
   twice     every third frame comes twice
   flip      from a second on, one bit of each full TCP packet changes, and its checksum is right
"""
import ctypes
import fcntl
import heapq
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 2, 0x1000, 0x40000000
FRAME = 65536
libc = ctypes.CDLL(None, use_errno=True)


def enter(namespace):
    with open(namespace) as handle:
        if libc.setns(handle.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), namespace)


def tap(name):
    handle = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(handle, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    return handle


IP = shutil.which("ip") or sys.exit("relay.py needs ip of iproute2")


def ip(*words):
    return subprocess.run([IP, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def tcp_parts(frame):
    """The beginning of the TCP header, of its payload, and the end of that; None: it is no TCP."""
    if len(frame) < 54 or frame[12:14] != b"\x08\x00" or frame[23] != socket.IPPROTO_TCP:
        return None
    header = 14 + 4 * (frame[14] & 15)
    return header, header + 4 * (frame[header + 12] >> 4), 14 + struct.unpack("!H", frame[16:18])[0]


def flipped(frame):
    parts = tcp_parts(frame)
    if parts is None or parts[2] - parts[1] < 1000:
        return frame
    header, payload, end = parts
    frame = bytearray(frame)
    frame[(payload + end) // 2] ^= 4
    frame[header + 16:header + 18] = b"\0\0"
    pseudo = bytes(frame[26:34]) + struct.pack("!BBH", 0, socket.IPPROTO_TCP, end - header)
    frame[header + 16:header + 18] = struct.pack("!H", checksum(pseudo + bytes(frame[header:end])))
    return bytes(frame)


class Relay:
    def __init__(self, what):
        self.what = what
        self.count, self.begun, self.sequence = 0, time.monotonic(), 0
        self.waiting = []

    def put(self, delay, out, frame):
        self.sequence += 1
        heapq.heappush(self.waiting, (time.monotonic() + delay, self.sequence, out, frame))

    def take(self, frame, out):
        self.count += 1
        delay = 0
        if self.what == "delay":
            delay = 0.02
        elif self.what == "reorder" and self.count % 5 == 0:
            delay = 0.005
        elif self.what == "twice" and self.count % 3 == 0:
            self.put(0, out, frame)
        elif self.what == "flip" and time.monotonic() - self.begun > 1:
            frame = flipped(frame)
        self.put(delay, out, frame)

    def send(self):
        """Send what has waited long enough; how long the next one waits, or None."""
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            _, _, out, frame = heapq.heappop(self.waiting)
            try:
                os.write(out, frame)
            except OSError:
                pass  # the device is down: a lost packet
        return max(0, self.waiting[0][0] - time.monotonic()) if self.waiting else None


def main():
    pid, address, bridge, what = sys.argv[1:5]
    relay = Relay(what)
    near = tap("relay0")
    ip("link", "set", "relay0", "master", bridge, "up")
    enter(f"/proc/{pid}/ns/net")
    far = tap("relay1")
    line = ip("-o", "link", "show", "eth0")
    hardware = line.split("link/ether ")[1].split()[0]
    ip("link", "set", "eth0", "down")
    ip("addr", "del", address, "dev", "eth0")
    ip("link", "set", "relay1", "address", hardware)
    ip("addr", "add", address, "dev", "relay1")
    ip("link", "set", "relay1", "up")
    print("ready", flush=True)
    while True:
        for handle in select.select([near, far], [], [], relay.send())[0]:
            relay.take(os.read(handle, FRAME), far if handle == near else near)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A network of a few hosts with delays and bandwidths of one's own, where netem is not to be had.

    relay.py PREFIX MATRIX

MATRIX has a row for each host: MICROSECONDS[/BYTES_PER_SECOND] to each host. Network namespaces
PREFIX1, PREFIX2, ... must exist; each gets a TUN device with the address 10.77.0.N. Packets between
them pass through this process, which holds each for its delay, and for its length by the bandwidth
behind the packets of the same pair that are before it. Prints "ready" and runs until it is ended.
"""
import ctypes
import fcntl
import heapq
import os
import select
import struct
import subprocess
import sys
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
LIBC = ctypes.CDLL(None, use_errno=True)


def enter(path):
    fd = os.open(path, os.O_RDONLY)
    if LIBC.setns(fd, 0x40000000) != 0:
        sys.exit(f"relay: cannot enter {path}: {os.strerror(ctypes.get_errno())}")
    os.close(fd)


def make_device(namespace, number):
    enter(f"/var/run/netns/{namespace}")
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", b"xy0", IFF_TUN | IFF_NO_PI))
    for command in (f"ip addr add 10.77.0.{number}/24 dev xy0", "ip link set xy0 mtu 1500 up",
                    "ip link set lo up"):
        subprocess.run(command.split(), check=True)
    return fd


def read_matrix(path):
    rows = []
    for line in open(path, encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            row = []
            for word in line.split():
                delay, _, rate = word.partition("/")
                row.append((float(delay) * 1e-6, float(rate) if rate else float("inf")))
            rows.append(row)
    return rows


def relay(devices, matrix):
    index = {fd: i for i, fd in enumerate(devices)}
    queue, free, order = [], {}, 0
    while True:
        now = time.monotonic()
        while queue and queue[0][0] <= now:
            _, _, to, packet = heapq.heappop(queue)
            try:
                os.write(devices[to], packet)
            except OSError:
                pass  # a host that has gone loses its packets
        wait = max(0, queue[0][0] - time.monotonic()) if queue else None
        for fd in select.select(devices, [], [], wait)[0]:
            for _ in range(64):
                try:
                    packet = os.read(fd, 65536)
                except OSError:
                    break
                to = packet[19] - 1 if len(packet) >= 20 and packet[0] >> 4 == 4 else -1
                if not 0 <= to < len(devices):
                    continue
                source = index[fd]
                delay, rate = matrix[source][to]
                begin = max(time.monotonic(), free.get((source, to), 0))
                free[source, to] = begin + len(packet) / rate
                order += 1
                heapq.heappush(queue, (free[source, to] + delay, order, to, packet))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    matrix = read_matrix(sys.argv[2])
    devices = [make_device(f"{sys.argv[1]}{i + 1}", i + 1) for i in range(len(matrix))]
    try:
        # Before processes that poll, where that is allowed: they share the cores with us.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        pass
    print("ready", flush=True)
    relay(devices, matrix)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""capture.py FILE INTERFACE...

Write what goes over TCP on these interfaces to FILE, connection by connection and direction by direction, until
SIGTERM comes. FILE.up is there when it has begun; FILE.ports gets the addresses and ports that were connected to."""
import select
import signal
import socket
import struct
import sys

flows = {}
wanted = set()


def take(interface, packet):
    if packet[12:14] == b"\x08\x00":
        ip = packet[14:]
        if ip[9] != socket.IPPROTO_TCP:
            return
        end, ends, at = struct.unpack(">H", ip[2:4])[0], ip[12:20], (ip[0] & 15) * 4
    elif packet[12:14] == b"\x86\xdd":
        ip = packet[14:]
        if ip[6] != socket.IPPROTO_TCP:
            return
        end, ends, at = 40 + struct.unpack(">H", ip[4:6])[0], ip[8:40], 40
    else:
        return
    if ip[at + 13] & 18 == 2:  # who wants to connect
        ends_size = len(ends) // 2
        wanted.add((socket.inet_ntop(socket.AF_INET if ends_size == 4 else socket.AF_INET6, ends[ends_size:]),
                    struct.unpack(">H", ip[at + 2:at + 4])[0]))
    data = ip[at + (ip[at + 12] >> 4) * 4:end or None]  # a packet that the card would cut has no length
    if data:
        flows.setdefault((interface, ends, ip[at:at + 4]), {})[struct.unpack(">I", ip[at + 4:at + 8])[0]] = data


sockets = []
for name in sys.argv[2:]:
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.setsockopt(socket.SOL_SOCKET, 33, 256 << 20)  # SO_RCVBUFFORCE: above the limit of users
    sock.bind((name, 0))
    sockets.append(sock)
over = []
signal.signal(signal.SIGTERM, lambda *_: over.append(True))
open(sys.argv[1] + ".up", "w").close()
while True:
    ended = bool(over)
    ready = select.select(sockets, [], [], 0 if ended else 0.1)[0]
    if ended and not ready:  # all packets that came before the signal were read
        break
    for sock in ready:
        frame, where = sock.recvfrom(1 << 18)
        take(where[0], frame)
lost = sum(struct.unpack("II", sock.getsockopt(263, 6, 8))[1] for sock in sockets)  # SOL_PACKET, PACKET_STATISTICS
if lost:
    sys.exit("capture.py: %d packets did not fit into the buffer" % lost)
with open(sys.argv[1], "wb") as out:
    for flow in flows.values():
        for sequence in sorted(flow):
            out.write(flow[sequence])
with open(sys.argv[1] + ".ports", "w") as out:
    for address, port in sorted(wanted):
        print(address, port, file=out)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A launcher with PMI-1: pmi_server.py [OPTION...] N COMMAND...

It starts N processes, lends them a key-value space, and ends all of them when one fails, as
mpiexec.hydra does. Options make it fail:

  --version R=V   process R says that it has version V of Xylem
  --garbage       answers are not lines of the protocol
  --refuse        the launcher speaks another version of PMI
  --leave         the connections close in the first barrier
  --lose R        what process R puts is lost
  --keep          a process that fails does not end the others
  --log FILE      every value that is put
"""
import argparse
import os
import re
import select
import signal
import socket
import subprocess
import sys


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", default="")
    parser.add_argument("--garbage", action="store_true")
    parser.add_argument("--refuse", action="store_true")
    parser.add_argument("--leave", action="store_true")
    parser.add_argument("--lose", type=int, default=-1)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--log")
    parser.add_argument("size", type=int)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


class Launcher:
    def __init__(self, options):
        self.options, self.values, self.waiting, self.code = options, {}, [], 0
        self.links, self.processes = {}, []
        self.log = open(options.log, "w") if options.log else None
        for rank in range(options.size):
            own, theirs = socket.socketpair()
            environment = dict(os.environ, PMI_FD=str(theirs.fileno()), PMI_RANK=str(rank),
                               PMI_SIZE=str(options.size))
            self.processes.append(subprocess.Popen(options.command, env=environment,
                                                   pass_fds=[theirs.fileno()]))
            theirs.close()
            self.links[own] = rank

    def put(self, rank, fields):
        key, value = fields["key"], fields["value"]
        changed, _, version = self.options.version.partition("=")
        if self.log:
            print(key, value, file=self.log, flush=True)
        if version and rank == int(changed) and key.startswith("xylem-1-"):
            value = re.sub("^e[^%]*", "e" + version, value)
        if rank != self.options.lose:
            self.values[key] = value
        return "cmd=put_result rc=0"

    def answer(self, rank, link, line):
        fields = dict(word.split("=", 1) for word in line.split())
        kind = fields["cmd"]
        if self.options.garbage:
            return "what? " * 500
        if kind == "init":
            return f"cmd=response_to_init pmi_version={2 if self.options.refuse else 1} rc=0"
        if kind == "get_my_kvsname":
            return "cmd=my_kvsname kvsname=space"
        if kind == "put":
            return self.put(rank, fields)
        if kind == "get":
            value = self.values.get(fields["key"])
            return f"cmd=get_result rc=0 value={value}" if value else "cmd=get_result rc=-1"
        if kind == "finalize":
            return "cmd=finalize_ack"
        if kind == "abort":
            self.end(int(fields["exitcode"]))
        if kind == "barrier_in":
            self.waiting.append(link)
            if self.options.leave:
                self.close_all()
            elif len(self.waiting) == self.options.size:
                for one in self.waiting:
                    one.sendall(b"cmd=barrier_out\n")
                self.waiting = []
        return None

    def close_all(self):
        for link in self.links:
            link.close()
        self.links = {}

    def end(self, code):
        self.code = self.code or code
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)

    def serve(self):
        while any(process.poll() is None for process in self.processes):
            for link in select.select(list(self.links), [], [], 0.05)[0]:
                if link not in self.links:
                    continue
                try:
                    data = link.recv(4096, socket.MSG_PEEK)
                    data = link.recv(data.find(b"\n") + 1) if b"\n" in data else data[:0]
                except OSError:
                    data = b""
                if not data:
                    del self.links[link]
                    continue
                reply = self.answer(self.links[link], link, data.decode())
                if reply:
                    link.sendall(reply.encode() + b"\n")
            self.look()
        self.look()
        return self.code

    def look(self):
        for process in self.processes:
            code = process.poll()
            if code and not self.code:
                self.code = code if code > 0 else 128 - code
                if not self.options.keep:
                    self.end(self.code)


if __name__ == "__main__":
    sys.exit(Launcher(parse()).serve())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is said about mistakes of ranks in different processes (across.c).

  across.py MPIEXEC PROGRAM
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import testing # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "across.c")
SECONDS = testing.seconds(100) # where failure is a hang


def line(comment):
    """The place of the call with this comment."""
    with open(SOURCE, encoding="utf-8") as source:
        for number, text in enumerate(source, 1):
            if "/* %s */" % comment in text:
                return r"at across\.c:%d" % number
    sys.exit("across.c has no comment " + comment)


# ranks, processes, what: exit code, and what is printed (each a pattern)
CASES = [
    (2, 2, "truncate", 15, [r"the message from rank 0 with tag 0 has 16 bytes; the receive has room for 8",
                            "sent " + line("long"), line("short")]),
    (4, 2, "truncate-large", 15, [r"has 400000 bytes; the receive has room for 200000", "sent " + line("long large"),
                                  line("short large")]),
    (3, 3, "types", 0, [r"warning: rank 2: MPI_Recv " + line("doubles") + r" receives MPI_DOUBLE; rank 0 sent MPI_INT "
                        "with tag 0 " + line("ints")]),
    (2, 2, "ready", 1, [r"rank 1 has no receive for a ready send with tag 3, " + line("unready")]),
    (5, 3, "ring", 1, [r"deadlock: no rank can make progress"] +
     [r"rank %d on \S+: in MPI_Recv from rank %d, tag 0 on MPI_COMM_WORLD, " % (r, (r + 1) % 5) + line("nothing")
      for r in range(5)] +
     [r"cause: rank 0 waits for a message with tag 0 from rank 1, rank 1 waits .* and so on, 5 ranks in all\n"]),
    (4, 2, "absent", 1, [r"cause: rank 0 waits in MPI_Barrier on MPI_COMM_WORLD for rank 3, "
                         r"rank 3 waits for a message with tag 5 from rank 0\n"]),
    (2, 2, "root", 1, [r"ranks disagree about collective 1 of MPI_COMM_WORLD: ",
                       r"rank 0 on \S+ calls MPI_Bcast with root 0 " + line("bcast"),
                       r"rank 1 on \S+ calls MPI_Bcast with root 1 " + line("bcast")]),
    (2, 2, "size", 1, [r"ranks disagree", r"rank 0 on \S+ calls MPI_Allreduce with 4 bytes " + line("allreduce"),
                       r"rank 1 on \S+ calls MPI_Allreduce with 8 bytes"]),
    (4, 4, "kind", 1, [r"ranks disagree", r"rank \d on \S+ calls MPI_Bcast with root 0 " + line("other"),
                       r"rank 3 on \S+ calls MPI_Comm_dup or one of its kind " + line("dup")]),
    (4, 2, "grid", 1, [r"ranks disagree about a collective call on MPI_COMM_WORLD: "
                       r"rank 0 on \S+ calls MPI_Cart_create with reorder = 0, dims 4 1, periods 0 0 " + line("grid") +
                       r", rank 3 on \S+ calls MPI_Cart_create with reorder = 0, dims 4 1, periods 0 1 " + line("grid")]),
    (2, 2, "remain", 1, [r"rank 0 on \S+ calls MPI_Cart_sub, remain_dims 0 1 " + line("remain") +
                         r", rank 1 on \S+ calls MPI_Cart_sub, remain_dims 1 1"]),
    (3, 3, "graph", 1, [r"rank 0 on \S+ calls MPI_Graph_create with reorder = 1, index 1 2 3, edges 1 2 0 " +
                        line("graph") + r", rank 2 on \S+ calls .*, edges 1 0 0 "]),
    (4, 2, "dist", 1, [r"rank 0 on \S+ calls MPI_Dist_graph_create with reorder = 0", r"rank 3 on \S+ calls "
                       "MPI_Dist_graph_create with reorder = 1"]),
    (4, 2, "late", 0, []),
    (4, 2, "abort", 17, [r"MPI_ABORT was invoked on rank 3"]),
    (4, 2, "code", 5, [r"rank 3 ended with exit code 5"]),
    (4, 2, "window", 49, [r"MPI_COMM_WORLD has ranks in several processes, which have no memory in common; use "
                          "MPI_Win_allocate, or .*MPI_ERR_RMA_SHARED"]),
    (3, 3, "kinds", 57, [r"rank \d makes a window of another kind; all members must .*MPI_ERR_RMA_FLAVOR"]),
    (3, 3, "range", 48, [r"rank 0: MPI_Put: 4 x MPI_INT at displacement 13 \(in units of 4 bytes\) is not inside the 64 "
                         r"bytes of rank 2 \(MPI_ERR_RMA_RANGE; " + line("too far")]),
    (4, 2, "fence", 1, [r"ranks disagree about collective \d of table: ", r"rank \d on \S+ calls MPI_Win_free " +
                        line("free"), r"rank \d on \S+ calls MPI_Win_fence " + line("fence")]),
    (4, 3, "lock", 1, [r"ranks? \S*1\S* on \S+: in MPI_Win_lock on table, " + line("lock") +
                       ", for rank 3, which rank 0 has locked exclusively",
                       r"cause: rank 0 waits for a message with tag 5 from rank 1, rank 1 waits in MPI_Win_lock on table "
                       "for rank 3, which rank 0 has locked\n"]),
    (4, 2, "lock-all", 1, [r"ranks? \S*1\S* on \S+: in MPI_Win_lock_all on table, " + line("lock all") +
                           ", for rank 3, which rank 0 has locked exclusively"]),
]


def main():
    mpiexec, program = sys.argv[1:3]
    failed = 0
    for ranks, processes, what, code, patterns in CASES:
        command = [mpiexec, "-n", str(ranks), "--processes", str(processes), program, what]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS,
                              check=False, stdin=subprocess.DEVNULL)
        missing = [p for p in patterns if not re.search(p, done.stdout)]
        if done.returncode != code or missing or (not patterns and done.stdout):
            print("%s: exit code %d, not %d; not said: %s\n%s" % (" ".join(command[1:]), done.returncode, code, missing,
                                                                 done.stdout))
            failed += 1
    return failed != 0


sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2016,SC2086 # options are several words
# Programs that were compiled for another MPI, on two hosts that have nothing in common but a network: as they are,
# behind a script, and in Python.
. "$XYLEM_SOURCE_DIR/tests/launch/namespaces_lib.sh"
headers=$XYLEM_BUILD_DIR/tests/abi
[ -f "$headers/openmpi/mpi.h" ] || skip "no translations in this build"
host alpha 1gbit
host beta 1gbit
on="-n 4 --hosts alpha:2,beta:2 --launcher ./agent"
four=$'sum 6\nsum 6\nsum 6\nsum 6'
printf '#!/bin/sh\nexec "$@"\n' >wrapper
chmod +x wrapper

for abi in openmpi/libmpi.so.40 mpich/libmpich.so.12; do
    cc -g -I"$headers/${abi%/*}" "$XYLEM_SOURCE_DIR/tests/abi/modes.c" "$XYLEM_BUILD_DIR/lib/xylem/$abi" \
        -Wl,--allow-shlib-undefined -o modes
    for how in "" ./wrapper; do
        run 0 $on $how ./modes </dev/null
        same "$out" "$four"
        quiet
        run 1 $on $how ./modes wait </dev/null
        says "$err" "deadlock: no rank can make progress"
        says "$err" "on beta: in MPI_Recv from rank"
        says "$err" "at modes.c:42"
    done
done

python=/usr/bin/python3
if [ -x $python ] && $python -c 'import mpi4py' 2>/dev/null; then
    cat >job.py <<'END'
import array, os
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
names = comm.allgather((rank, os.uname().nodename))
assert names == [(i, "alpha" if i < 2 else "beta") for i in range(size)], names
assert comm.sendrecv({"from": rank}, (rank + 1) % size, source=(rank - 1) % size) == {"from": (rank - 1) % size}
mine, total = array.array("d", [rank] * 100000), array.array("d", [0] * 100000)
comm.Allreduce(mine, total, MPI.SUM)
assert total[99999] == 6
print("sum", comm.allreduce(rank))
END
    run 0 $on $python job.py </dev/null
    same "$out" "$four"

    # Workers that a thread of Python spawns on both hosts; a second pool; an error of a task.
    cat >pool.py <<'END'
import os
from mpi4py import MPI
from mpi4py.futures import MPIPoolExecutor

def work(number):
    if number < 0:
        raise ValueError("a task fails")
    return number * number, os.uname().nodename

if __name__ == "__main__" and MPI.COMM_WORLD.rank == 0:
    for workers in (4, 2):
        with MPIPoolExecutor(max_workers=workers) as pool:
            results = list(pool.map(work, range(200)))
            assert [square for square, _ in results] == [i * i for i in range(200)]
            try:
                pool.submit(work, -1).result()
                print("no error")
            except ValueError:
                pass
        print("workers on", *sorted({host for _, host in results}))
END
    run 0 -n 2 --hosts alpha:1,beta:1 --launcher ./agent $python pool.py </dev/null
    same "$out" $'workers on alpha beta\nworkers on alpha beta'
    quiet
fi

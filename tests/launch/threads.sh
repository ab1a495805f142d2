# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Threads of ranks.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build threads -fopenmp
run 0 -n 5 -x OMP_NUM_THREADS=3 ./threads
quiet
same "$out" "$(for r in 0 1 2 3 4; do echo "$r: 3 threads, 0 wrong, $r"; done)"
run 0 -n 3 --threads-per-rank 2 ./threads
same "$out" "$(for r in 0 1 2; do echo "$r: 2 threads, 0 wrong, $r"; done)"

# What only the rank may do: the message names rank and call.
build threads_calls -pthread
run 1 -n 3 ./threads_calls rank
says "$err" "rank 1: MPI_Comm_rank was called from a thread that is not a rank"
run 13 -n 3 ./threads_calls type
says "$err" "rank 1: MPI_Type_commit in a thread: the argument datatype is NULL"
run 9 -n 3 ./threads_calls abort
says "$err" "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD with errorcode 9"

# Those that may call MPI: of all kinds, with cores of their own and on one.
build thread_kinds -fopenmp -pthread
for options in "-n 1" "-n 2" "-n 4 --workers 1"; do
    # shellcheck disable=SC2086
    run 0 $options ./thread_kinds
    same "$out" passed
    quiet
done
# A function that uses thread-local variables before and after the rank has got a thread of its own.
for how in -O0 -O2 "-O2 -fPIC"; do
    # shellcheck disable=SC2086
    build thread_locals $how
    run 0 -n 4 --workers 2 ./thread_locals
    quiet
    same "$out" $'0: 0\n1: 0\n2: 0\n3: 0'
done
run 1 -n 2 --virtual "node:1 core:4" ./threads_calls rank
says "$err" "rank 1: MPI_Comm_rank was called from a thread that is not a rank"

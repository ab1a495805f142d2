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

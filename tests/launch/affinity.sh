# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A rank's affinity is the rank's: programs that bind all ranks to one core leave workers on theirs.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build affinity -pthread
first=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
cores=$(nproc)
methods="sched pid tid pthread syscall"
if pkg-config --exists hwloc 2>/dev/null; then
    # shellcheck disable=SC2046 # several words
    "$bin/mpicc" -O1 -std=gnu11 -DWITH_HWLOC "$sources/affinity.c" -o affinity_hwloc -pthread \
        $(pkg-config --cflags --libs hwloc)
    methods="$methods hwloc"
fi
for how in $methods; do
    program=./affinity
    [ "$how" != hwloc ] || program=./affinity_hwloc
    run 0 -n 4 --workers 2 "$program" "$how" "$first"
    same "$out" "$(for r in 0 1 2 3; do
        echo "rank $r is bound 1 1 1, its thread 1, its worker stays 1"
    done)"
    [ "$cores" -lt 2 ] || [ "$(sort -u <<<"$err" | wc -l)" = 2 ] || die "workers are on one core: $err"
done

if [ "$cores" -gt 1 ]; then
    run 0 -n 4 --workers 2 ./affinity threads
    same "$out" "$(for r in 0 1 2 3; do
        echo "rank $r is bound to one core: 0, and says so: 0"
    done)"
fi

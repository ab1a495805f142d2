# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# MPI and OpenMP, where every thread communicates: the same answer with ranks on cores of their own
# and on one, with all ways of progress, and (XYLEM_SOAK: their threads spin, which takes a minute on
# a busy machine) with other MPI libraries where they are installed.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

answer=9180552.3960078564
build hybrid -fopenmp -ffp-contract=off
for options in "-n 1" "-n 2" "-n 2 --workers 1" "-n 6" "-n 6 --workers 1" "-n 3 --comm-cores 1" \
    "-n 3 --progress threads" "-n 3 --progress none"; do
    # shellcheck disable=SC2086
    run 0 $options ./hybrid
    same "$out" "$answer"
    quiet
done

# A main thread that waits outside of MPI does not keep the ranks from running that its thread waits for.
build hybrid_wait -fopenmp
for options in "-n 2" "-n 2 --workers 1" "-n 5 --workers 1"; do
    # shellcheck disable=SC2086
    run 0 $options ./hybrid_wait
    same "$out" "0 wrong"
    quiet
done

# Messages of threads are counted, and recorded: 20 steps, 4 threads, one message each way.
run 0 -n 3 --monitor counts --trace trace ./hybrid 20
grep -qx "0,1,10240,80" counts/program.csv || die "0 to 1: $(grep '^0,1' counts/program.csv)"
expect 0 "$bin/xylem" view trace
says "$out" " 480 messages (60 KiB)"

# The same in virtual time.
run 0 --virtual "node:1 core:4" -n 2 ./hybrid
same "$out" "$answer"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
for library in openmpi mpich; do
    [ -n "${XYLEM_SOAK:-}" ] || continue
    command -v mpicc.$library mpiexec.$library >other.txt || continue
    [ "$(wc -l <other.txt)" -eq 2 ] || continue
    mpicc.$library -O1 -fopenmp -ffp-contract=off "$sources/hybrid.c" -o hybrid.$library || die "$library: mpicc"
    same "$(timeout 240 mpiexec.$library -n 2 ./hybrid.$library)" "$answer"
done

# The unnamed locks of OpenMP are the rank's, with gcc's runtime and with clang's.
locks=$(for r in 0 1 2 3; do echo "$r: 1200 600 600"; done)
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    XYLEM_CC=$compiler "$bin/mpicc" -fopenmp -DRUNTIME -shared -fPIC "$sources/critical.c" -o libruntime.so 2>/dev/null || continue
    XYLEM_CC=$compiler "$bin/mpicc" -fopenmp -DLIBRARY -shared -fPIC "$sources/critical.c" -o libcritical.so
    XYLEM_CC=$compiler build critical -fopenmp -L. -lcritical -lruntime -Wl,-rpath,"$PWD"
    for workers in 1 2; do
        run 0 -n 4 --timeout 60 --share runtime --workers $workers ./critical
        quiet
        same "$out" "$locks"
    done
done

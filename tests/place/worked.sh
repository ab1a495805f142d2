# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The worked example on real runs: a program that sends what the matrix says is monitored, and what
# was counted is placed.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"
here=$XYLEM_SOURCE_DIR/tests/place
matrix=$XYLEM_SOURCE_DIR/tests/data/place/treematch8.mat
bin=$(dirname "$XYLEM")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

check() { # WHO FILE
    expect 0 "$XYLEM" place "$2" -m 'package:2 l3:2 core:2(indexes=0,2,4,6,1,3,5,7)' -s treematch -o cores \
        --write back.mat
    [ "$out" = 0,4,1,5,2,6,3,7 ] || die "$1: placed on $out"
    tr -s ' ' '\n' <"$matrix" | sed '/^$/d' >wanted
    tr -s ' ' '\n' <back.mat | sed '/^$/d' >counted
    cmp wanted counted || die "$1 counted something else: $(cat back.mat)"
    expect 0 "$XYLEM" place "$2" -m 2x2x2 -s treematch --json
    says "$out" '"hop_bytes":22016,'
}

ran=0
if [ -x "$bin/mpiexec" ] && [ -x "$bin/mpicc" ]; then
    "$bin/mpicc" "$here/replay.c" -o replay
    timeout 240 "$bin/mpiexec" -n 8 --monitor talk ./replay "$matrix" || die "the run failed"
    check Xylem talk/all.csv
    # and it runs where it is put
    expect 0 "$XYLEM" place talk/all.csv -o xylem
    cp "$WORK/.out" where
    timeout 240 "$bin/mpiexec" -n 8 --place ./where ./replay "$matrix" || die "the placed run failed"
    ran=1
fi
for pair in openmpi:mpirun.openmpi mpich:mpiexec.mpich; do
    mpi=${pair%:*} launcher=${pair#*:} more=()
    if ! command -v "$launcher" >/dev/null || ! command -v "mpicc.$mpi" >/dev/null; then continue; fi
    [ "$mpi" = mpich ] || more=(--oversubscribe)
    "mpicc.$mpi" "$here/replay.c" -o "replay.$mpi"
    expect 0 timeout 240 "$XYLEM" monitor "$mpi.csv" --only program -- "$launcher" "${more[@]}" -n 8 \
        "./replay.$mpi" "$matrix"
    check "$mpi" "$mpi.csv"
    ran=1
done
[ $ran = 1 ] || skip "no other MPI is installed"

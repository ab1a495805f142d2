# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Placements given to Open MPI and MPICH: every rank must say that it runs where it was put.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"
here=$XYLEM_SOURCE_DIR/tests/place
cores=$("$XYLEM" machine --json | python3 -c '
import json, sys
print(sum(o["type"] == "core" for o in json.load(sys.stdin)["objects"]))') || cores=1
[ "$cores" -ge 2 ] || exit 77

# A ring in an order that is not packed.
printf 'source,target,bytes\n' >ring.csv
for ((i = 0; i < cores; i++)); do
    echo "$i,$(((i + 1) % cores)),100"
done >>ring.csv

compare() { # WHO
    sort -n bindings >sorted
    cmp expected sorted || die "$1 bound: $(tr '\n' ';' <sorted), wanted: $(tr '\n' ';' <expected)"
}

ran=0
for strategy in multisection random round-robin; do
    "$XYLEM" place ring.csv -s "$strategy" --seed 3 -o xylem | sort -n >expected
    if command -v mpirun.openmpi >/dev/null && command -v mpicc.openmpi >/dev/null; then
        [ -x ompi ] || mpicc.openmpi -D_GNU_SOURCE "$here/bindings.c" -o ompi
        "$XYLEM" place ring.csv -s "$strategy" --seed 3 -o rankfile >ranks
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 \
            mpirun.openmpi -np "$cores" --rankfile ranks ./ompi >bindings 2>err ||
            die "Open MPI refused the rankfile: $(cat err)"
        compare "Open MPI"
        ran=1
    fi
    if command -v mpiexec.mpich >/dev/null && command -v mpicc.mpich >/dev/null; then
        [ -x mpich ] || mpicc.mpich -D_GNU_SOURCE "$here/bindings.c" -o mpich
        read -ra arguments < <("$XYLEM" place ring.csv -s "$strategy" --seed 3 -o mpich)
        timeout 60 mpiexec.mpich -n "$cores" "${arguments[@]}" ./mpich >bindings 2>err ||
            die "MPICH refused the arguments: $(cat err)"
        compare MPICH
        ran=1
    fi
done
[ $ran = 1 ] || exit 77

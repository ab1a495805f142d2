# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# xylem monitor under Open MPI and MPICH: the matrix of a program whose messages are known.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"
here=$XYLEM_SOURCE_DIR/tests/place
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# Four ranks. Program: 120 bytes in 3 messages to the rank before (reversed order: the next), 32 in 2
# to the opposite one. Collectives: 4 bytes to the ranks 1 and 2 bits away; a tree of 32 bytes from 0.
printf '%s\n' '# ranks 4' 'source,target,bytes,messages' \
    0,2,32,2 0,3,120,3 1,0,120,3 1,3,32,2 2,0,32,2 2,1,120,3 3,1,32,2 3,2,120,3 >program
printf '%s\n' '# ranks 4' 'source,target,bytes,messages' \
    0,1,36,2 0,2,36,2 1,0,4,1 1,3,4,1 2,0,4,1 2,3,36,2 3,1,4,1 3,2,4,1 >collectives

# By phase, which is here by communicator as well: the reversed one first, then the world.
printf '%s\n' '# ranks 4' 'source,target,bytes,messages' \
    0,3,120,3 1,0,120,3 2,1,120,3 3,2,120,3 >phase-0
total() { # FILES: sums of bytes and messages
    cat "$@" | awk -F, '/^[0-9]/ { bytes += $3; n += $4 } END { print bytes, n }'
}

# Three ranks, a number that is no power of two; one collective in each phase.
printf '%s\n' 0:1,0,4,1 0:1,2,12,1 1:0,2,4,1 1:1,2,8,1 2:0,1,16,2 2:1,2,12,2 2:2,0,20,2 \
    3:0,1,8,1 3:0,2,12,1 3:1,0,4,1 3:1,2,12,1 3:2,0,4,1 3:2,1,8,1 \
    4:0,1,4,1 4:0,2,8,1 4:1,0,4,1 4:1,2,12,1 4:2,0,8,1 4:2,1,12,1 5:0,1,4,1 5:2,1,4,1 \
    6:0,1,4,1 6:1,0,4,1 6:1,2,4,1 6:2,1,4,1 7:0,1,8,1 7:1,2,8,1 >expanded

ran=0
monitor() { # MPI LAUNCHER...
    local mpi=$1
    shift
    command -v "$1" >/dev/null && command -v "mpicc.$mpi" >/dev/null || return 0
    "mpicc.$mpi" "$here/talk.c" -o "talk.$mpi"
    for kind in program collectives; do
        expect 0 timeout 240 "$XYLEM" monitor "$mpi.csv" --only $kind -- "$@" -n 4 "./talk.$mpi"
        # Libraries may warn of their networks; the monitor has nothing to say.
        [[ ${err,,} != *xylem* && ${err,,} != *monitor* ]] || die "a good run says: $err"
        cmp $kind "$mpi.csv" || die "$mpi, $kind: $(cat "$mpi.csv")"
    done
    expect 0 timeout 240 "$XYLEM" monitor "$mpi.mat" --heatmap heat.svg --metric avg -- "$@" -n 4 "./talk.$mpi"
    [ "$(wc -l <"$mpi.mat")" = 4 ] || die "no matrix: $(cat "$mpi.mat")"
    expect 0 "$XYLEM" place "$mpi.mat" -m 2x2 -o cores
    expect 0 timeout 240 "$XYLEM" monitor "$mpi.talk" --slice 10ms -- "$@" -n 4 "./talk.$mpi"
    cmp program "$mpi.talk/program.csv" || die "$mpi: $(cat "$mpi.talk/program.csv")"
    cmp collectives "$mpi.talk/collectives.csv" || die "$mpi: $(cat "$mpi.talk/collectives.csv")"
    cmp phase-0 "$mpi.talk/phase-0.csv" || die "$mpi: $(cat "$mpi.talk/phase-0.csv")"
    cmp phase-0 "$mpi.talk/communicator-1.csv" || die "$mpi: $(cat "$mpi.talk/communicator-1.csv")"
    cmp "$mpi.talk/phase-1.csv" "$mpi.talk/communicator-0.csv" || die "$mpi: not the world"
    [ "$(total "$mpi.talk"/slice-*.csv)" = "$(total "$mpi.talk/all.csv")" ] ||
        die "$mpi: slices are not the whole: $(ls "$mpi.talk")"
    says "$(cat "$mpi.talk/index.html")" "Messages between ranks"
    "mpicc.$mpi" "$here/handles.c" -o "handles.$mpi"
    expect 0 timeout 240 "$XYLEM" monitor "$mpi.handles" -- "$@" -n 2 "./handles.$mpi"
    for part in phase-0=0,1,104,7 phase-1=0,1,140,7 communicator-1=0,1,84,6 communicator-2=0,1,160,8; do
        says "$(cat "$mpi.handles/${part%%=*}.csv")" "${part#*=}"
    done
    "mpicc.$mpi" "$here/hoods.c" -o "hoods.$mpi"
    expect 0 timeout 240 "$XYLEM" monitor hoods.csv --only collectives -- "$@" -n 4 "./hoods.$mpi"
    cmp "$XYLEM_SOURCE_DIR/tests/data/place/hoods.csv" hoods.csv || die "$mpi, neighbours: $(cat hoods.csv)"
    "mpicc.$mpi" "$here/expanded.c" -o "expanded.$mpi"
    expect 0 timeout 240 "$XYLEM" monitor "$mpi.expanded" -- "$@" -n 3 "./expanded.$mpi"
    for phase in 0 1 2 3 4 5 6 7; do
        sed -n "s/^[0-9]/$phase:&/p" "$mpi.expanded/phase-$phase.csv"
    done >"$mpi.phases"
    cmp expanded "$mpi.phases" || die "$mpi, collectives: $(cat "$mpi.phases")"
    fortran "$mpi" "$@"
    ran=1
}

# Programs in Fortran, by each of the three bindings: the same matrix. The sample has the binding with functions of its
# own of Open MPI and the oldest one of MPICH.
printf '%s\n' '# ranks 3' 'source,target,bytes,messages' 0,1,100,4 0,2,12,1 1,0,8,1 2,0,20,1 >talk_fortran
fortran() { # MPI LAUNCHER...
    local mpi=$1 bindings=(MPIF_H MPI MPI_F08)
    shift
    command -v "mpif90.$mpi" >/dev/null || return 0
    if [ -z "${XYLEM_SOAK:-}" ]; then
        bindings=(MPI_F08)
        [ "$mpi" = openmpi ] || bindings=(MPIF_H)
    fi
    for binding in "${bindings[@]}"; do
        "mpif90.$mpi" "-DUSE_$binding" "$here/talk_fortran.F90" -o "$mpi.$binding"
        expect 0 timeout 240 "$XYLEM" monitor "$binding.csv" -- "$@" -n 3 "./$mpi.$binding"
        cmp talk_fortran "$binding.csv" || die "$mpi, $binding: $(cat "$binding.csv")"
    done
}

# What Open MPI itself counts is read: the messages of the program alone (E), as it counts those inside
# collectives by its own algorithms (I), and without those of persistent requests.
monitoring_component() {
    command -v mpirun.openmpi >/dev/null && command -v mpicc.openmpi >/dev/null || return 0
    mpirun.openmpi --oversubscribe -n 4 --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 \
        --mca pml_monitoring_filename "$PWD/counted" ./talk.openmpi >/dev/null 2>&1
    cat counted.*.prof >all.prof
    grep -q '^C' all.prof || die "Open MPI has written no lines of collectives: $(cat all.prof)"
    expect 0 "$XYLEM" place all.prof -m 2x2 -o cores
    grep -v '^I' all.prof >without.prof
    expect 0 "$XYLEM" place without.prof -m 2x2 --write counted.csv -o cores
    cmp phase-0 counted.csv || die "Open MPI has counted $(cat counted.csv)"
}

# The program sees the functions of MPI and nothing else of the monitor, which needs no library but MPI
# and the C library.
for library in "$XYLEM_BUILD_DIR"/lib/xylem/libxylem-monitor-*.so; do
    [ -e "$library" ] || continue
    seen=$(nm -D --defined-only "$library" | awk '$3 !~ /^MPI_/ { print $3 }')
    [ -z "$seen" ] || die "$library has names of its own: $seen"
    needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -v -e '^libmpi' -e '^libm\.' -e '^libc\.' -e '^libpthread' -e '^ld-' || true)
    [ -z "$needed" ] || die "$library needs $needed"
done
monitor openmpi mpirun.openmpi --oversubscribe
monitor mpich mpiexec.mpich
monitoring_component
# The program gets its arguments and no more.
expect 1 "$XYLEM" monitor out.csv --mpi openmpi -- echo a b
[ "$out" = "a b" ] || [ "${err#*no monitor}" != "$err" ] || die "the arguments became: $out"
expect 2 "$XYLEM" monitor out.csv
expect 1 "$XYLEM" monitor out.csv -- true
says "$err" "give --mpi"
[ $ran = 1 ] || skip "no other MPI is installed"

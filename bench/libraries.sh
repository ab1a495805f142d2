#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What private libraries cost: a program that is linked with as many libraries of this list as are
# installed, with all of them private and with all of them shared.
#
#   bench/libraries.sh [BUILD] [--quick]      (default: build/release)
#
# Prints milliseconds and KiB (of memory that is no file's) per rank, for 64 and 1000 ranks; with
# --quick for 16 ranks. Timings are measurements, never tests.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/release sizes=(64 1000)
for argument in "$@"; do
    case $argument in
    --quick) sizes=(16) ;;
    -*)
        echo "bench: no option $argument (there is --quick)" >&2
        exit 2
        ;;
    *) build=$argument ;;
    esac
done
build=$(realpath "$build")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

names=(fftw3 fftw3f hdf5_serial hdf5_serial_hl gsl gslcblas xml2 curl-gnutls z bz2 lzma zstd png16 jpeg tiff glib-2.0
    gmp mpfr sqlite3 ssl crypto expat yaml gnutls nettle hogweed tasn1 idn2 unistring p11-kit pcre2-8 uuid ncurses
    readline openblas protobuf boost_system boost_filesystem boost_regex boost_thread)
links=() sonames=()
installed=$(ldconfig -p)
for name in "${names[@]}"; do
    # A library need not have its development files: its file is linked by name.
    file=$(awk -v n="lib$name.so" 'index($1, n) == 1 { print $NF; exit }' <<<"$installed")
    [ -n "$file" ] || continue
    links+=("$file")
    sonames+=("$(basename "$file")")
done
cat >"$work/many.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        FILE *status = fopen("/proc/self/status", "r");
        char line[256];

        while (status != NULL && fgets(line, sizeof(line), status) != NULL)
            if (strncmp(line, "RssAnon:", 8) == 0)
                printf("%s", line + 8);
    }
    MPI_Finalize();
    return 0;
}
END
"$build/bin/mpicc" "$work/many.c" -o "$work/many" -Wl,--no-as-needed "${links[@]}" -Wl,--as-needed
needed=$("$build/bin/mpiexec" -v -n 1 "$work/many" 2>&1 | grep -c "private library" || true)
echo "# ${#links[@]} libraries linked, $needed private with those that they need"

# job RANKS ARGUMENT...: run it; nanoseconds and KiB.
job() {
    local ranks=$1 begin kib
    shift
    begin=$(date +%s%N)
    kib=$("$build/bin/mpiexec" -n "$ranks" -q "$@" "$work/many" | tr -dc 0-9) || return 1
    echo $(($(date +%s%N) - begin)) "$kib"
}

# measure WAY RANKS ARGUMENT...: the cost of a rank in a job of RANKS, less that of a job of one.
measure() {
    local way=$1 ranks=$2 one all time kib one_time one_kib
    shift 2
    one=$(job 1 "$@") && all=$(job "$ranks" "$@") || return 1
    read -r one_time one_kib <<<"$one"
    read -r time kib <<<"$all"
    echo "libraries_${way}_$ranks  $(awk -v t=$((time - one_time)) -v n="$ranks" 'BEGIN { printf "%.3f", t / 1e6 / (n - 1) }')  ms/rank"
    echo "libraries_${way}_$ranks  $(((kib - one_kib) / (ranks - 1)))  KiB/rank"
}
list=$(IFS=,; echo "${sonames[*]}")
for ranks in "${sizes[@]}"; do
    measure private "$ranks" || echo "# libraries_private_$ranks: not with the limits of this system"
    measure shared "$ranks" --share "$list"
done

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What private libraries cost: a program that is linked with as many libraries of this list as are
# installed, with all of them private and with all of them shared.
#
#   bench/libraries.sh [BUILD]      (default: build/release)
#
# Prints, for 64 and 1000 ranks, milliseconds and KiB (of memory that is no file's) per rank. Timings are measurements, never tests.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build/release}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

names=(fftw3 fftw3f hdf5_serial hdf5_serial_hl gsl gslcblas xml2 curl-gnutls z bz2 lzma zstd png16 jpeg tiff glib-2.0
    gmp mpfr sqlite3 ssl crypto expat yaml gnutls nettle hogweed tasn1 idn2 unistring p11-kit pcre2-8 uuid ncurses
    readline openblas protobuf boost_system boost_filesystem boost_regex boost_thread)
links=() sonames=()
for name in "${names[@]}"; do
    # A library need not have its development files: its file is linked by name.
    file=$(ldconfig -p | awk -v n="lib$name.so" 'index($1, n) == 1 { print $NF; exit }')
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

# measure WAY RANKS ARGUMENT...: one line with the cost per rank, less that of one rank.
measure() {
    local way=$1 ranks=$2 begin end kib one ms
    shift 2
    one=$("$build/bin/mpiexec" -n 1 "$@" "$work/many" | tr -dc 0-9)
    begin=$(date +%s%N)
    kib=$("$build/bin/mpiexec" -n "$ranks" "$@" "$work/many" | tr -dc 0-9)
    end=$(date +%s%N)
    ms=$(awk -v t=$((end - begin)) -v n="$ranks" 'BEGIN { printf "%.3f", t / 1e6 / n }')
    echo "libraries_${way}_$ranks  $ms  ms/rank"
    echo "libraries_${way}_$ranks  $(((kib - one) / (ranks - 1)))  KiB/rank"
}
list=$(IFS=,; echo "${sonames[*]}")
for ranks in 64 1000; do
    measure private $ranks -q || echo "# libraries_private_$ranks: not with the limits of this system"
    measure shared $ranks -q --share "$list"
done

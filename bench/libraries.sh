#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What private libraries cost: a program that is linked with as many libraries of this list as are
# installed, with all of them private and with all of them shared.
#
#   bench/libraries.sh [BUILD] [--quick] [--with FLAGS]      (default: build/release)
#
# --with links the program with FLAGS ("-L DIR -Wl,-rpath,DIR -lpetsc") instead of the list.
# Prints, for 64 and 1000 ranks (with --quick for 16), medians of several jobs: milliseconds per rank
# of wall clock and of CPU time (user and system, which other programs disturb less), and the private
# libraries' share of both, whole job against whole job; pages of a rank's own memory, pages that
# relocation writes, and their ratio; page tables. Timings are measurements, never tests.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/release sizes=(64 1000) runs=5 links=()
while [ $# -gt 0 ]; do
    case $1 in
    --quick) sizes=(16) runs=3 ;;
    --with)
        read -ra links <<<"${2:?bench: --with needs the flags of the linker}"
        shift
        ;;
    -*)
        echo "bench: no option $1 (there are --quick and --with)" >&2
        exit 2
        ;;
    *) build=$1 ;;
    esac
    shift
done
build=$(realpath "$build")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

names=(fftw3 fftw3f hdf5_serial hdf5_serial_hl gsl gslcblas xml2 curl-gnutls z bz2 lzma zstd png16 jpeg tiff glib-2.0
    gmp mpfr sqlite3 ssl crypto expat yaml gnutls nettle hogweed tasn1 idn2 unistring p11-kit pcre2-8 uuid ncurses
    readline openblas protobuf boost_system boost_filesystem boost_regex boost_thread)
if [ ${#links[@]} = 0 ]; then
    installed=$(ldconfig -p)
    for name in "${names[@]}"; do
        # A library need not have its development files: its file is linked by name.
        file=$(awk -v n="lib$name.so" 'index($1, n) == 1 { print $NF; exit }' <<<"$installed")
        [ -z "$file" ] || links+=("$file")
    done
fi
# Rank 0 prints the KiB of all processes of the job: memory that is no file's, and page tables.
cat >"$work/many.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long of_process(const char *name)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;

    while (status != NULL && fgets(line, sizeof(line), status) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kib = atol(line + strlen(name));
    if (status != NULL)
        fclose(status);
    return kib;
}

int main(int argc, char **argv)
{
    long own[3] = {getpid()}, *all, anonymous = 0, tables = 0;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all = malloc(3 * sizeof(long) * (size_t)size);
    MPI_Allgather(own, 3, MPI_LONG, all, 3, MPI_LONG, MPI_COMM_WORLD);
    if (rank == 0 || all[3 * (rank - 1)] != own[0]) { /* the first rank of a process */
        own[1] = of_process("RssAnon:");
        own[2] = of_process("VmPTE:");
    }
    MPI_Reduce(&own[1], &anonymous, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&own[2], &tables, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld %ld\n", anonymous, tables);
    free(all);
    MPI_Finalize();
    return 0;
}
END
"$build/bin/mpicc" "$work/many.c" -o "$work/many" -Wl,--no-as-needed "${links[@]}" -Wl,--as-needed
"$build/bin/mpiexec" -v -n 1 "$work/many" 2>&1 | grep "private library" >"$work/private" || true
sed "s/^[^']*'\([^']*\)'.*/\1/; s/.*\///" "$work/private" | paste -sd, >"$work/names"
relocated=$(sed -n 's/.*relocation takes \([0-9]*\) KiB.*/\1/p' "$work/private" | awk '{ n += $1 } END { print n + 0 }')
page=$(($(getconf PAGESIZE) >> 10))
echo "# $(wc -l <"$work/private") private libraries; relocation writes $((relocated / page)) pages per rank"

# median COLUMN FILE
median() {
    awk -v c="$1" '{ print $c }' "$2" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# job WAY RANKS ARGUMENT...: run it several times; wall clock and CPU time in milliseconds, KiB of
# memory and of page tables go to the file WAY_RANKS. Fails where the first job does.
job() {
    local file=$work/$1_$2 ranks=$2 kib TIMEFORMAT='%R %U %S'
    shift 2
    : >"$file"
    for _ in $(seq "$runs"); do
        { time "$build/bin/mpiexec" -n "$ranks" -q "$@" "$work/many" >"$work/kib" 2>"$work/error"; } 2>"$work/time" ||
            return 1
        kib=$(cat "$work/kib")
        awk -v kib="$kib" '{ print 1000 * $1, 1000 * ($2 + $3), kib }' "$work/time" >>"$file"
    done
}

# line NAME VALUE UNIT
line() {
    printf '%s  %s  %s\n' "$1" "$2" "$3"
}

# difference COLUMN FILE OTHER DIVISOR
difference() {
    awk -v a="$(median "$1" "$2")" -v b="$(median "$1" "$3")" -v n="$4" 'BEGIN { printf "%.3f", (a - b) / n }'
}

for ranks in "${sizes[@]}"; do
    several=()
    if ! job private "$ranks"; then
        # The message suggests how many processes are enough for the limit of mappings.
        count=$(sed -n 's/.*run the ranks in \([0-9]*\) processes.*/\1/p' "$work/error")
        several=(--processes "${count:-2}")
        if ! job private "$ranks" "${several[@]}"; then
            echo "# libraries_private_$ranks: $(head -1 "$work/error")"
            continue
        fi
        echo "# $ranks ranks are in ${several[1]} processes: vm.max_map_count is $(cat /proc/sys/vm/max_map_count)"
    fi
    job shared "$ranks" "${several[@]}" --share "$(cat "$work/names")"
    job private 1
    job shared 1 --share "$(cat "$work/names")"
    for way in private shared; do
        line "libraries_${way}_$ranks" "$(difference 1 "$work/${way}_$ranks" "$work/${way}_1" $((ranks - 1)))" ms/rank
        line "libraries_${way}_cpu_$ranks" "$(difference 2 "$work/${way}_$ranks" "$work/${way}_1" $((ranks - 1)))" ms/rank
    done
    line "libraries_extra_$ranks" "$(difference 1 "$work/private_$ranks" "$work/shared_$ranks" "$ranks")" ms/rank
    line "libraries_extra_cpu_$ranks" "$(difference 2 "$work/private_$ranks" "$work/shared_$ranks" "$ranks")" ms/rank
    pages=$(difference 3 "$work/private_$ranks" "$work/shared_$ranks" $((ranks * page)))
    line "libraries_touched_$ranks" "$pages" pages/rank
    line "libraries_relocated_$ranks" $((relocated / page)) pages/rank
    line "libraries_touched_ratio_$ranks" "$(awk -v p="$pages" -v r=$((relocated / page)) 'BEGIN { printf "%.2f", r ? p / r : 0 }')" x
    line "libraries_page_tables_$ranks" "$(difference 4 "$work/private_$ranks" "$work/shared_$ranks" "$ranks")" KiB/rank
done

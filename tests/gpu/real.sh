#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# real.sh BUILD [PROGRAMS]: memory of a real GPU (CUDA) in MPI calls: order after default streams, ranks that mix it with
# memory of the host, and PROGRAMS (300) random programs. Each line says what ran; the last, how many failed.
set -u
build=$(realpath "${1:?usage: real.sh BUILD [PROGRAMS]}")
programs=${2:-300}
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$build/bin/mpicc" -O1 -std=gnu11 "$here/device_order.c" -o device_order -ldl || exit 1
failed=0

# try MODE N OPTION...: one run of device_order.
try() {
    local said mode=$1 n=$2
    shift 2
    if said=$(timeout 120 "$build/bin/mpiexec" "$@" ./device_order "$mode" "$n" 2>&1); then
        echo "ok: $mode $n, $*: $(tail -n 1 <<<"$said")"
    else
        echo "FAILED: $mode $n, $*: $said"
        failed=$((failed + 1))
    fi
}

for _ in 1 2 3 4 5 6; do
    try mixed 16384 -n 16
done
try mixed 16384 -n 8 --processes 2
for mode in late legacy overlap; do
    try $mode 30000 -n 2
    try $mode 300 -n 2 --processes 2
    try $mode 3000 -n 16
done
python3 "$here/../mpi/random/run.py" --device --count "$programs" --ranks 16 --jobs 3 --seed real \
    --mpiexec "$build/bin/mpiexec" --program "$build/tests/mpi/mpi_random" || failed=$((failed + 1))
echo "real: $failed failed"
[ "$failed" -eq 0 ]

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ranks.sh BUILD [TURNS]: what ranks that share a GPU do, on a machine that has one, with nvcc.
# With the static runtime (nvcc's default) and the shared one. Where Open MPI is installed, its
# processes beside it, which take turns on the GPU, and the same with NVIDIA's MPS daemon: all in
# turns, medians of TURNS (7), and the least and the largest; what takes long, three times at most.
set -u
build=$(realpath "${1:?usage: ranks.sh BUILD [TURNS]}")
turns=${2:-7}
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for kind in static shared; do
    nvcc -O2 -arch=native -cudart $kind -Xcompiler -fPIE -Xlinker -pie -I"$build/include" "$here/ranks.cu" \
        -o "$work/$kind" -L"$build/lib" -lmpi_abi -Xlinker -rpath,"$build/lib" &
done
peer=/usr/lib/$(uname -m)-linux-gnu/openmpi
if command -v mpirun.openmpi >/dev/null && [ -e "$peer/include/mpi.h" ]; then
    nvcc -O2 -arch=native -I"$peer/include" "$here/ranks.cu" -o "$work/openmpi" -L"$peer/lib" -lmpi &
fi
wait
[ -x "$work/static" ] && [ -x "$work/shared" ] || exit 1
cores=$(nproc)
ulimit -c 0

go() { timeout -s KILL 60 "$build/bin/mpiexec" "$@" || echo "failed ($?): $*"; }
xylem() { go -n "$1" --oversubscribe --workers $(($1 < cores ? $1 : cores)) "$work/${3:-static}" "$2"; }
openmpi() {
    timeout -s KILL 60 mpirun.openmpi --allow-run-as-root --oversubscribe -n "$1" "$work/openmpi" "$2" ||
        echo "failed ($?): $1 processes"
}
# note NAME N COMMAND...: the seconds of a loop
note() {
    local name=$1 n=$2 line
    line=$("${@:3}" 2>&1)
    echo "$SECONDS s: $name: $line"
    sed -n 's/^loop: [0-9]* ranks \([0-9.]*\) s.*/\1/p' <<<"$line" >>"$work/$name.$n"
    sed -n 's/.*start \([0-9.]*\) s/\1/p' <<<"$line" >>"$work/$name.$n.start"
}
with_mps() {
    export CUDA_MPS_PIPE_DIRECTORY=$work/mps CUDA_MPS_LOG_DIRECTORY=$work/mps
    mkdir -p "$work/mps"
    nvidia-cuda-mps-control -d && sleep 1
    for n in "$@"; do note mps "$n" openmpi "$n" loop; done
    if ((t == 1)); then for n in 8 16; do echo "MPS: $(openmpi $n steps)"; done; fi
    echo quit | timeout 20 nvidia-cuda-mps-control
    unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
}

few=(1 2 4 8 16)
many=(32 48)
for ((t = 1; t <= turns; t++)); do
    more=()
    if ((t <= 3)); then more=("${many[@]}"); fi # these take long
    for n in "${few[@]}" "${more[@]}"; do note xylem "$n" xylem "$n" loop; done
    if ((t <= 3)); then for n in 64 200; do note xylem $n xylem $n loop; done; fi
    [ -x "$work/openmpi" ] || continue
    if command -v nvidia-cuda-mps-control >/dev/null; then with_mps "${few[@]}" "${more[@]}"; fi
    if ((t <= 3)); then for n in 4 16; do note processes $n openmpi $n loop; done; fi
    xylem 2 message
done
for n in 8 16 64; do xylem $n steps; done
for t in 1 2 3; do xylem 8 allreduce; done
echo "shared runtime"
for n in 1 16 64; do xylem $n loop shared; done
# MEDIAN (LEAST to LARGEST) of the numbers of a file
summary() { [ -s "$1" ] && sort -g "$1" | awk '{ v[NR] = $1 } END { printf "%s (%s to %s)", v[int((NR + 1) / 2)], v[1], v[NR] }'; }
printf '%5s  %-28s %-28s %-28s\n' ranks Xylem 'with MPS' processes
for n in "${few[@]}" "${many[@]}" 64 200; do
    printf '%5s  %-28s %-28s %-28s\n' "$n" "$(summary "$work/xylem.$n")" "$(summary "$work/mps.$n")" "$(summary "$work/processes.$n")"
done
echo "start of 16: $(summary "$work/xylem.16.start"), $(summary "$work/mps.16.start"), $(summary "$work/processes.16.start")"

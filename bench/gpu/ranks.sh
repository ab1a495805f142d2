#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ranks.sh BUILD: what ranks that share a GPU do, on a machine that has one, with nvcc.
# With the static runtime (nvcc's default) and the shared one; processes of Open MPI beside it, where
# it is installed.
set -u
build=$(realpath "${1:?usage: ranks.sh BUILD}")
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for kind in static shared; do
    nvcc -O2 -cudart $kind -Xcompiler -fPIE -Xlinker -pie -I"$build/include" "$here/ranks.cu" -o "$work/$kind" \
        -L"$build/lib" -lmpi_abi -Xlinker -rpath,"$build/lib" &
done
wait
[ -x "$work/static" ] && [ -x "$work/shared" ] || exit 1
go() { timeout 90 "$build/bin/mpiexec" "$@" || echo "failed ($?): $*"; }
cores=$(nproc)
echo "static runtime"
for n in 1 4 8 16 32 64 128 200; do
    go -n $n --oversubscribe --workers $((n < cores ? n : cores)) "$work/static" loop
done
go -n 2 "$work/static" message
go -n 8 "$work/static" allreduce
echo "shared runtime"
for n in 1 16 64; do
    go -n $n --oversubscribe --workers $((n < cores ? n : cores)) "$work/shared" loop
done
if command -v mpirun.openmpi >/dev/null && command -v mpicxx.openmpi >/dev/null; then
    # shellcheck disable=SC2046 # words are wanted
    nvcc -O2 -x cu "$here/ranks.cu" -o "$work/openmpi" $(mpicxx.openmpi --showme:compile | sed 's/-pthread//') \
        $(mpicxx.openmpi --showme:link | sed 's/-pthread//; s/-Wl,/-Xlinker /g; s/-Xlinker -rpath/-Xlinker -rpath/g') || exit 0
    echo "processes of Open MPI"
    for n in 1 4 16; do
        timeout 90 mpirun.openmpi --allow-run-as-root --oversubscribe -n $n "$work/openmpi" loop
    done
fi

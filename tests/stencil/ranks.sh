#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpiexec -n P xylem stencil --real: ranks that share the blocks, evenly or not, give the bits of the plain loop,
# on cores, on OpenCL devices that are made of cores, and in several processes.
# shellcheck disable=SC2154 # out and err are set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"
MPIEXEC=$XYLEM_BUILD_DIR/bin/mpiexec

shared() { # ranks, then options
    local n=$1
    shift
    expect 0 "$MPIEXEC" -n "$n" "$XYLEM" stencil --real "$@"
    says "$out" "ranks       $n, "
    says "$out" "bit for bit"
}

# All orders and dimensions; rows that are not a multiple of the ranks, and fewer than them.
shared 2 --graph jacobi --blocks 7x6 --cells 4x10 --iterations 6
shared 3 --graph red-black --blocks 7x5 --cells 4x10 --iterations 6 --policy dmdar --load dynamic
shared 5 --graph natural --blocks 4x4x4 --cells 2x3x4 --iterations 3 --policy lws
shared 4 --graph jacobi --blocks 10x4 --points 9 --cells 5x3 --iterations 5 --policy eager --cpus 2

shared 3 --graph jacobi --blocks 7x5 --cells 4x10 --iterations 6 --precision single
says "$out" "single precision"
shared 2 --graph red-black --blocks 5x6 --cells 3x9 --iterations 60 --until 0.02 --every 2 --precision single

# The end by convergence: every rank hears of it. Nothing is left over (mpiexec says so if there is).
for every in 1 3; do
    shared 3 --graph red-black --blocks 5x6 --cells 4x10 --iterations 60 --until 0.02 --every $every
    says "$out" "convergence reached after"
    [ -z "$err" ] || die "it says: $err"
done

# In several processes.
expect 0 "$MPIEXEC" -n 3 --processes 2 "$XYLEM" stencil --real --graph jacobi --blocks 7x6 --cells 4x10 --iterations 4
says "$out" "bit for bit"

# Results are sums, of rank 0 only.
expect 0 "$MPIEXEC" -n 2 "$XYLEM" stencil --real --graph jacobi --blocks 8 --block 1KiB --iterations 4 --json --trace run.xyt
printf '%s\n' "$out" | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["ranks"] == 2 and r["tasks"] == 24 and r["checked"] and r["workers"] == 2, r
assert r["messages"] == 2 * 4 and r["bytes_received"] == r["messages"] * 8, r
'
# What moves of a block is its row, or layer, at the side of the other rank.
expect 0 "$MPIEXEC" -n 2 "$XYLEM" stencil --real --graph jacobi --blocks 6x5x4 --cells 3x4x5 --iterations 3 --json
printf '%s\n' "$out" | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["checked"] and r["messages"] == 2 * 3 * 3 * 2 and r["bytes_received"] == r["messages"] * 4 * 5 * 8, r
'
expect 0 "$XYLEM" view run.xyt.1
says "$out" "from other ranks"

# What cannot work is refused.
expect 1 "$MPIEXEC" -n 2 "$XYLEM" stencil --real --blocks 6 --block 1KiB --policy cache-oblivious
says "$err" "cannot wait for other ranks"

# A domain in a file, whatever it holds: several ranks leave what one process does. Blocks at the corners, which no task
# uses, stay as they are.
python3 -c '
import array
array.array("d", [1 / (i + 3) for i in range(7 * 6 * 4 * 10)]).tofile(open("one.bin", "wb"))'
cp one.bin several.bin
domain=(--real --graph jacobi --blocks 7x6 --cells 4x10 --iterations 3)
expect 0 "$XYLEM" stencil "${domain[@]}" --file one.bin
expect 0 "$MPIEXEC" -n 3 "$XYLEM" stencil "${domain[@]}" --file several.bin
says "$out" "in several.bin"
says "$out" "bit for bit"
cmp one.bin several.bin || die "the ranks wrote something else"
expect 0 "$MPIEXEC" -n 2 --processes 2 "$XYLEM" stencil "${domain[@]}" --file new.bin --until 0.001 --every 2 --no-check
expect 0 "$XYLEM" stencil "${domain[@]}" --file again.bin --until 0.001 --every 2
cmp new.bin again.bin || die "the ranks made something else"
expect 1 "$MPIEXEC" -n 2 "$XYLEM" stencil --real --graph jacobi --blocks 7x7 --cells 4x10 --iterations 3 --file one.bin
says "$err" "name the blocks, cells and precision"
[ "$(grep -c "name the blocks" <<<"$err")" = 1 ] || die "said more than once: $err"
cmp one.bin several.bin || die "the file was changed"
[ "$(find . -maxdepth 1 -name '*.bin*' -o -maxdepth 1 -name 'stencil.*' | wc -l)" = 4 ] || die "something was left: $(ls)"

# Pictures of all ranks, by rank 0.
expect 0 "$MPIEXEC" -n 3 "$XYLEM" stencil --real --graph jacobi --blocks 9x6 --cells 4x10 --iterations 4 --svg all -o all.html
for core in 0 1 2; do
    grep -q "core $core" all-iteration.svg || die "no tasks of core $core"
done
grep -q "core 3" all-iteration.svg && die "a core too many"
grep -q "ranks       3" all.html || die "no page of the ranks"

# A study: rank 0 writes it. What one rank cannot begin is passed over by all.
printf 'policy closure cache-oblivious eager\nblocks 8 12\n' >study.txt
expect 1 "$MPIEXEC" -n 2 "$XYLEM" stencil --real --block 1KiB --iterations 4 --study study.txt
[ "$(wc -l <<<"$out")" = 5 ] || die "not a table of four runs: $out"
says "$err" "cannot wait for other ranks"
printf 'blocks 8 12\n' >blocks.txt
expect 1 "$MPIEXEC" -n 1 "$XYLEM" stencil --real --block 1KiB --iterations 4 --study blocks.txt : \
    -n 1 "$XYLEM" stencil --real --block 1KiB --iterations 4 --study blocks.txt --policy cache-oblivious
[ "$(grep -c "cannot wait for other ranks" <<<"$err")" = 2 ] || die "not refused once for each run: $err"

# In virtual time each rank is a process of its own, as before.
expect 0 "$MPIEXEC" -n 2 "$XYLEM" stencil --blocks 6 --iterations 2
[ "$(grep -c "6 blocks" <<<"$out")" = 2 ] || die "not two runs: $out"

export XYLEM_GPU_DRIVER=opencl POCL_CACHE_DIR="$XYLEM_BUILD_DIR/pocl-cache" # kernels are compiled once
expect 0 "$XYLEM" machine --json
[[ $out == *'"gpu": 1'* ]] || exit 0
shared 2 --gpus 1 --graph jacobi --blocks 7x6 --cells 4x10 --iterations 6 --memory 16KiB
says "$out" "on 2 GPUs"
shared 2 --gpus 1 --graph jacobi --blocks 7x6 --cells 4x10 --iterations 6 --memory 16KiB --precision single
# The memory is that of the GPU, which the ranks have together.
gpu=(--gpus 1 --graph jacobi --blocks 7x6 --cells 4x10 --iterations 2 --memory 3KiB)
expect 0 "$XYLEM" stencil --real "${gpu[@]}"
expect 1 "$MPIEXEC" -n 3 "$XYLEM" stencil --real "${gpu[@]}"
says "$err" "1 KiB"
shared 3 --gpus 1 --cpus 1 --graph red-black --blocks 5x6 --cells 4x10 --iterations 60 --until 0.02 --every 1 --memory 24KiB --policy dmdar
says "$out" "on 3 GPUs and 3 cores"
shared 2 --gpus 1 --graph jacobi --blocks 7x6 --cells 4x10 --iterations 6 --memory 16KiB --file gpus.bin --svg gpus
says "$out" "in gpus.bin"
for gpu in 0 1; do
    grep -q "GPU $gpu" gpus-memory.svg || die "no memory of GPU $gpu"
done

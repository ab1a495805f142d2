#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# xylem stencil --real --gpus: every policy and order gives the bits of the plain loop in a memory that is far
# too small, on an OpenCL device that is made of cores.
# shellcheck disable=SC2154 # out and err are set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

# No GPU: one clear line.
XYLEM_GPU_DRIVER=none expect 1 "$XYLEM" stencil --real --gpus 1 --blocks 6 --iterations 2
one_line "$err"
says "$err" "there is no GPU"
expect 2 "$XYLEM" stencil --gpus many
one_line "$err"

export XYLEM_GPU_DRIVER=opencl POCL_CACHE_DIR="$XYLEM_BUILD_DIR/pocl-cache" # kernels are compiled once
expect 0 "$XYLEM" machine --json
[[ $out == *'"gpu": 1'* ]] || { echo "left out: there is no OpenCL device (pocl-opencl-icd)"; exit 77; }

policies=$("$XYLEM" stencil --list | sed '/^$/,$d; s/ .*//')
number=0
for policy in $policies; do
    number=$((number + 1))
    is_chosen $number 6 || continue
    expect 0 "$XYLEM" stencil --real --gpus 1 --graph jacobi --blocks 12 --block 4KiB --iterations 6 --memory 28KiB --policy "$policy"
    says "$out" "bit for bit"
done
for graph in red-black natural; do
    expect 0 "$XYLEM" stencil --real --gpus 1 --graph $graph --blocks 5x6 --cells 4x10 --iterations 4 --memory 8KiB --load dynamic
    says "$out" "bit for bit"
done
expect 0 "$XYLEM" stencil --real --gpus 1 --graph jacobi --blocks 5x5 --points 9 --cells 5x3 --iterations 5 --memory 4KiB --policy dmdar
says "$out" "bit for bit"
expect 0 "$XYLEM" stencil --real --gpus 1 --graph natural --blocks 4x4x4 --cells 2x3x4 --iterations 3 --policy lws
says "$out" "bit for bit"

# Single precision: the bits of a plain loop over floats, in all dimensions, orders and with shared launches.
single=(--real --gpus 1 --precision single)
expect 0 "$XYLEM" stencil "${single[@]}" --graph red-black --blocks 12 --cells 999 --iterations 6 --memory 28KiB
says "$out" ", single precision"
says "$out" "bit for bit"
expect 0 "$XYLEM" stencil "${single[@]}" --graph jacobi --blocks 9x4 --cells 6x7 --iterations 8 --memory 2KiB --look-ahead 1
says "$out" "bit for bit"
expect 0 "$XYLEM" stencil "${single[@]}" --graph jacobi --blocks 5x5 --points 9 --cells 5x3 --iterations 5 --memory 2KiB --policy dmdar
says "$out" "bit for bit"
expect 0 "$XYLEM" stencil "${single[@]}" --graph natural --blocks 4x4x4 --cells 2x3x4 --iterations 3 --policy lws --cpus 1 --use-all
says "$out" "bit for bit"
expect 0 "$XYLEM" stencil "${single[@]}" --graph jacobi --blocks 5x6 --cells 4x10 --iterations 60 --until 0.02 --every 3 --file single.bin --json
printf '%s\n' "$out" | python3 -c '
import json, os, sys
r = json.load(sys.stdin)
assert r["checked"] and r["converged"] and r["iterations"] == 9 and r["precision"] == "single", r
assert os.path.getsize("single.bin") == 5 * 6 * 4 * 10 * 4
'
expect 1 "$XYLEM" stencil --real --graph jacobi --blocks 5x6 --cells 4x10 --iterations 3 --file single.bin
one_line "$err"
says "$err" "precision it was made with"
# Half the bytes for as many cells: what fits in a memory follows.
fits=(--graph jacobi --blocks 12 --cells 512 --iterations 6 --memory 28KiB --policy closure --json)
expect 0 "$XYLEM" stencil "${single[@]}" "${fits[@]}"
half=$out
expect 0 "$XYLEM" stencil --real --gpus 1 "${fits[@]}"
printf '%s\n' "$half" "$out" | python3 -c '
import json, sys
text = sys.stdin.read()
half, at = json.JSONDecoder().raw_decode(text)
whole = json.loads(text[at:])
assert half["bytes_loaded"] == 4 * 512 * half["loads"] and whole["bytes_loaded"] == 8 * 512 * whole["loads"], text
assert half["loads"] < whole["loads"], text
'

# A trace like that of virtual time.
expect 0 "$XYLEM" stencil --real --gpus 1 --graph jacobi --blocks 12 --block 4KiB --iterations 6 --memory 28KiB --trace gpu.xyt --svg gpu --json
printf '%s\n' "$out" | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["real"] and r["checked"] and r["gpu"] and 0 < r["compute_bound"] <= r["makespan"], r
assert 0 <= r["hidden"] <= 1 and r["loads"] >= 12 and r["stores"] >= 10, r
'
grep -q "GPU 0" gpu-time.svg || die "no picture of a GPU"
expect 0 "$XYLEM" view gpu.xyt
[ -z "$err" ] || die "the trace is not whole: $err"
says "$out" "main memory to GPU 0"
says "$out" "decisions"
says "$out" "of real time"
expect 0 "$XYLEM" view gpu.xyt --json
printf '%s\n' "$out" | python3 -c '
import json, sys
rows = {r["name"]: r for r in json.load(sys.stdin)["rows"]}
assert 0 <= rows["worker 0"]["overlap"] <= 1 and rows["decisions"]["kinds"]["decision"] > 0, rows
'

# What cannot work is refused.
expect 1 "$XYLEM" stencil --real --gpus 1 --blocks 12 --block 4KiB --iterations 6 --memory 8KiB
one_line "$err"
expect 1 "$XYLEM" stencil --real --gpus 64 --blocks 12 --block 4KiB --iterations 6
one_line "$err"
says "$err" "64 GPUs were requested"
expect 2 "$XYLEM" stencil --real --gpus 1 --use-all --blocks 12 --block 4KiB
one_line "$err"

# It ends on convergence where the plain loop does, though what it has then is read by no task.
for graph in red-black jacobi; do
    expect 0 "$XYLEM" stencil --real --gpus 1 --graph $graph --blocks 5x6 --cells 4x10 --iterations 60 --until 0.02 --every 3 --memory 8KiB
    says "$out" "convergence reached after 9 iterations"
    says "$out" "bit for bit"
done

# Cores beside the GPU: the same bits, and none of them idle if that was asked for.
for policy in eager dmdar closure; do
    expect 0 "$XYLEM" stencil --real --gpus 1 --cpus 2 --use-all --graph red-black --blocks 5x6 --cells 4x10 --iterations 5 --memory 8KiB --policy $policy
    says "$out" "on 1 GPU and 2 cores"
    says "$out" "bit for bit"
done
expect 0 "$XYLEM" stencil --real --gpus 1 --cpus 2 --graph jacobi --blocks 12 --block 4KiB --iterations 6 --memory 28KiB --policy foresight
says "$out" "bit for bit"

# A domain in a file, which cores go on with.
expect 0 "$XYLEM" stencil --real --gpus 1 --graph jacobi --blocks 12 --block 4KiB --iterations 3 --memory 28KiB --file domain.bin
says "$out" "in domain.bin"
says "$out" "bit for bit"
expect 0 "$XYLEM" stencil --real --graph jacobi --blocks 12 --block 4KiB --iterations 3 --file domain.bin
says "$out" "bit for bit"

# The same run in virtual time moves the same.
expect 0 "$XYLEM" stencil --real --gpus 1 --graph jacobi --blocks 20 --block 4KiB --iterations 9 --memory 64KiB --policy eager
moved=$(grep transfers <<< "$out")
expect 0 "$XYLEM" stencil --as-real --gpus 1 --graph jacobi --blocks 20 --block 4KiB --iterations 9 --memory 64KiB --policy eager
[ "$(grep transfers <<< "$out")" = "$moved" ] || die "virtual: $(grep transfers <<< "$out"), real: $moved"
expect 0 "$XYLEM" stencil --as-real --gpus 2 --graph jacobi --blocks 20 --block 4KiB --iterations 9 --memory 64KiB --policy foresight --trace run.xyt
expect 2 "$XYLEM" stencil --as-real --real --gpus 1
says "$err" "leave out --real"
expect 2 "$XYLEM" stencil --as-real --gpus 1 --cpus 2
says "$err" "leave out --cpus"

# Tasks that share launches: whole rows of blocks, blocks with neighbours on all sides, too little room for all.
for memory in 3KiB 12KiB 1MiB; do
    expect 0 "$XYLEM" stencil --real --gpus 1 --graph jacobi --blocks 9x4 --cells 6x7 --iterations 8 --memory $memory --look-ahead 1
    says "$out" "bit for bit"
    expect 0 "$XYLEM" stencil --real --gpus 1 --graph jacobi --blocks 30x1 --cells 5x9 --iterations 8 --memory $memory --policy eager
    says "$out" "bit for bit"
done

# Two GPUs.
for policy in closure dmdar; do
    POCL_DEVICES="pthread pthread" expect 0 "$XYLEM" stencil --real --gpus 2 --graph jacobi --blocks 12 --block 4KiB --iterations 6 --memory 28KiB --policy $policy
    says "$out" "on 2 GPUs"
    says "$out" "bit for bit"
done

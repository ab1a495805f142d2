#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# GPUs that drivers find, on a device that is made of cores.
# shellcheck disable=SC2154 # out and err are set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

# No driver, no GPU; and a clear answer where one is asked for.
XYLEM_GPU_DRIVER=none expect 1 "$XYLEM" calibrate --gpu
says "$err" "there is no GPU to measure"
XYLEM_GPU_DRIVER=glide expect 1 "$XYLEM" machine
one_line "$err"
says "$err" "XYLEM_GPU_DRIVER=glide is not a driver"
expect 2 "$XYLEM" calibrate --gpu --check
one_line "$err"

export XYLEM_GPU_DRIVER=opencl POCL_CACHE_DIR="$XYLEM_BUILD_DIR/pocl-cache" # kernels are compiled once
expect 0 "$XYLEM" machine --json
[[ $out == *'"gpu": 1'* ]] || { echo "left out: there is no OpenCL device (pocl-opencl-icd)"; exit 77; }

# What was measured is in the machine, and in its file.
expect 0 "$XYLEM" calibrate --gpu
says "$out" "gpu0-both-byte"
says "$out" "gpu0-stencil-byte"
expect 0 "$XYLEM" machine --xml live.xml
expect 0 "$XYLEM" machine live.xml --json
printf '%s\n' "$out" | python3 -c '
import json, sys
gpu = json.load(sys.stdin)["gpu_groups"][0]["gpus"][0]
assert gpu["memory"] > 1 << 20, gpu
assert gpu["in"]["bandwidth"] > 1e6 and gpu["out"]["bandwidth"] > 1e6, gpu
assert gpu["kernel"]["latency"] > 0 and gpu["kernel"]["bandwidth"] > 1e6, gpu
'
# The simulator takes it from there.
expect 0 "$XYLEM" stencil --machine live.xml --gpus 1 --blocks 10 --iterations 4 --policy eager

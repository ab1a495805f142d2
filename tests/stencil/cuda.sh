#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# xylem stencil --real --gpus with a driver of CUDA that is written for tests: kernels as NVRTC gets them, and
# memory of the program that the driver cannot pin.
# shellcheck disable=SC2154 # out and err are set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

command -v c++ >/dev/null || { echo "left out: there is no c++"; exit 77; }
mkdir driver
cc -g -O1 -shared -fPIC -pthread "$XYLEM_SOURCE_DIR/tests/gpu/cuda.c" -o driver/libcuda.so.1 -ldl -Wl,-soname,libcuda.so.1
cc -g -O1 -shared -fPIC "$XYLEM_SOURCE_DIR/tests/gpu/nvrtc.c" -o driver/libnvrtc.so.13
export LD_LIBRARY_PATH=$PWD/driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} XYLEM_GPU_DRIVER=cuda TEST_CUDA=alone

# Tasks that share launches, in both precisions.
for precision in double single; do
    expect 0 "$XYLEM" stencil --real --gpus 1 --graph jacobi --blocks 9x4 --cells 6x7 --iterations 4 --memory 12KiB --precision $precision
    says "$out" "test device 0"
    says "$out" "bit for bit"
done

# A domain in a file is never pinned, and this driver pins nothing and refuses to copy what is not pinned: all of it
# goes through pieces of pinned memory.
export TEST_CUDA="alone unpinned strict"
expect 0 "$XYLEM" stencil --real --gpus 1 --graph jacobi --blocks 12 --block 4KiB --iterations 5 --memory 28KiB --file domain.bin --json
printf '%s\n' "$out" | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["checked"] and r["bytes_staged"] == r["bytes_loaded"] + r["bytes_stored"] > 0, r
'
expect 0 "$XYLEM" stencil --real --gpus 2 --graph red-black --blocks 12 --block 4KiB --iterations 5 --memory 28KiB --file domain.bin
says "$out" "staged"
says "$out" "bit for bit"

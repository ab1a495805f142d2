#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# xylem stencil --kernel-source: the user's own stencils on cores, ranks and GPUs, and what is refused.
# shellcheck disable=SC2154 # out and err are set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"
needs cc
kernels=$XYLEM_SOURCE_DIR/examples/kernels
export CC="cc -O1" # compiles in a fifth of the time

# Random ones against a loop in Python, and a wave against its solution.
python3 "$XYLEM_SOURCE_DIR/tests/stencil/kernels.py" "$XYLEM_BUILD_DIR" "$XYLEM_SOURCE_DIR" random || die "random kernels"
python3 "$XYLEM_SOURCE_DIR/tests/stencil/kernels.py" "$XYLEM_BUILD_DIR" "$XYLEM_SOURCE_DIR" wave || die "the standing wave"

# The examples; the wave with a memory that is far too small, and its picture.
plate=(--kernel-source "$kernels/heat.c" --blocks 6x6 --cells 8x9)
expect 0 "$XYLEM" stencil --real "${plate[@]}" --iterations 80 --until 0.5 --every 5 --json
printf '%s\n' "$out" | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["checked"] and r["converged"] and r["kernels"] == "own" and r["kernel_source"].endswith("heat.c"), r
'
shot=(--kernel-source "$kernels/wave.c" --graph jacobi --blocks 6x4x1 --cells 4x5x16 --iterations 12)
expect 0 "$XYLEM" stencil --real "${shot[@]}" --file wave.bin --memory 40KiB
says "$out" "bit for bit"
expect 0 python3 "$kernels/slice.py" wave.bin 6x4x1 4x5x16 wave.png
[ "$(head -c 4 wave.png | tail -c 3)" = PNG ] || die "not a picture"
expect 1 python3 "$kernels/slice.py" wave.bin 6x4x1 4x5x17 wave.png
says "$err" "wave.bin has"

# As CUDA compiles it, with the driver for tests.
if command -v c++ >/dev/null; then
    mkdir driver
    cc -g -O1 -shared -fPIC -pthread "$XYLEM_SOURCE_DIR/tests/gpu/cuda.c" -o driver/libcuda.so.1 -ldl -Wl,-soname,libcuda.so.1
    cc -g -O1 -shared -fPIC "$XYLEM_SOURCE_DIR/tests/gpu/nvrtc.c" -o driver/libnvrtc.so.13
    cuda=(env "LD_LIBRARY_PATH=$PWD/driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" XYLEM_GPU_DRIVER=cuda TEST_CUDA=alone)
    expect 0 "${cuda[@]}" "$XYLEM" stencil --real --gpus 1 "${shot[@]}" --memory 40KiB
    says "$out" "bit for bit"
    # A text for CUDA alone, with that for the plain loop beside it.
    printf '#define XY_RADIUS 1\nXY_CELL { return XY_AT1(1); }\n' >beside.c
    printf '#define XY_RADIUS 1\n__device__ double f(double x) { return x; }\nXY_CELL { return f(XY_AT1(1)); }\n' >beside.cu
    expect 0 "${cuda[@]}" "$XYLEM" stencil --real --gpus 1 --kernel-source beside.cu --blocks 5 --cells 40 --iterations 3
    says "$out" "bit for bit"
fi

# refused TEXT PART [OPTION...]: the kernel TEXT is refused with one line that has PART. Every third one in make test.
tried=0
refused() {
    local text=$1 part=$2
    shift 2
    tried=$((tried + 1))
    is_chosen $tried 3 || return 0
    printf '%b' "$text" >k.c
    expect 1 "$XYLEM" stencil --real --kernel-source k.c --blocks 5x5 --cells 4x4 --iterations 3 "$@"
    one_line "$err"
    says "$err" "$part"
}
one='#define XY_RADIUS 1\n'
refused "$one"'XY_CELL\n{\n    return missing;\n}\n' "'k.c' does not compile: k.c:4:"
refused 'XY_CELL { return 0; }\n' "XY_RADIUS is not defined"
refused "$one" "has no XY_CELL"
refused "$one"'XY_CELL { return XY_AT2(0, 2); }\n' "at offset (0, 2), and its XY_RADIUS is 1; define it as 2"
refused "$one"'XY_CELL { return XY_AT2(0, 1 + (XY_ITERATION == 2 && XY_AT2(0, 0) != 1)); }\n' "offset (0, 2)"
refused "$one"'XY_CELL { return XY_AT2(1, -1); }\n' "at offset (1, -1), which is on no axis; add --points 9"
refused "$one"'XY_CELL { return XY_AT3(1, 0, 0); }\n' "more than the 2 dimensions"
refused '#define XY_RADIUS 5\nXY_CELL { return XY_AT2(0, 5); }\n' "radius 5, and blocks have 4 cells in dimension 1"
refused '#define XY_RADIUS 17\nXY_CELL { return 0; }\n' "from 1 to 16"
refused "$one"'#define XY_LEVELS 3\nXY_CELL { return 0; }\n' "1 or 2"
refused "$one"'#define XY_LEVELS 2\nXY_CELL { return XY_BEFORE; }\n' "add --graph jacobi"
printf '%b' "$one"'XY_CELL { return XY_AT2(0, 0); }\n' >k.c
# Options of the user win.
printf '#define XY_RADIUS 1\n#ifdef __OPTIMIZE__\n#error optimised\n#endif\nXY_CELL { return XY_AT2(0, 1); }\n' >plain.c
CC="cc -O0" expect 0 "$XYLEM" stencil --real --kernel-source plain.c --blocks 5x5 --cells 4x4 --iterations 3
CC="env LC_ALL=C cc -DX" expect 0 "$XYLEM" stencil --real --kernel-source k.c --blocks 5x5 --cells 4x4 --iterations 3
CC=no-such-compiler refused "$one"'XY_CELL { return 0; }\n' "there is no compiler 'no-such-compiler'"
expect 1 "$XYLEM" stencil --real --kernel-source none.c
one_line "$err"
cp k.c k.txt
expect 1 "$XYLEM" stencil --real --kernel-source k.txt
says "$err" "is not a kernel file"
cp k.c k.cu
expect 1 "$XYLEM" stencil --real --kernel-source k.cu
says "$err" "is for GPUs"
expect 2 "$XYLEM" stencil --kernel-source k.c
says "$err" "--kernel-source is for real runs"

# Several ranks report an error once.
if [ -x "$XYLEM_BUILD_DIR/bin/mpiexec" ]; then
    printf '%bXY_CELL { return missing; }\n' "$one" >k.c
    expect 1 "$XYLEM_BUILD_DIR/bin/mpiexec" -n 3 "$XYLEM" stencil --real --kernel-source k.c --blocks 5 --cells 4
    [ "$(grep -c missing <<<"$err")" -eq 1 ] || die "not once: $err"
fi

# On OpenCL devices: the line of an error of their compiler, and bits that are not those of the plain loop.
export XYLEM_GPU_DRIVER=opencl POCL_CACHE_DIR="$XYLEM_BUILD_DIR/pocl-cache"
expect 0 "$XYLEM" machine --json
if [[ $out == *'"gpu": 1'* ]]; then
    expect 0 "$XYLEM" stencil --real --gpus 1 --cpus 1 --use-all "${plate[@]}" --iterations 5
    says "$out" "bit for bit"
    refused "$one"'XY_CELL { return XY_AT2(0, 1) + (XY_REAL)
#ifdef XY_C
    1
#else
    2
#endif
; }\n' "differs from the one of the plain loop of 'k.c'" --gpus 1
    printf '%bXY_CELL\n{\n#ifdef XY_OPENCL\n    return missing;\n#endif\n    return 0;\n}\n' "$one" >k.c
    expect 1 "$XYLEM" stencil --real --gpus 1 --kernel-source k.c --blocks 5 --cells 4
    says "$err" "k.c:5"
    expect 1 "$XYLEM" stencil --real --gpus 1 --kernel-source k.cu --blocks 5 --cells 4
    says "$err" "is for devices of cuda"
fi
[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'xylem-kernel.*' -user "$(id -un)" -mmin -1 2>/dev/null)" ] || die "files are left over"

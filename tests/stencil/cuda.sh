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

# A kernel of a program that is given other arguments than it has: CUDA would take what lies behind them.
cat > given.c <<'END'
#include <stdlib.h>
#include <xylem.h>
int main(int argc, char **argv)
{
    static const char text[] = "\nXY_KERNEL scale(XY_GLOBAL double *x, long n)\n"
                               "{ if (XY_ID(0) < n) x[XY_ID(0)] *= 2; }\n";
    double x[8] = {1, 2, 3};
    long n = 8;
    xylem_kernel k = {.text = text, .name = "scale", .threads = {8}};
    xylem_tasks *t;
    if (argc > 1) {
        k.values[0].value = &n;
        k.values[0].size = (size_t)atoi(argv[1]);
    }
    if (xylem_tasks_create(&t) != 0)
        return 9;
    xylem_tasks_data(t, &(xylem_data){.address = x, .bytes = sizeof(x)});
    xylem_tasks_add(t, &(xylem_task){.kernel = &k}, &(xylem_access){0, XYLEM_READ_WRITE}, 1);
    if (xylem_tasks_run(t, &(xylem_run_options){.clock = XYLEM_REAL, .gpus = 1}, NULL) != 0)
        return 1;
    return x[0] == 2 && x[2] == 6 ? 0 : 8;
}
END
cc -I"$XYLEM_BUILD_DIR/include" given.c -o given -L"$XYLEM_BUILD_DIR/lib" -lxylem -Wl,-rpath,"$XYLEM_BUILD_DIR/lib"
export TEST_CUDA=alone
expect 0 ./given 8
expect 1 ./given
one_line "$err"
says "$err" "kernel 'scale' takes 2 arguments, and 1 were given"
expect 1 ./given 4
one_line "$err"
says "$err" "argument 2 of kernel 'scale' takes 8 bytes, and 4 were given"

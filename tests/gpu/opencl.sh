# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Ranks of one core that wait for an OpenCL device wait together, in every call that waits.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
sources=$XYLEM_SOURCE_DIR/tests/gpu

# The loader alone is installed, without the file that -lOpenCL means.
build waits_opencl -DCL_TARGET_OPENCL_VERSION=120 -l:libOpenCL.so.1 2>/dev/null || skip "no libOpenCL.so.1"
timeout 60 ./waits_opencl finish >/dev/null 2>&1 || skip "no OpenCL device"

run 0 -n 64 --workers 1 ./waits_opencl finish
says "$out" "finish: 64 ranks waited, sum right"
for how in events read write map; do
    run 0 -n 8 --workers 1 ./waits_opencl $how
    says "$out" "$how: 8 ranks waited, sum right"
done

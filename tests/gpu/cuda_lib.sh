# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by tests of CUDA in ranks: compiles the driver for tests, which stands in for NVIDIA's.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
sources=$XYLEM_SOURCE_DIR/tests/gpu

mkdir driver
cc -g -O1 -shared -fPIC -pthread "$sources/cuda.c" -o driver/libcuda.so.1 -ldl -Wl,-soname,libcuda.so.1
export LD_LIBRARY_PATH=$PWD/driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
cc -g -O1 -shared -fPIC "$sources/nvrtc.c" -o driver/libnvrtc.so.13

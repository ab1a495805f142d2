# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Memory of a device in every kind of MPI call, with the driver for tests: mixed with memory of the host among ranks,
# and in use by default streams.
. "$XYLEM_SOURCE_DIR/tests/gpu/cuda_lib.sh"

build device_order -ldl

# Every kind of call where some ranks have memory of the device and others of the host; vectors that
# are large in all, small, and of a few elements.
for how in "4 16384" ${XYLEM_SOAK:+"16 1500" "6 16384" "16 16384"}; do
    # shellcheck disable=SC2086 # words
    run 0 --workers 2 -n ${how% *} ./device_order mixed ${how#* }
    says "$out" "mixed: 255 checks"
    quiet
done
if is_chosen 1 2; then
    run 0 -n 4 --processes 2 ./device_order mixed 1000
    says "$out" "mixed: 255 checks"
    quiet
fi

# The default stream of a rank comes before its calls, however late the device works; calls without
# memory of the device do not wait for it.
export TEST_CUDA=late
run 0 -n 2 --workers 1 ./device_order late
says "$out" "late: 289 checks"
quiet
run 0 -n 3 --processes 2 ./device_order late
says "$out" "late: 289 checks"
quiet
if is_chosen 3 2; then
    run 0 -n 2 ./device_order legacy
    says "$out" "legacy: 290 checks"
    quiet
fi
# Programs that are compiled for other libraries.
for library in ${XYLEM_SOAK:+openmpi/libmpi.so.40 mpich/libmpich.so.12}; do
    [ -f "$XYLEM_BUILD_DIR/tests/abi/${library%/*}/mpi.h" ] || continue
    cc -g -O1 -I"$XYLEM_BUILD_DIR/tests/abi/${library%/*}" "$sources/device_order.c" "$XYLEM_BUILD_DIR/lib/xylem/$library" -ldl \
        -Wl,--allow-shlib-undefined -o other
    run 0 -n 3 --processes 2 ./other late
    says "$out" "late: 289 checks"
    quiet
done
run 0 -n 2 ./device_order overlap
says "$out" "overlap: 57 checks"
quiet
# A rank that waits for its device, alone on its core, still forwards what others need.
cc -D_GNU_SOURCE -O1 -shared -fPIC "$XYLEM_SOURCE_DIR/tests/mpi/random/more_cores.c" -o more_cores.so
export TEST_CUDA_ONE=1
for ((n = 0; n < ${XYLEM_SOAK:+2} + 1; n++)); do
    LD_PRELOAD=$PWD/more_cores.so XYLEM_TEST_CORES=8 run 0 -n 8 ./device_order overlap 3000
    says "$out" "overlap: 57 checks"
    quiet
done

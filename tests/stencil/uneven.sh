#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# GPUs of different speeds and memories: in machine files, as real ones are driven, and two OpenCL devices.
# shellcheck disable=SC2154 # out is set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

gpu() { # MEMORY SPEED
    echo "<gpu memory='$1' in-latency='1us' in-bandwidth='20GB/s' out-latency='1us' out-bandwidth='20GB/s'
        kernel-latency='3us' kernel-bandwidth='$2'/>"
}
machine() { # FILE GPUS
    echo "<machine name='m' version='1'><node><core count='2'/><gpus>$2</gpus></node></machine>" >"$1"
}
machine uneven.xml "$(gpu 1GiB 100GB/s)$(gpu 512MiB 300GB/s)"
machine even.xml "$(gpu 1GiB 100GB/s)$(gpu 1GiB 100GB/s)"
machine small.xml "$(gpu 64MiB 100GB/s)$(gpu 16MiB 100GB/s)"

value() { # KEY ARGUMENTS...
    local key=$1
    shift
    expect 0 "$XYLEM" stencil --json --gpus 2 --blocks 64x4 --block 1MiB --iterations 20 --graph jacobi --task-time 1ms "$@"
    printf '%s\n' "$out" | python3 -c "import json, sys; print(json.load(sys.stdin)['$key'])"
}
# The second one is three times as fast as the first: both together do in a quarter of the time what one of them
# does, and policies that look at times come near to it, although decisions are far ahead of the GPUs (--as-real).
for mode in "" --as-real; do
    for policy in foresight closure; do
        # shellcheck disable=SC2086 # nothing, or one word
        time=$(value makespan --machine uneven.xml --policy $policy $mode)
        # shellcheck disable=SC2086
        even=$(value makespan --machine even.xml --policy $policy $mode)
        python3 -c "
assert abs($(value compute_bound --machine uneven.xml --policy $policy $mode) - 62 * 2 * 20e-3 / 4) < 1e-6
assert $time < 1.15 * 0.62 and $even > 1.2, ('$policy $mode', $time, $even)" || die "$policy $mode"
    done
done
# Each memory has its own size: less is moved than if both had that of the smaller one.
large=$(value loads --machine small.xml --as-real)
small=$(value loads --machine small.xml --as-real --memory 16MiB)
[ "$large" -lt "$small" ] || die "$large loads with 64 MiB and 16 MiB, $small with 16 MiB each"

# Two OpenCL devices: one uses all cores and the other one core.
export XYLEM_GPU_DRIVER=opencl POCL_DEVICES="pthread basic" POCL_CACHE_DIR="$XYLEM_BUILD_DIR/pocl-cache"
expect 0 "$XYLEM" machine --json
[[ $out == *'"gpu": 2'* ]] || skip "no two OpenCL devices (pocl-opencl-icd)"
for policy in foresight closure relay dmdar lws; do
    expect 0 "$XYLEM" stencil --real --gpus 2 --graph jacobi --blocks 16x1 --cells 16x64 --iterations 6 --memory 100KiB --policy $policy
    says "$out" "bit for bit"
done

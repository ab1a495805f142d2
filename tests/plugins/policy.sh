#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# xylem stencil --policy ./mine.so: the example of a policy in virtual and real time, in a study and on a GPU, and
# policies that break a rule.
# shellcheck disable=SC2154 # out and err are set by expect
. "$XYLEM_SOURCE_DIR/tests/plugins/lib.sh"

plugin nearest.so examples/plugins/nearest.c
plugin eager.so tests/plugins/faulty_policy.c -Wno-unused-function

# The same decisions give the same times: a plug-in that is eager, and the built-in one.
for more in "" "--as-real --look-ahead 0" "--gpus 3" "--graph jacobi"; do
    for policy in ./eager.so eager; do
        # shellcheck disable=SC2086 # several words
        expect 0 "$XYLEM" stencil --blocks 40 --iterations 12 --memory 40MiB --policy $policy $more --json
        printf '%s\n' "$out" | grep -E '"(makespan|loads|stores|evictions)"' >"$(basename $policy)".txt
    done
    cmp eager.so.txt eager.txt || die "two policies that are eager differ: $more"
done

# Virtual time: the pieces of a policy are used (fewer loads than in the order of the program).
loads() {
    expect 0 "$XYLEM" stencil --blocks 64 --iterations 20 --memory 60MiB --policy "$1" --json
    printf '%s\n' "$out" | python3 -c 'import json, sys; print(json.load(sys.stdin)["loads"])'
}
near=$(loads ./nearest.so)
eager=$(loads eager)
[ "$near" -lt "$eager" ] || die "nearest.so loads $near, eager $eager"
expect 0 "$XYLEM" stencil --blocks 64 --iterations 20 --memory 60MiB --policy nearest.so
says "$out" "nearest.so"
expect 0 "$XYLEM" stencil --blocks 8x8 --iterations 5 --gpus 2 --memory 60MiB --policy ./nearest.so --as-real
expect 0 "$XYLEM" stencil --blocks 8x8 --iterations 5 --memory 60MiB --policy ./nearest.so --trace n.xyt
expect 0 "$XYLEM" view n.xyt

# Real time, on cores, from a file and on a GPU: the bits of the plain loop.
for more in "--cpus 2" "--file domain.bin --memory 64KiB"; do
    # shellcheck disable=SC2086 # several words
    expect 0 "$XYLEM" stencil --real --blocks 20 --block 8KiB --iterations 7 --policy ./nearest.so $more
    says "$out" "bit for bit"
done
export POCL_CACHE_DIR="$XYLEM_BUILD_DIR/pocl-cache"
if XYLEM_GPU_DRIVER=opencl "$XYLEM" machine --json | grep -q '"gpu": 1'; then
    for ahead in -1 2; do
        XYLEM_GPU_DRIVER=opencl expect 0 "$XYLEM" stencil --real --gpus 1 --graph jacobi --blocks 12 --block 4KiB \
            --iterations 6 --memory 28KiB --policy ./nearest.so --look-ahead $ahead
        says "$out" "bit for bit"
    done
fi

# A study beside built-in policies.
printf 'policy eager ./nearest.so\nblocks 16 24\n' >study.txt
expect 0 "$XYLEM" stencil --iterations 5 --study study.txt --csv study.csv
[ "$(grep -c '^./nearest.so' study.csv)" = 2 ] || die "study.csv: $(cat study.csv)"

# What cannot be loaded.
refused() { # NAME MESSAGE
    expect 1 "$XYLEM" stencil --blocks 40 --iterations 12 --memory 40MiB --policy "$1"
    one_line "$err"
    says "$err" "$2"
}
refused ./none.so "./none.so"
echo "not an object" >text.so
refused ./text.so "cannot load policy './text.so'"
fault() { # FAULT MESSAGE
    plugin "$1.so" tests/plugins/faulty_policy.c -Wno-unused "-D$1"
    refused "./$1.so" "$2"
}
fault NO_TABLE "it must define 'xylem_plugin_policy'"
fault OTHER_VERSION "version 99 of xylem_plugin.h; this Xylem has version 1"
fault NO_PICK "no function 'pick'"
fault UNKNOWN_EVICTION "no eviction is called 'by-colour'"
fault REFUSES "'create' returned 7"

# What breaks a rule: one message in each engine, no crash, no hang.
broken() { # FAULT MESSAGE
    fault "$1" "$2"
    for more in --as-real "--real --memory 24KiB --block 4KiB" "--real --file $1.bin --memory 24KiB --block 4KiB"; do
        # shellcheck disable=SC2086 # several words
        expect 1 "$XYLEM" stencil --blocks 40 --iterations 12 --memory 40MiB --policy "./$1.so" $more
        one_line "$err"
        says "$err" "$2"
    done
}
broken PICKS_TWICE "which was picked before"
broken PICKS_UNREADY "which is not ready"
broken PICKS_BEYOND "which does not exist"
broken PICKS_NOTHING "it chose none of the ready ones"
broken EVICTS_USED "which is in use or not in that memory"
broken EVICTS_BEYOND "evicts datum -5, which does not exist"
fault PREFETCHES_BEYOND "which does not exist"

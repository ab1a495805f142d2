#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Run one libFuzzer target.
#
#   tests/fuzz.sh TARGET SEEDS_DIR
#
# The target runs the same inputs every time: the seeds, and 2000 inputs made of them from XYLEM_SEED.
# XYLEM_FUZZ_SECONDS=N (give it hours after a change of what reads files), and XYLEM_SOAK, fuzz for N
# seconds instead (1) with a corpus that grows from run to run in the build tree beside the target, where
# a finding is kept.
set -euo pipefail
. "$(dirname "$0")/testing.sh"

[ $# -eq 2 ] || { sed -n '3,12s/^# \{0,1\}//p' "$0"; exit 2; }
target=$(realpath "$1")
seeds=$2
work=$(dirname "$target")/$(basename "$target").d
corpus=$work/corpus
findings=$work/findings

if [ ! -d "$seeds" ] || [ -z "$(ls -A "$seeds")" ]; then
    echo "fuzz: $seeds has no seeds; a target starts from valid inputs" >&2
    exit 1
fi
length=(-max_total_time="${XYLEM_FUZZ_SECONDS:-1}")
if [ -z "${XYLEM_FUZZ_SECONDS:-}${XYLEM_SOAK:-}" ]; then
    corpus=$work/seeds
    rm -rf "$corpus"
    # The energy of an input by its time and values of comparisons, which may be addresses, would choose others.
    length=(-runs=2000 -entropic=0 -use_cmp=0)
fi
mkdir -p "$corpus" "$findings"
cp -r "$seeds"/. "$corpus"/

export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=0:allocator_may_return_null=1:detect_leaks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
log=$work/log
status=0
# A single input may take 5 seconds or 1 GiB: more is a finding too.
seed=$(($(testing_seed) & 0x7fffffff))
"$target" "${length[@]}" -seed=$seed -timeout=5 -rss_limit_mb=2048 -malloc_limit_mb=1024 \
    -max_len=65536 -print_final_stats=1 -artifact_prefix="$findings/" -close_fd_mask=3 \
    "$corpus" >"$log" 2>&1 || status=$?
newest() {
    find "$findings" -type f -newer "$corpus" -name "$1" -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2-
}
# The fuzzer counts seconds that pass. On a busy machine only those of computing count.
if [ "$status" -eq 70 ] && finding=$(newest 'timeout-*') && [ -n "$finding" ] &&
    (ulimit -t 5 && "$target" -timeout=600 "$finding") >>"$log" 2>&1; then
    rm -f "$finding"
    status=0
fi
if [ "$status" -ne 0 ]; then
    tail -60 "$log"
    finding=$(newest '*')
    echo
    echo "fuzz: $(basename "$target") failed (exit code $status); the whole log is in $log"
    echo "fuzz: to see it again:  $target ${finding:-$findings/...}"
    exit 1
fi
grep -E 'stat::number_of_executed_units|^Done' "$log" || true

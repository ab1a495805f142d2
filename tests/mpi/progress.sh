#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The options of progress: what is refused says why in one line, `auto` remembers what it measured, and
# progress threads do not keep ready ranks waiting.
#
#   progress.sh MPIEXEC NBC
set -euo pipefail
mpiexec=$1 nbc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XYLEM_COSTS=$work/costs.xml

# refused TEXT OPTION...: fails with one line that has TEXT in it.
refused() {
    local text=$1
    shift
    if "$mpiexec" "$@" -n 40 "$nbc" >"$work/out" 2>&1; then
        echo "accepted: $*" >&2
        exit 1
    fi
    if [ "$(wc -l <"$work/out")" != 1 ] || ! grep -qF -- "$text" "$work/out"; then
        echo "$*: expected one line with '$text', got:" >&2
        cat "$work/out" >&2
        exit 1
    fi
}

refused "needs a free core for each of the 40 ranks" --workers 1 --progress threads --progress-place dedicated
refused "'x' is not a split" --split x
refused "there are binomial, scatter-allgather, chain" --algorithm bcast=ring
refused "no collective 'bcats'" --algorithm bcats=chain
refused "--progress" --progress task

# says TEXT OPTION...: runs, and the output has TEXT in it.
says() {
    local text=$1
    shift
    "$mpiexec" "$@" "$nbc" --repetitions 1 --size 4096 --collective allreduce >"$work/out" 2>&1
    if ! grep -qF -- "$text" "$work/out"; then
        echo "$*: expected '$text', got:" >&2
        cat "$work/out" >&2
        exit 1
    fi
}

says "computes as long as it communicates" -v --comm-cores auto -n 3
grep -q "^3 .*$(basename "$nbc")\$" "$work/costs.xml.overlap"
says "measured before" -v --comm-cores auto -n 3
says "allreduce" -n 4 --progress threads --progress-order priority --progress-priority 3
says "progress threads (bind, priority) did allreduce" -v -n 4 --progress threads \
    --progress-place numa,allreduce=bind --progress-order allreduce=priority
says "progress threads (numa, semaphore) did allreduce" -v -n 4 --progress threads
says "split-tree: allreduce with S = 1" -v -n 4 --split 1
refused "'near' is not a place of progress threads; there are numa, odd-even" --progress threads --progress-place near
refused "did you mean scan" --progress threads --progress-place scam=numa
refused "'fifo' is not an order of progress threads" --progress threads --progress-order scan=fifo

# Threads on the core of their ranks: ranks that are ready run between the turns of threads that poll, so
# that few turns are in vain. A thread that kept its ranks from running would poll thousands of times.
if [ "$(nproc)" -ge 2 ]; then
    for order in round-robin suspend semaphore suspend-semaphore priority; do
        "$mpiexec" -v -n 6 --comm-cores 1 --progress threads --progress-place bind --progress-order $order \
            "$nbc" --repetitions 20 --size 1024 --collective gather --kernels 1 >"$work/out" 2>&1
        read -r turns vain < <(sed -n 's/.*had \([0-9]*\) turns, \([0-9]*\) of them.*/\1 \2/p' "$work/out")
        if [ "$turns" -lt 200 ] || [ "$vain" -gt $((5 * (turns - vain))) ]; then
            echo "$order: $vain of $turns turns in vain" >&2
            exit 1
        fi
    done
fi

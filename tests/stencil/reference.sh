#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The published curves of 2016 and the times of StarPU under SimGrid (tests/data/stencil/*.csv): the
# policies keep their order, and their distance where StarPU's is known. docs/measurements.md says why
# the memory is 180 MiB and the eviction lru here, and explains the exceptions.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

limit=$'memory 180MiB\neviction lru\nblocks 66 166 366\ngpus 1 2\n'
printf 'policy modular-ready dmdar lws dmda eager\n%s' "$limit" >queues.txt
printf 'policy cache-oblivious\ngraph natural\n%s' "$limit" >trapezoids.txt
printf 'policy eager dmda prio\nblocks 166\niterations 20\nmemory 180MiB\neviction lru\ngpus 2\n' >short.txt
uneven=$'memory none\nload static dynamic\nblocks 66 166\ngpus 2\n'
printf 'policy cache-oblivious\ngraph natural\n%s' "$uneven" >uneven1.txt
printf 'policy dmdar foresight\n%s' "$uneven" >uneven2.txt
# More tasks than a trial runs: those that come first are the cheap ones.
printf 'policy foresight\nmemory none\nload static\nblocks 1916\ngpus 2\n' >uneven3.txt
printf 'policy foresight\nmemory 200MiB\nblocks 66 166 366 666\ngpus 1 2\n' >own.txt
for study in queues trapezoids short uneven1 uneven2 uneven3 own; do
    expect 0 "$XYLEM" stencil --study "$study.txt" --csv "$study.csv"
done
python3 "$XYLEM_SOURCE_DIR/tests/stencil/reference.py" "$XYLEM_SOURCE_DIR/tests/data/stencil"

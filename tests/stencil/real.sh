#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# xylem stencil --real: what it prints, files, a full disk, convergence.
# shellcheck disable=SC2154 # out is set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

expect 0 "$XYLEM" stencil --real --blocks 20 --block 8KiB --iterations 7 --load dynamic --json
printf '%s\n' "$out" | python3 -c '
import json, sys
r = json.load(sys.stdin)
for key in "policy makespan compute_bound ratio loads stores scheduling_seconds".split():
    assert key in r, key
assert r["real"] and r["checked"] and r["ran"] == "closure" and r["ratio"] >= 1, r
'
printf '1 3 2\n2 1 1\n' >load.txt
expect 0 "$XYLEM" stencil --real --blocks 9x9 --points 9 --graph natural --cells 5x9 --iterations 6 --load load.txt
expect 0 "$XYLEM" stencil --real --blocks 5x5x5 --graph jacobi --iterations 3 --block 4KiB --policy foresight -o film.html


# What a real run did: a trace like that of virtual time, and the same pictures.
expect 0 "$XYLEM" stencil --real --blocks 64x1 --cells 4x64 --graph jacobi --iterations 9 --cpus 2 --trace real.xyt --svg real
expect 0 "$XYLEM" view real.xyt --json
[ -z "$err" ] || die "the trace is not whole: $err"
printf '%s\n' "$out" | python3 -c '
import json, sys
r = json.load(sys.stdin)
names = [row["name"] for row in r["rows"]]
assert r["clock"] == "real" and r["states"] >= 62 * 9, r
assert names[:4] == ["worker 0", "worker 1", "cache of core 0", "cache of core 1"], names
assert any("task" in row["kinds"] for row in r["rows"]), r
'
[ "$(echo real-*.svg)" = "real-iteration.svg real-links.svg real-memory.svg real-time.svg" ] || die "other pictures: $(echo real-*.svg)"
expect 0 "$XYLEM" stencil --real --blocks 20 --block 8KiB --iterations 4 --file traced.bin --memory 64KiB --trace file.xyt
expect 0 "$XYLEM" view file.xyt
[ -z "$err" ] || die "the trace is not whole: $err"
says "$out" "file to memory"
expect 1 "$XYLEM" stencil --real --blocks 20 --block 8KiB --trace no/such/directory.xyt
one_line "$err"

# A study in real time: one run after the other, and the table says what it is.
printf 'policy closure eager\nblocks 16x1 32x1\ncells 4x32\ncpus 1 2\n' >study.txt
expect 0 "$XYLEM" stencil --real --graph jacobi --iterations 5 --study study.txt --csv study.csv --page study.html --json
[ "$(grep -c ',real,this,0,[12],' study.csv)" = 8 ] || die "study.csv: $(cat study.csv)"
[ "$(grep -c '"checked": true' "$WORK/.out")" = 8 ] || die "not all was checked"
says "$(cat study.html)" "nanoseconds per cell and iteration"
expect 2 "$XYLEM" stencil --real --study study.txt --threads 2
expect 2 "$XYLEM" stencil --real --study study.txt --file a.bin
echo gpus 1 >>study.txt
expect 1 "$XYLEM" stencil --real --study study.txt
one_line "$err"
says "$err" "study.txt:5"

# The same iteration in real and in virtual time.
for clock in --real --gpus=1; do
    expect 0 "$XYLEM" stencil "$clock" --blocks 6x6 --cells 8x8 --iterations 400 --until 1e-3 --every 5 --json
    printf '%s\n' "$out" | grep '"iterations"' >"iterations$clock"
done
cmp iterations--real iterations--gpus=1 || die "not the same number of iterations"

# Out of core: the second run goes on where the first ended, with bits as if there had been one run.
expect 0 "$XYLEM" stencil --real --blocks 16 --block 8KiB --iterations 4 --file two.bin --memory 48KiB
expect 0 "$XYLEM" stencil --real --blocks 16 --block 8KiB --iterations 4 --file two.bin --memory 48KiB
expect 0 "$XYLEM" stencil --real --blocks 16 --block 8KiB --iterations 8 --file one.bin --memory 48KiB
cmp one.bin two.bin || die "two runs of 4 iterations are not one of 8"
# A disk that is full: one line, and nothing is lost.
before=$(cksum <one.bin)
expect 1 bash -c 'trap "" XFSZ; ulimit -f 64; exec "$@"' _ "$XYLEM" stencil --real --blocks 16 --block 8KiB --iterations 8 --file one.bin --memory 48KiB
says "$err" "not enough space for a work file"
one_line "$err"
[ "$before" = "$(cksum <one.bin)" ] || die "one.bin has changed"
[ "$(echo one.bin*)" = one.bin ] || die "something was left behind: $(echo one.bin*)"
# Whatever ends the run, the work file goes.
mkdir signal && cd signal
"$XYLEM" stencil --real --blocks 64 --block 64KiB --iterations 100000 --no-check --file a.bin &
pid=$!
for _ in $(seq 200); do [ -z "$(ls -A)" ] || break; sleep 0.05; done
kill -TERM $pid
wait $pid && die "it ended in peace"
[ -z "$(ls -A)" ] || die "left behind: $(ls -A)"
cd ..
expect 1 "$XYLEM" stencil --real --blocks 17 --block 8KiB --file one.bin
expect 1 "$XYLEM" stencil --real --blocks 16 --block 8KiB --memory 16KiB --file one.bin
expect 2 "$XYLEM" stencil --blocks 16 --file one.bin
expect 2 "$XYLEM" stencil --real --blocks 16 --cells 4x4

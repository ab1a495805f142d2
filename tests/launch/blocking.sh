# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A rank that waits in the C library lets the other ranks of its core run.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build blocking -pthread
mkfifo fifo
run 0 -n 2 --workers 1 ./blocking
quiet
[ "$(wc -l <<<"$out")" = 28 ] || die "$out"
run 0 -n 7 --workers 2 ./blocking
quiet

# What still waits is told.
run 0 -n 2 --workers 1 -v ./blocking read
[[ $err != *"other ranks of the core wait"* ]] || die "$err"
build sleeper
run 0 -n 2 --workers 1 -v ./sleeper
says "$err" "'./sleeper' calls gethostbyname, pause: other ranks of the core wait meanwhile"

# Rank 0 waits for its input, and the others go on: what they print appears before it comes.
build prompt
mkfifo input
(timeout 240 "$bin/mpiexec" -n 3 --workers 1 ./prompt <input >answer 2>&1 || echo "exit code $?" >>answer) &
exec 8>input
for ((i = 0; i < 600; i++)); do
    grep -q "others are done" answer 2>/dev/null && break
    sleep 0.1
done
grep -q "your name? " answer || die "the question is not seen: $(cat answer)"
echo "Xylem" >&8
exec 8>&-
wait
same "$(cat answer)" $'your name? others are done\nhello Xylem'

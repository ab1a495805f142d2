#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Calibration of kernels of one's own: good ones get a model, and those that crash, fail, hang or
# cannot be loaded are named and get none. What is written is read, explained, drawn and checked.
# shellcheck disable=SC2154 # out and err are set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

needs cc
cat >kernels.c <<'END'
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile double sink;
static int add(size_t n)
{
    for (size_t i = 0; i < 20 * n; i++)
        sink += (double)i;
    return 0;
}
/* A busy machine makes arithmetic slower, but hardly sleep. */
int kernel(size_t n)
{
    return nanosleep(&(struct timespec){.tv_nsec = (long)n * 20000}, NULL);
}
int crash(size_t n)
{
    if (n > 150)
        abort();
    return add(n);
}
int leave(size_t n) { (void)n; _exit(5); }
int refuse(size_t n) { return n > 150 ? 3 : add(n); }
int uneven(size_t n)
{
    static unsigned state = 1;
    state = state * 1103515245u + 12345u;
    return add(n * (1 + (state >> 16) % 40));
}
END
cc -O1 -shared -fPIC -o kernels.so kernels.c
export XDG_CACHE_HOME=$WORK/cache
# shellcheck disable=SC2054 # a list of sizes
short=(--seconds 1s --max-time 8ms --sizes 8,1K,4K -k '')
compute=("${short[@]}" --compute)

# What is wrong with the command line is said before anything is measured.
expect 2 "$XYLEM" calibrate -k nonsense
says "$err" "unknown kernel 'nonsense'"
expect 2 "$XYLEM" calibrate -k '' -p nonsense
expect 2 "$XYLEM" calibrate -t 0
[ -z "$(find cache/xylem -type f 2>/dev/null)" ] || die "something was measured"
expect 0 "$XYLEM" calibrate --list
says "$out" "dtrtri"
expect 1 "$XYLEM" explain cost dgemm 100
says "$err" "run 'xylem calibrate'"
expect 2 "$XYLEM" explain cots dgemm 100
says "$err" "did you mean 'cost'"
expect 0 "$XYLEM" explain
says "$out" "xylem explain cost KERNEL SIZE"

# settle COMMAND...: what it says goes to said and warned. A busy machine may be too noisy for one
# attempt, but not for many: what was stored by an earlier one stays.
settle() {
    local attempts=0
    : >said
    until "$@" >>said 2>warned; do
        attempts=$((attempts + 1))
        grep -q "too noisy: .* run again on a quiet machine" warned || die "$(cat said warned)"
        grep -q "not stored; the others were, and earlier ones are kept" warned || die "$(cat warned)"
        [ $attempts -lt 10 ] || die "no model: $(cat warned)"
    done
}
# Everything, into the cache.
settle "$XYLEM" calibrate "${short[@]}"
for _ in 1 2 3 4 5; do
    ! grep -q "message  local - local" said || break
    sed 's/^/without messages between cores: /' said warned
    settle "$XYLEM" calibrate "${short[@]}"
done
says "$(cat said)" handover
says "$(cat said)" "message  local - local"
# Every model of memory and kernels says how it does at sizes that it was not shown.
[ "$(grep -c '^copy .*, held out [0-9.e+-]* %$' said)" -ge 1 ] || die "$(cat said)"
! grep -E '^(copy|reduce|dgemm) ' said | grep -v 'held out' || die "a model without held-out error"
settle "$XYLEM" calibrate "${compute[@]}" -p good=./kernels.so
if grep -q LAPACKE warned; then
    echo "left out: $(cat warned)"
    exit 77
fi
[ -s cache/xylem/costs-"$(uname -n)".xml ] || die "nothing in the cache"
expect 0 "$XYLEM" explain cost good 150
says "$out" "good 150, 1 thread"
expect 0 "$XYLEM" explain cost good 150 --json
printf '%s\n' "$out" | python3 -c 'import json, sys; m = json.load(sys.stdin); assert 0 < m["seconds"] < 1 and not m["extrapolated"]'
expect 0 "$XYLEM" explain cost good 1e9
says "$out" "extrapolated"
expect 0 "$XYLEM" explain cost copy 64K 1
says "$out" "GB/s"
expect 1 "$XYLEM" explain message 64K C1 C2
one_line "$err"

# Do they still hold? With a tolerance that no machine is too busy for, all but those that say that it
# takes a millionth of the time.
cat >falsify.py <<'END'
import sys
import xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1])
for kernel in root.iter("SeqKernel"):
    if (kernel.get("Name"), kernel.get("Threads")) in {("good", "1"), ("copy", "2"), ("reduce", "1")}:
        for params in kernel.iter("Params"):
            params.text = " ".join(repr(float(word) * 1e-6) for word in params.text.split())
for message in root.iter("Message"):
    if message.get("Cluster1") == "pu":
        for latency in message.iter("Latency"):
            latency.text = repr(float(latency.text) * 1e-6)
        for time in message.iter("Time"):
            for interval in time.iter("Interval"):
                for name in "a", "b":
                    interval.set(name, repr(float(interval.get(name)) * 1e-6))
root.write("false.xml")
END
python3 falsify.py cache/xylem/costs-*.xml
expect 1 "$XYLEM" calibrate --check --tolerance 100 -o false.xml
says "$err" "models are no longer valid; run 'xylem calibrate'"
for part in "copy     1 core: valid" "reduce   1 core: no longer valid" "good     1 thread: no longer valid" \
    "message  pu - pu by Xylem" "message  local - local by Xylem"; do
    says "$out" "$part"
done
[[ $out != *"copy     2 cores"* ]] || says "$out" "copy     2 cores: no longer valid"
expect 0 "$XYLEM" calibrate --check --messages --tolerance 100 --json
printf '%s\n' "$out" | python3 -c 'import json, sys
all = json.load(sys.stdin)
assert all and {m["name"] for m in all} == {"message"} and all[0]["holds"], all'
expect 1 "$XYLEM" calibrate --check --messages --tolerance 100 --json -o false.xml
printf '%s\n' "$out" | python3 -c 'import json, sys
holds = {m["detail"].split(" by ")[0]: m["holds"] for m in json.load(sys.stdin)}
assert holds["pu - pu"] is False and holds["local - local"] is True, holds'
# What cannot be measured again does not hold, and the others are looked at.
sed 's/Library=".*kernels.so:kernel"/Library="gone.so:kernel"/' cache/xylem/costs-*.xml >gone.xml
expect 1 "$XYLEM" calibrate --check --compute --tolerance 100 -o gone.xml
says "$out" "good     1 thread: could not be measured"

# Bad kernels are named, one line each; a good one beside them still gets its model.
declare -A why=(
    [crash]="kernel crash crashed at size 200 (signal 6"
    [leave]="kernel leave ended the process at size 100 (exit code 5)"
    [refuse]="kernel refuse returned 3 at size 200"
    [missing]="has no function 'missing'"
    [uneven]="too noisy: kernel uneven"
)
plugins=(-p good=./kernels.so)
for name in "${!why[@]}"; do
    plugins+=(-p "$name=./kernels.so:$name")
done
attempts=0
while :; do
    expect 1 "$XYLEM" calibrate "${compute[@]}" --seconds 4s -q "${plugins[@]}" -o bad.xml
    ! grep -q 'Name="good"' bad.xml || break
    attempts=$((attempts + 1))
    says "$err" "too noisy: kernel good"
    [ $attempts -lt 10 ] || die "good has no model: $err"
done
says "$err" "models were not stored; the others were"
for name in "${!why[@]}"; do
    says "$err" "${why[$name]}"
    ! grep -q "Name=\"$name\"" bad.xml || die "$name has a model"
done

# With OpenMP inside, one model for each number of threads.
cat >team.c <<'END'
#include <omp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int kernel(size_t n)
{
    static int written;
    int members = 0;
#pragma omp parallel reduction(+ : members)
    {
        members += 1;
        nanosleep(&(struct timespec){.tv_nsec = (long)n * 20000}, NULL);
    }
    if (written != members) {
        FILE *f = fopen(getenv("TEAMS"), "a");
        fprintf(f, "%d\n", members);
        fclose(f);
        written = members;
    }
    return 0;
}
END
if cc -O1 -fopenmp -shared -fPIC -o team.so team.c 2>/dev/null; then
    export TEAMS=$WORK/teams
    expect_models() {
        python3 - team.xml "$@" <<'END'
import sys
import xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
got = sorted(k.get("Threads") for k in root.iter("SeqKernel") if k.get("Name") == "team")
assert got == sys.argv[2:], got
END
    }
    settle "$XYLEM" calibrate "${compute[@]}" --seconds 2s -t 1,2 -p team=./team.so -o team.xml
    expect_models 1 2
    for threads in 1 2; do
        expect 0 "$XYLEM" explain cost team 150 "$threads" --costs team.xml
        says "$out" "team 150, $threads thread"
    done
    [ "$(sort -u teams | tr '\n' ' ')" = "1 2 " ] || die "ran with these numbers of threads: $(cat teams)"
else
    echo "left out: the compiler has no -fopenmp"
fi

# Pictures.
cp cache/xylem/costs-*.xml costs.xml
expect 0 "$XYLEM" calibrate --show costs.xml --svg costs.svg --html costs.html
python3 -c '
import xml.etree.ElementTree as tree
root = tree.parse("costs.svg").getroot()
ns = "{http://www.w3.org/2000/svg}"
assert sum(p.get("class", "").startswith("s0") for p in root.iter(ns + "path")) >= 3
assert len(list(root.iter(ns + "circle"))) > 30'
grep -q '</html>' costs.html
grep -Eq 'class="finding">[0-9]+ models miss their samples by' costs.html
expect 2 "$XYLEM" calibrate --show costs.xml
# Files that are no costs of ours.
sed 's/version="2" machine/version="9" machine/' costs.xml >newer.xml
expect 1 "$XYLEM" explain cost good 150 --costs newer.xml
one_line "$err"
says "$err" "version 9"
head -c 900 costs.xml >cut.xml
expect 1 "$XYLEM" explain cost good 150 --costs cut.xml
one_line "$err"
sed 's/hardware="[^"]*"/hardware="a toaster"/' costs.xml >other.xml
expect 1 "$XYLEM" calibrate "${compute[@]}" -q -o other.xml
says "$err" "a toaster"
# A full disk.
if [ -e /dev/full ]; then
    expect 1 "$XYLEM" calibrate "${compute[@]}" -q --fresh -o /dev/full
fi

# Each result is stored at once, also where parts are named: what was measured is there while a kernel still runs.
cc -shared -fPIC -x c - -o endless.so <<<'#include <unistd.h>
int kernel(unsigned long n) { for (;;) pause(); return (int)n; }'
command timeout "$(testing_limit 60)" "$XYLEM" calibrate --memory --compute --kernels '' --plugin endless=./endless.so --seconds 1 --output parts.xml >parts.txt 2>&1 &
pid=$!
for ((i = 0; i < 600; i++)); do
    [ ! -e parts.xml ] || break
    kill -0 $pid 2>/dev/null || break
    sleep 0.1
done
! grep -q 'costs are in' parts.txt || die "nothing was stored before the end"
[ -e parts.xml ] || die "nothing was stored"
kill -TERM $pid
wait $pid || true

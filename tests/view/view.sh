# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# xylem view: good, damaged and foreign traces; files for other viewers, read by those.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

demo=$XYLEM_BUILD_DIR/tests/view/trace_demo
trace=$XYLEM_SOURCE_DIR/examples/heat.xyt

# The generator is deterministic, and the trace in examples/ is its work.
"$demo" again.xyt
cmp again.xyt "$trace" || die "examples/heat.xyt is not what trace_demo writes"

expect 0 "$XYLEM" view "$trace"
says "$out" "Heat equation: 8 rows, 782 states, 336 messages (10.5 MiB)"
says "$out" "core 7"
[ -z "$err" ] || die "said on standard error: $err"
expect 0 "$XYLEM" view "$trace" --json
python3 -m json.tool <<<"$out" >/dev/null || die "--json is not JSON"

# With files the command is silent unless asked.
expect 0 "$XYLEM" view "$trace" -o page.html --paje t.paje --chrome t.json
[ -z "$out$err" ] || die "said: $out$err"
python3 - <<'PYTHON' || die "t.json is not what it should be"
import json
events = json.load(open("t.json"))["traceEvents"]
count = lambda phase: sum(event["ph"] == phase for event in events)
assert (count("X"), count("s"), count("f"), count("C"), count("i")) == (782, 336, 336, 24, 1)
PYTHON
expect 0 "$XYLEM" view "$trace" -o - --summary
says "$out" "</html>"
says "$out" "Heat equation: 8 rows"

# A picture, of the whole and of a part.
expect 0 "$XYLEM" view "$trace" --svg all.svg
expect 0 "$XYLEM" view "$trace" --svg part.svg --from 100us --to 1ms --last 200us
python3 -c 'import xml.dom.minidom as x; [x.parse(f) for f in ("all.svg", "part.svg")]'
grep -q '150 us' part.svg || die "the part is another one"
expect 2 "$XYLEM" view "$trace" --svg none.svg --from 5 --to 1
says "$err" "--from 5s --to 1s: the picture has no time"
expect 2 "$XYLEM" view "$trace" --from 1us
says "$err" "option --from has no effect without --svg"
expect 1 "$XYLEM" view "$trace" --svg none.svg --from 1s
[ ! -e none.svg ] || die "an empty picture was left"

# Independent readers of Pajé, where they are installed.
if command -v pj_dump >/dev/null; then
    expect 0 pj_dump t.paje
    [ "$(grep -c '^State' <<<"$out")" = 782 ] || die "pj_dump sees other states"
    [ "$(grep -c '^Link' <<<"$out")" = 336 ] || die "pj_dump sees other links"
    [ "$(grep -c '^Variable' <<<"$out")" = 24 ] || die "pj_dump sees other variables"
else
    echo "pj_dump (Debian: pajeng) is not installed: not asked"
fi
if command -v vite >/dev/null; then
    QT_QPA_PLATFORM=offscreen timeout 60 vite t.paje -e vite.svg >vite.log 2>&1 || die "$(cat vite.log)"
    grep -q '0 errors and 0 warnings' vite.log || die "$(cat vite.log)"
    grep -q '</svg>' vite.svg || die "ViTE drew nothing"
else
    echo "ViTE (Debian: vite) is not installed: not asked"
fi

# OTF2, read by its own tool: rows of a trace without ranks, and ranks of an MPI program.
count() {
    grep -c "^$1 " events || true
}
expect_otf2() { # TRACE ENTERS SENDS LOCATIONS
    rm -rf archive
    expect 0 "$XYLEM" view "$1" --otf2 archive
    [ -z "$out$err" ] || die "said: $out$err"
    otf2-print archive/traces.otf2 >events || die "otf2-print cannot read it"
    [ "$(count ENTER)" = "$2" ] || die "otf2-print sees $(count ENTER) ENTER, not $2"
    [ "$(count LEAVE)" = "$2" ] || die "otf2-print sees $(count LEAVE) LEAVE, not $2"
    [ "$(count MPI_SEND)" = "$3" ] || die "otf2-print sees $(count MPI_SEND) MPI_SEND, not $3"
    [ "$(count MPI_RECV)" = "$3" ] || die "otf2-print sees $(count MPI_RECV) MPI_RECV, not $3"
    [ "$(otf2-print -G archive/traces.otf2 | grep -c '^LOCATION ')" = "$4" ] || die "otf2-print sees other locations"
}
if ! command -v otf2-print >/dev/null; then
    echo "otf2-print (Debian: otf2-tools) is not installed: not asked"
elif ! "$XYLEM" view "$trace" --otf2 try 2>otf2.err; then
    grep -q 'OTF2' otf2.err || die "$(cat otf2.err)"
    echo "this build has no OTF2 (Debian: libopen-trace-format2-dev): not written"
else
    expect_otf2 "$trace" 782 336 8
    expect 1 "$XYLEM" view "$trace" --otf2 archive
    says "$err" "'archive' exists"
    if [ -x "$XYLEM_BUILD_DIR/bin/mpiexec" ]; then
        "$XYLEM_BUILD_DIR/bin/mpicc" -g "$XYLEM_SOURCE_DIR/examples/ring.c" -o ring
        "$XYLEM_BUILD_DIR/bin/mpiexec" -n 3 --trace ring.xyt ./ring >/dev/null
        expect 0 "$XYLEM" report ring.xyt --csv # which begins after MPI_Init
        calls=$((3 + $(awk -F, 'NR > 1 { calls += $6 } END { print calls }' <<<"$out")))
        expect 0 "$XYLEM" view ring.xyt --json
        messages=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["messages"])' <<<"$out")
        expect_otf2 ring.xyt "$calls" "$messages" 3
        otf2-print archive/traces.otf2 | grep -q 'MPI_Send ring' || die "otf2-print does not know the calls"
    fi
fi

# Cut short: shown as far as it goes, with one warning.
head -c 6000 "$trace" >cut.xyt
expect 0 "$XYLEM" view cut.xyt
one_line "$err"
says "$err" "warning: cut.xyt: not closed"
says "$err" "showing what is readable"
says "$out" "core 7"

# A program that is killed leaves what was flushed.
"$demo" long.xyt 64 100000 &
pid=$!
until [ "$(stat -c %s long.xyt.part 2>/dev/null || echo 0)" -gt 1000000 ]; do sleep 0.05; done
kill -9 "$pid"
wait "$pid" 2>/dev/null || true
[ ! -e long.xyt ] || die "a part has the name of the whole"
expect 0 "$XYLEM" view long.xyt.part
one_line "$err"
says "$err" "long.xyt.part: not closed"
says "$out" "(and 24 more; --json has them all)"

# Nothing readable, no trace at all.
head -c 70 "$trace" >header.xyt
: >empty.xyt
head -c 3000 /dev/urandom >noise.xyt
mkdir directory
cp "$trace" locked.xyt
chmod 000 locked.xyt
for file in header.xyt empty.xyt noise.xyt directory missing.xyt "$XYLEM_SOURCE_DIR/README.md"; do
    expect 1 "$XYLEM" view "$file" -o none.html
    one_line "$err"
    says "$err" "$file"
    [ ! -e none.html ] || die "$file: a page was written"
done
if [ "$(id -u)" != 0 ]; then
    expect 1 "$XYLEM" view locked.xyt
    one_line "$err"
fi
# What is no trace is not read to its end, if it has one.
expect 1 timeout 60 "$XYLEM" view /dev/zero
one_line "$err"
says "$err" "/dev/zero: this is a device; name a file"
expect 1 timeout 60 "$XYLEM" view - < <(yes)
one_line "$err"
says "$err" "not a Xylem trace"
expect 2 "$XYLEM" view
one_line "$err"
expect 1 "$XYLEM" view "$trace" -o no/such/directory/page.html
one_line "$err"
if [ -e /dev/full ]; then
    expect 1 bash -c "'$XYLEM' view '$trace' >/dev/full"
    one_line "$err"
fi

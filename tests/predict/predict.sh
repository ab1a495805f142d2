# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# xylem predict: what it prints and writes, and what is wrong.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"
here=$XYLEM_SOURCE_DIR/tests/predict
ring=$here/ring.xml
[ "$("$XYLEM" predict "$ring" 2>&1)" != "" ] || die "nothing is printed"
if "$XYLEM" predict "$ring" 2>&1 | grep -q 'built without'; then
    exit 77
fi

# number KEY: a number of the JSON in $out.
number() {
    printf '%s\n' "$out" | sed -n "s/^  \"$1\": \([0-9.e+-]*\),*\$/\1/p"
}

# One process; text; the same twice, to the last bit.
expect 0 "$XYLEM" predict "$ring" -m haswell32
says "$out" "ring: 1 process on haswell32"
expect 0 "$XYLEM" predict "$ring" -n 8 -m haswell8x32 --arg 5 --loop-cost 1us
says "$out" "40 messages, 312 KiB; 11 collectives with"
says "$out" "loop ring.c:15: 40 calls, 40 ms in all"
says "$out" "ring.c:15  ring.c:15"
says "$out" "ring.c:13  MPI_Sendrecv"
first=$out
expect 0 "$XYLEM" predict "$ring" -n 8 -m haswell8x32 --arg 5 --loop-cost 1us
[ "$out" = "$first" ] || die "two predictions differ"
expect 0 "$XYLEM" predict "$ring" -n 8 -m haswell8x32 --arg 5 --cost ring.c:15=3us --json
[ "$(number ranks) $(number point_to_point_messages)" = "8 40" ] || die "$out"
[ "$(number point_to_point_bytes) $(number kernel_calls)" = "320000 0" ] || die "$out"
[ "$(printf '%s\n' "$out" | grep -c '"idle"')" = 8 ] || die "not one entry per process"

# Files: a matrix for xylem place, a page, a trace, curves.
expect 0 "$XYLEM" predict "$ring" -n 8 -m haswell8x32 --matrix m.csv --html run.html --trace run.xyt
expect 0 "$XYLEM" place m.csv -m haswell8x32 --compare
expect 0 "$XYLEM" view run.xyt
says "$out" "MPI"
grep -q '</html>' run.html || die "no page"
expect 0 "$XYLEM" predict "$ring" -n 8 -m haswell8x32 --html other.html
expect 0 "$XYLEM" predict "$ring" -m haswell8x32 --sweep 'n=1,10,P=2..8*2' --arg '{n}' \
    --csv times.csv --svg times.svg
grep -q 'predicted on haswell8x32' other.html || die "the page does not say that it is a prediction"
grep -q 'predicted on haswell8x32</text>' times.svg || die "the picture has no title"
grep -q 'class="frame dash"' times.svg || die "the picture has no ideal line"
[ "$(wc -l <times.csv) $(head -1 times.csv)" = "7 n,P,seconds" ] || die "$(cat times.csv)"
grep -q '^10,8,' times.csv || die "$(cat times.csv)"
grep -q '</svg>' times.svg || die "no picture"
[ "$(sed -n 's/^1,2,//p' times.csv)" != "$(sed -n 's/^10,2,//p' times.csv)" ] || die "n has no effect"

# Placed by what it sends; other links, other cores.
expect 0 "$XYLEM" predict "$ring" -n 64 -m haswell8x32 --place multisection
says "$out" "placed by multisection: "
expect 0 "$XYLEM" predict "$ring" -n 64 -m haswell8x32 --place multisection --json
awk -v a="$(number time)" -v b="$(number time_before_placing)" 'BEGIN { exit !(a > 0 && b > a) }' ||
    die "no gain in $(number time), before $(number time_before_placing)"
expect 0 "$XYLEM" predict "$ring" -n 8 -m haswell8x32 --place round-robin --what-if 'latency*100,speed*2'
says "$out" "latency*100,speed*2: "
says "$out" " instead of "

# Every figure is printed, and each can be changed: by --what-if, and by a file.
expect 0 "$XYLEM" predict "$ring" -n 8 -m haswell32 --verbose --what-if 'send=1us,copy*2'
says "$out" "  send                           100 ns  of a core, to send a message"
says "$out" "send=1us,copy*2: "
cores=$XYLEM_SOURCE_DIR/tests/data/cost/cores.xml
expect 0 "$XYLEM" predict "$ring" -n 8 -m haswell32 -v --costs "$cores"
says "$out" "local.Barrier "
says "$out" "pu.Alltoall "
says "$out" "local.Gap                       curve"
expect 0 "$XYLEM" predict "$ring" -n 8 -m haswell32 --json --costs "$cores"
before=$(number time)
says "$out" '"name": "packet",'
says "$out" '"name": "local.Exchange",'
sed 's|<XylemCosts .*>|&<Figure Name="swap" Value="1e-3"/>|; s|"local" Library="Xylem 0.1.0" Eager="16384"|"local" Library="Xylem 0.1.0" Eager="1"|' \
    "$cores" >changed.xml
expect 0 "$XYLEM" predict "$ring" -n 8 -m haswell32 --json --costs changed.xml
[ "$(number time)" != "$before" ] || die "figures of a file have no effect"
says "$out" '"value": 0.001'
expect 0 "$XYLEM" predict "$ring" -n 8 -m haswell32 --costs "$cores" --what-if 'local.Eager=1,local.Exchange*3'
says "$out" "local.Eager=1,local.Exchange*3: "
sed 's|<XylemCosts .*>|&<Figure Name="swop" Value="1e-3"/>|' "$cores" >wrong.xml
expect 1 "$XYLEM" predict "$ring" -n 8 -m haswell32 --costs wrong.xml
says "$err" "sets the figure 'swop', which does not exist"

# Process i on line i of the hosts, and from the beginning again.
cat >two.xml <<'XML'
<machine name="two" version="1">
  <cluster name="c"><node name="a" latency="1us" bandwidth="1GB/s"><core count="4"/></node>
    <node name="b" latency="1us" bandwidth="1GB/s"><core count="4"/></node></cluster>
</machine>
XML
printf 'a\nb # second\n\n' >hosts
expect 0 "$XYLEM" predict "$ring" -n 8 -m two.xml --hosts hosts --json
wrapped=$(number time)
printf 'a\nb\na\nb\na\nb\na\nb\n' >hosts
expect 0 "$XYLEM" predict "$ring" -n 8 -m two.xml --hosts hosts --json
[ "$(number time)" = "$wrapped" ] || die "a short list of hosts does not begin again"
printf 'a\na\na\na\nb\nb\nb\nb\n' >hosts
expect 0 "$XYLEM" predict "$ring" -n 8 -m two.xml --hosts hosts --json
[ "$(number time)" != "$wrapped" ] || die "hosts have no effect"

# wrong CODE PART OPTION...: one line that says what is wrong.
wrong() {
    local code=$1 part=$2
    shift 2
    expect "$code" "$XYLEM" predict "$@"
    one_line "$err"
    says "$err" "$part"
    [ -z "$out" ] || die "a failure prints $out"
}

echo nowhere >hosts
wrong 1 "hosts:1: the machine two has no node 'nowhere'" "$ring" -n 2 -m two.xml --hosts hosts
wrong 2 "16 processes on two, which has 8 cores; give --oversubscribe" "$ring" -n 16 -m two.xml
expect 0 "$XYLEM" predict "$ring" -n 16 -m two.xml --oversubscribe
wrong 1 "no model of dgemm; measure with" "$here/kernel.xml" -m haswell32
expect 0 "$XYLEM" predict "$here/kernel.xml" -m haswell32 --free-kernels
says "$out" "kernel dgemm is free: there is no model"
expect 0 "$XYLEM" predict "$here/kernel.xml" -m haswell32 \
    --costs "$XYLEM_SOURCE_DIR/tests/data/cost/costs.xml"
says "$out" "kernel dgemm: 3 calls"
wrong 1 "not known: steps (line 7: read from a file); give it with --assume" "$here/unknown.xml"
expect 0 "$XYLEM" predict "$here/unknown.xml" --assume 'steps=2 + 3'
says "$out" "6 collectives"
wrong 2 "the description has no unknown value 'x'; there are: steps" "$here/unknown.xml" --assume x=1
wrong 2 "write NAME=VALUE" "$here/unknown.xml" --assume steps
wrong 1 "the processes wait for each other: 0-2 wait at stuck.c:4 (MPI_Recv)" "$here/stuck.xml" -n 3 \
    -m haswell32
echo '<program version="1"><function name="main"><mpi call="MPI_Init"/><do c="exit(3)" line="4"/></function></program>' >exit.xml
wrong 1 "process 0: exit(3) without MPI_Finalize: look at the arguments" exit.xml -n 2 -m haswell32
wrong 1 "raise --limit" "$ring" --arg 100 --limit 50
wrong 2 "the description has no loop 'no'" "$ring" --cost no=1s
wrong 2 "--sweep 'n': write NAME=VALUES" "$ring" --sweep n
wrong 2 "--sweep m: nothing depends on it; write {m} in --arg or --assume" "$ring" --sweep m=1,2 --arg '{n}'
wrong 2 "option --csv has no effect without --sweep" "$ring" --csv x.csv
wrong 2 "--what-if 'price': the model has no such figure" "$ring" --what-if 'price*2'
wrong 2 "write bandwidth*2, latency/10, speed*1.5 or NAME=VALUE" "$ring" --what-if price
wrong 2 "--what-if 'send=2 parsecs': not a value in s" "$ring" --what-if 'send=2 parsecs'
wrong 2 "--what-if 'local.Gap': that is a curve" "$ring" --what-if 'local.Gap=1us' \
    --costs "$XYLEM_SOURCE_DIR/tests/data/cost/cores.xml"
wrong 1 "nothing.xml: cannot open" nothing.xml
echo '<program version="1"><function name="main"><do c="1 +" line="3"/></function></program>' >bad.xml
wrong 1 "unexpected end in the expression '1 +'" bad.xml

# C sources, where they are read.
if "$XYLEM" scan "$XYLEM_SOURCE_DIR/examples/fox.c" -o fox.xml 2>/dev/null; then
    for p in 9 15 27; do
        expect 0 "$XYLEM" predict "$XYLEM_SOURCE_DIR/examples/fox.c" -n $p -m haswell32 \
            --free-kernels --json
        [ "$(number kernel_calls)" = $((p * p)) ] || die "fox on $p: $(number kernel_calls) calls"
        # blocks of A and B to all but one, p rotations of p blocks, blocks of C back
        [ "$(number point_to_point_messages)" = $((3 * (p - 1) + p * p)) ] ||
            die "fox on $p: $(number point_to_point_messages) messages"
    done
    echo 'int main(void) { return' >bad.c
    expect 1 "$XYLEM" predict bad.c
    wrong 2 "C sources alone" "$XYLEM_SOURCE_DIR/examples/fox.c" "$ring"
fi

# Many: memory grows with processes, not with what they do.
expect 0 "$XYLEM" predict "$ring" -n 10000 --arg 1 -m 'node:320(latency=1us bandwidth=10GB/s) core:32' \
    --json
[ "$(number point_to_point_messages)" = 10000 ] || die "$(number point_to_point_messages)"

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every bad source is answered with one line that says what is wrong, and a code that is not 0.
# shellcheck disable=SC2154 # err is set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

# bad SOURCE PART: loading it fails with one line that contains PART.
bad() {
    expect 1 timeout 20 "$XYLEM" machine "$1"
    one_line "$err"
    says "$err" "$2"
    [ -z "$out" ] || die "'$1' printed something: $out"
}

: >empty.xml
bad empty.xml empty.xml
mkdir directory.xml
bad directory.xml directory
head -c 5000 /dev/urandom >garbage.xml
bad garbage.xml garbage.xml
printf '\177ELF\002\001\001\000\000' >binary.xml
bad binary.xml binary.xml
head -c 300 "$XYLEM_SOURCE_DIR/machines/haswell32.xml" >truncated.xml
bad truncated.xml truncated.xml
head -c 900 "$XYLEM_SOURCE_DIR/tests/data/machine/hwloc-2numa.xml" >truncated-hwloc.xml
bad truncated-hwloc.xml truncated-hwloc.xml
bad missing.xml "missing.xml"
bad ./missing.xml "No such file"

echo '<machine><node count="1000000000"/></machine>' >cores.xml
bad cores.xml "cores.xml:1: "
echo '<machine><node count="100000"><core count="100000"/></node></machine>' >nested.xml
bad nested.xml "10000100000 objects"
bad core:1000000000 1000000000
bad 1000000000 1000000000
bad "node:100000 core:100000" "objects"
for value in -1 0 nan inf 1e999 1.5 '' ' ' 0x10; do
    echo "<machine><node count=\"$value\"/></machine>" >number.xml
    bad number.xml "number.xml:1: "
done
for value in -1us nan inf 5parsecs; do
    echo "<machine><node latency=\"$value\"/></machine>" >number.xml
    bad number.xml "$value"
    bad "node:2(latency=$value)" "$value"
done
bad core:-1 "-1"
bad core:nan "nan"

grid() {
    echo "<machine><cluster>$1</cluster></machine>" >grid.xml
    bad grid.xml "grid.xml:1: "
    says "$err" "$2"
}
grid '<node count="4"/><torus size="2x3"/>' '6 cells for 4 objects'
grid '<node count="4"/><torus size="2x3" cells="0-2,6"/>' '4 different cells'
grid '<node count="4"/><torus size="2x3" cells="0-2,2"/>' '4 different cells'
grid '<node count="4"/><torus size="2x"/>' '4x4x2'
grid '<node count="4"/><torus/>' '4x4x2'
grid '<node count="4"/><torus size="4"/><mesh size="2x2"/>' 'one torus or mesh'
grid '<core count="4"/><mesh size="2x2"/>' 'joins nodes'
grid '<node><core links="2"/></node>' 'parallel links'
grid '<node links="0"/>' links
grid '<node bandwidth="10Gib/s"/>' '100Gb/s'

cat >cycle.xml <<'XML'
<machine>
  <site id="a"><cluster id="b"><use ref="c"/></cluster></site>
  <define><switch id="c"><use ref="a"/></switch></define>
</machine>
XML
bad cycle.xml "cycle"

{
    echo '<!DOCTYPE machine ['
    echo '<!ENTITY l0 "lol">'
    for i in 1 2 3 4 5 6 7 8 9; do
        p="&l$((i - 1));"
        echo "<!ENTITY l$i \"$p$p$p$p$p$p$p$p$p$p\">"
    done
    echo ']><machine name="&l9;"/>'
} >laughs.xml
bad laughs.xml "laughs.xml"
echo '<!DOCTYPE m [<!ENTITY x SYSTEM "file:///etc/passwd">]><machine name="&x;"/>' >external.xml
bad external.xml "external.xml"

echo '<machine><nod/></machine>' >unknown.xml
bad unknown.xml "node"
echo '<machine><node latncy="1us"/></machine>' >unknown.xml
bad unknown.xml "latency"
echo '<topology><object type="Nonsense"/></topology>' >hwloc.xml
bad hwloc.xml "hwloc.xml"
# libhwloc crashes on some objects that lack one of their sets; which ones depends on its version.
refused=0
whole=$XYLEM_SOURCE_DIR/tests/data/machine/hwloc-2numa.xml
mapfile -t lines < <(grep -n complete_cpuset "$whole" | cut -d: -f1)
for line in "${lines[@]}"; do
    sed "${line}s/complete_cpuset/complete_set/" "$whole" >lacks.xml
    code=0
    timeout 100 "$XYLEM" machine lacks.xml >lacks.out 2>lacks.err || code=$?
    [ "$code" -le 1 ] || die "line $line: ended with $code: $(cat lacks.err)"
    [ "$code" = 0 ] && continue
    one_line "$(cat lacks.err)"
    says "$(cat lacks.err)" "lacks.xml: "
    refused=$((refused + 1))
done
echo "$refused damaged topologies were refused"
bad haswel32 "did you mean 'haswell32'?"
bad "" ""
bad $'two\nlines' "is not a machine"

# Nobody may read it; root reads everything, so it steps down where it can.
cp "$XYLEM_SOURCE_DIR/machines/knl64.xml" secret.xml
chmod 000 secret.xml
if [ "$(id -u)" != 0 ]; then
    bad secret.xml "ermission"
elif command -v setpriv >/dev/null && setpriv --reuid=65534 --clear-groups test -x "$XYLEM"; then
    chmod 755 "$WORK"
    expect 1 setpriv --reuid=65534 --clear-groups "$XYLEM" machine secret.xml
    one_line "$err"
    says "$err" "ermission"
fi

# Wrong usage has its own code.
expect 2 "$XYLEM" machine knl64 --only nonsense
one_line "$err"
expect 1 "$XYLEM" machine knl64 --only core:64
one_line "$err"
says "$err" "has 64 of type core"
expect 2 "$XYLEM" machine knl64 haswell32
expect 1 "$XYLEM" machine knl64 --svg /nonexistent/x.svg
one_line "$err"

# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2015
# Standard streams: lines are never torn, input goes to rank 0, tags.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build streams
run 0 -n 20 ./streams pieces
quiet
[ "$(wc -l <<<"$out")" = 1000 ] || die "lines are missing"
if grep -Evq '^([0-9]+):([a-z])\2{40}\.!$' <<<"$out"; then
    die "a line is torn: $(grep -Ev '^([0-9]+):([a-z])\2{40}\.!$' <<<"$out" | head -1)"
fi
run 0 -n 3 ./streams unbuffered
[ "$(sort -u <<<"$out" | tr -d '0-9 \n')" = "" ] && [ "$(wc -l <<<"$out")" = 3 ] || die "$out"
grep -Eq '^(0 ){20}$' <<<"$out" || die "$out"
run 0 -n 3 ./streams long
[ "$(awk 'length != 100000' <<<"$out")" = "" ] && [ "$(tr -s 012 <<<"$out" | sort)" = $'0\n1\n2' ] ||
    die "a long line is torn"

expect 0 "$bin/mpiexec" -n 3 ./streams input <<<$'42\nmore text'
same "$out" $'0 read 42\n0 then more text\n0 end 1\n1 end 1\n2 end 1'

run 0 -n 2 ./streams both
same "$out" $'out 0\nout 1'
same "$err" $'err 0\nerr 1'
run 0 -n 2 -l ./streams both
same "$out" $'[0] out 0\n[1] out 1'
same "$err" $'[0] err 0\n[1] err 1'
run 0 -n 2 --tag-output ./streams both
same "$out" $'[1,0]<stdout>:out 0\n[1,1]<stdout>:out 1'
same "$err" $'[1,0]<stderr>:err 0\n[1,1]<stderr>:err 1'
run 0 -n 2 -prepend-rank ./streams partial
[ "$out" = "[0] begun and" ] || die "$out"

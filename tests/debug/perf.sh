# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# perf names the functions of private libraries and plug-ins, in all ranks. Samples are taken at page
# faults. The test makes a known number of them, so the result does not depend on time.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

needs perf
event=(-e page-faults:u -c 1)
perf record -q -o probe.data "${event[@]}" true >probe.txt 2>&1 || skip "perf record is not permitted: $(head -1 probe.txt)"
from=$XYLEM_SOURCE_DIR/tests/debug
cc -g -O1 -shared -fPIC -DNAME=touch_library "$from/perf_library.c" -o libtouch.so
cc -g -O1 -shared -fPIC -DNAME=touch_plugin "$from/perf_library.c" -o plugin.so
"$bin/mpicc" -g -O1 "$from/perf.c" -o perf_user -L. -ltouch -ldl -Wl,-rpath,"\$ORIGIN"

# samples RANKS SYMBOL OBJECT: how many samples `perf report` finds there.
samples() {
    perf report -i "ranks_$1.data" --stdio -g none --no-children --sort dso,symbol -F sample,dso,symbol 2>report.err |
        awk -v object="$3" -v symbol="$2" '$2 == object && $4 == symbol { n += $1 } END { print n + 0 }'
}

for ranks in 1 4; do
    expect 0 timeout 240 perf record -q -o "ranks_$ranks.data" "${event[@]}" "$bin/mpiexec" -n "$ranks" ./perf_user
done
for where in "touch_library libtouch.so" "touch_plugin plugin.so"; do
    # shellcheck disable=SC2086 # two words
    one=$(samples 1 $where) four=$(samples 4 $where)
    [ "$one" -gt 0 ] || die "perf does not find $where: $(perf report -i ranks_1.data --stdio 2>&1 | head -40)"
    [ "$four" -gt "$one" ] || die "perf finds $where in one rank alone: $one samples of 1 rank, $four of 4"
done

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What several pairs of hosts carry together: the probe runs in virtual time on a machine whose lines
# are known, so the answer is always the same. Four pairs that share a line of 4 MB/s between two
# sites carry as much as one, 4 MB/s, whatever the latency; two pairs with lines of their own twice as much.
# So it is with messages of 100 kB, which are asked for.
# shellcheck disable=SC2154 # out and err are set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

bin=$(dirname "$XYLEM")
probe=$bin/../lib/xylem/xylem-probe
[ -x "$probe" ] || skip "no $probe in this build"
cat >two.xml <<'END'
<machine>
  <site id="s1"><cluster id="c1"><node count="4" latency="100us" bandwidth="10MB/s"><core/></node></cluster></site>
  <site id="s2"><cluster id="c2"><node count="4" latency="100us" bandwidth="10MB/s"><core/></node></cluster></site>
  <route from="s1" to="s2" latency="15ms" bandwidth="4MB/s"/>
</machine>
END
expect 0 "$bin/mpiexec" -n 8 --virtual two.xml --compute none "$probe" \
    together '12500@0:4,1:5,2:6,3:7;12500@0:1,2:3;100000@0:4,1:5,2:6,3:7' 0.4 100
awk '$1 == "together" {times[$2] = $4}
     END {exit !(times[0] > 0.98 && times[0] < 1.02 && times[1] > 1.9 && times[1] < 2.1)}' <<<"$out" ||
    die "one line was taken for several, or several for one: $out"
awk '$1 == "together" {rate[$2] = $5 / 1e6}
     END {exit !(rate[0] > 3.9 && rate[0] < 4.1 && rate[1] > 19 && rate[1] < 21 &&
                 rate[2] > 3.9 && rate[2] < 4.1)}' <<<"$out" ||
    die "lines of 4 and 10 MB/s carry something else: $out"

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Several hosts on one machine: network namespaces, each with a host name of its own, joined by a
# relay that delays packets. Real MPI processes over TCP find the two clusters in them.
#
#   MPI=openmpi hosts.sh     with mpirun.openmpi and mpicc.openmpi
#   MPI=mpich hosts.sh       with mpirun.mpich (Hydra) and mpicc.mpich
# shellcheck disable=SC2154 # out and err are set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

[ "$(id -u)" = 0 ] || skip "only root makes network namespaces"
[ -c /dev/net/tun ] || skip "no /dev/net/tun"
needs ip cc
for command in "mpirun.$MPI" "mpicc.$MPI"; do
    command -v "$command" >/dev/null || skip "no $command"
done
"$XYLEM" machine --xml - >/dev/null 2>&1 || skip "cannot read machines"
prefix=xyt$$-
unshare --uts true 2>/dev/null || skip "no namespaces"
ip netns add "${prefix}1" 2>/dev/null || skip "no network namespaces"

relay=
clean() {
    [ -z "$relay" ] || kill "$relay" 2>/dev/null || true
    for i in 1 2 3 4 5; do
        ip netns del "$prefix$i" 2>/dev/null || true
    done
}
trap clean EXIT
for i in 2 3 4 5; do
    ip netns add "$prefix$i"
done

# Hosts 1, 2, 3 and hosts 4, 5: 3 ms inside, 9 ms between; 4 MB/s among the three, 1 MB/s between
# the two, 0.5 MB/s from one cluster to the other. Delays and times that are long beside what a busy
# machine adds, which is what makes this a test.
near=3000 far=9000
a=$near/4e6 b=$near/1e6 c=$far/0.5e6
printf '%s %s %s %s %s\n' 0 $a $a $c $c $a 0 $a $c $c $a $a 0 $c $c $c $c $c 0 $b $c $c $c $b 0 >matrix
python3 "$XYLEM_SOURCE_DIR/tests/cost/relay.py" "$prefix" matrix >relay.log 2>&1 &
relay=$!
for _ in $(seq 600); do
    grep -q ready relay.log && break
    sleep 0.1
done
grep -q ready relay.log || die "the relay does not start: $(cat relay.log)"

# What ssh would do: COMMAND [OPTION...] HOST WORD... Host 8 refuses, and host 7 is host 2 by another
# name. (One that never answers is in src/measure/discover_test.c.)
cat >agent <<END
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
host=\$1
shift
# Kernels take minutes; what a host would measure is there already.
if [[ " \$* " == *" calibrate --quiet --kernels dgemm "*" --compute --memory --seconds 250ms --output "* ]]; then
    sed "s/Cluster Name=\"[^\"]*\"/Cluster Name=\"local\"/" \
        "$XYLEM_SOURCE_DIR/tests/data/cost/costs.xml" >"\${!#}"
    echo "\$host" >>"$WORK/kernels"
    exit 0
fi
case \${host##*.} in
8) exit 255 ;;
7) host=10.77.0.2 ;;
esac
exec ip netns exec "$prefix\${host##*.}" unshare --uts bash -c \
    "hostname host\${host##*.}; \$*"
END
chmod +x agent
# MPI libraries poll as if each process had a core. Here all hosts share a few: whoever polls in vain
# waits a little for something to come.
cat >patient.c <<'END'
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <time.h>
int epoll_wait(int fd, struct epoll_event *events, int count, int timeout)
{
    return epoll_pwait(fd, events, count, timeout == 0 ? 1 : timeout, NULL);
}
int sched_yield(void)
{
    return nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}
END
cc -O1 -shared -fPIC -o patient.so patient.c
printf '10.77.0.%s\n' 4 1 8 2 5 3 7 1 >hosts
export HOME=$WORK
# shellcheck disable=SC2054 # a list of sizes
options=(--agent "$WORK/agent" --launcher "mpirun.$MPI" --compiler "mpicc.$MPI"
    --sizes 1,8K --only-between --kernels dgemm --seconds 1)
case $MPI in
openmpi)
    for word in --mca btl tcp,self --mca btl_tcp_if_include xy0 --mca oob_tcp_if_include xy0 \
        --mca mpi_yield_when_idle 1 -x "LD_PRELOAD=$WORK/patient.so"; do
        options+=("--extra=$word")
    done
    ;;
mpich)
    # No name server knows these hosts: proxies call back by the address of the device. UCX would
    # find that they share memory, and takes a relay that has to wait for a processor for a broken line.
    for word in -iface xy0 -genv UCX_TLS tcp,self -genv UCX_NET_DEVICES xy0 \
        -genv UCX_TCP_KEEPIDLE 600s \
        -genv LD_PRELOAD "$WORK/patient.so"; do
        options+=("--extra=$word")
    done
    ;;
esac
on_host1() {
    ip netns exec "${prefix}1" unshare --uts bash -c 'hostname host1; exec "$@"' -- "$@"
}
got=0
on_host1 timeout 330 "$XYLEM" calibrate --hosts hosts "${options[@]}" -o cluster.xml >said 2>warned || got=$?
[ $got = 0 ] || die "calibrate ended with $got: $(cat said warned)"
says "$(cat warned)" "host 10.77.0.8 does not answer"
says "$(cat warned)" "host 10.77.0.7 is left out: it calls itself host2, and so does 10.77.0.2"
[ "$(grep -c '^xylem: ' warned)" = 2 ] || die "more was said than expected: $(cat warned)"
says "$(cat said)" "5 machines in 2 clusters (rho 1.2) on 1 site (rho 10)"
[ "$(sort kernels)" = "$(printf '10.77.0.%s\n' 1 4)" ] || die "kernels were measured on $(cat kernels)"
python3 - "$near" "$far" <<'PY'
import sys
import xml.etree.ElementTree as tree
near, far = (float(word) * 1e-6 for word in sys.argv[1:])
root = tree.parse("cluster.xml").getroot()
of = {m.get("Name"): m.get("Cluster") for m in root.iter("Machine")}
assert len(of) == 5, of
assert of["10.77.0.4"] == of["10.77.0.5"] == "C1", of
assert of["10.77.0.1"] == of["10.77.0.2"] == of["10.77.0.3"] == "C2", of
pairs = {}
for m in root.iter("Message"):
    t = {float(s.get("Size")): float(s.get("Blocking")) for s in m.iter("Sample")}
    pairs[m.get("Cluster1"), m.get("Cluster2")] = t
assert set(pairs) == {("C1", "C1"), ("C1", "C2"), ("C2", "C2")}, set(pairs)
kernels = {c.get("Name") for k in root.iter("SeqKernel") if k.get("Name") == "dgemm" for c in k.iter("Cluster")}
assert kernels == {"C1", "C2"}, kernels
# The same as a machine: links by what was measured.
machine = root.find("machine")
nodes = {n.get("name"): c.get("name") for c in machine.iter("cluster") for n in c.iter("node")}
assert nodes == of, nodes
assert [(r.get("from"), r.get("to")) for r in machine.iter("route")] not in ([], None)
# A busy machine only adds.
delay = {("C1", "C1"): near, ("C2", "C2"): near, ("C1", "C2"): far}
rate = {("C1", "C1"): 1e6, ("C2", "C2"): 4e6, ("C1", "C2"): 0.5e6}
for pair, t in pairs.items():
    for size in 1, 8192:
        assert t[size] >= delay[pair] + size / rate[pair], (pair, size, t[size])
PY
cat >ring.xml <<'END'
<program version="1">
  <function name="main" file="ring.c" line="1">
    <variable name="rank" type="int"/>
    <mpi call="MPI_Init" line="2"/>
    <mpi call="MPI_Comm_rank" comm="MPI_COMM_WORLD" rank="&amp;rank" line="3"/>
    <mpi call="MPI_Sendrecv" sendcount="1" sendtype="MPI_CHAR" dest="rank ^ 1" sendtag="0" recvcount="1" recvtype="MPI_CHAR"
         source="rank ^ 1" recvtag="0" comm="MPI_COMM_WORLD" line="4"/>
    <mpi call="MPI_Finalize" line="6"/>
  </function>
</program>
END
printf '10.77.0.%s\n' 1 4 >pair
expect 0 "$XYLEM" predict ring.xml -n 2 -m cluster.xml --hosts pair --json
python3 -c '
import json, sys
time = json.load(sys.stdin)["time"]
assert float(sys.argv[1]) * 1e-6 <= time < 1, time' "$far" <<<"$out" || die "predicted: $out"
expect 0 "$XYLEM" explain message 4 C2 C1 --costs cluster.xml
says "$out" "4 B from C1 to C2"
[ -z "$(find "$WORK" -name '.xylem-probe*')" ] || die "the probe was left behind"

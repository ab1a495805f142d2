# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2086 # options are several words
# Hosts that fail: a cut link, hosts that are not reached, killed and stopped processes, launchers
# of other libraries. The job ends everywhere, with a message that names the host.
. "$XYLEM_SOURCE_DIR/tests/launch/namespaces_lib.sh"

build several
build handlers
host alpha 1gbit
host beta 200mbit
on="--hosts alpha:2,beta:1"

ends 137 "process 1 on beta (rank 2) was ended by signal 9" -n 3 $on --launcher ./agent ./several kill 2 </dev/null
ends 1 "cannot write" -n 3 $on --launcher ./agent --trace /dev/full ./several messages </dev/null

# The installed libraries, over TCP from host to host.
openmpi="mpirun.openmpi --mca plm_rsh_agent $PWD/agent --mca btl tcp,self --mca pml ob1"
mpich="mpiexec.hydra -localhost 10.77.0.1 -launcher-exec $PWD/agent -genv UCX_TLS tcp,self"
preload=$(ldconfig -p | sed -n 's/.*libmimalloc.so.2 .*=> //p' | head -1)
for launcher in "$openmpi" "$mpich"; do
    command -v ${launcher%% *} >/dev/null || continue
    run 0 -n 3 $on -v --net mpi --launcher "$launcher" ./several messages </dev/null
    says "$out" "rank 2 of 3 here 0 of 1 on beta"
    # Hosts are hosts, also where they have a kernel in common.
    says "$err" "on beta: messages go over mpi, up to"
    # The program's own handlers, and those that it has not set.
    run 0 -n 2 --hosts alpha:1,beta:1 --net mpi --launcher "$launcher" ./handlers </dev/null
    [ "$(grep -c 'handlers are mine' <<<"$out")" = 2 ] || die "signals: $out"
    [ -z "$preload" ] || LD_PRELOAD=$preload run 0 -n 3 $on --net mpi --launcher "$launcher" ./several messages </dev/null
    run 1 -n 3 $on --net mpi --launcher "$launcher" ./several kill 2 </dev/null
    says "$err" "has ended or was killed"
    says "$err" "process 1 on beta (rank 2)"
    [ "$(grep -c '^mpiexec: ' <<<"$err")" = 1 ] || die "not one message: $err"
    case $err in *"Process received signal"*) die "the launcher crashed: $err" ;; esac
    gone
done
if command -v mpirun.openmpi >/dev/null && ldconfig -p | grep -q libmpich.so.12; then
    XYLEM_HOST_MPI=libmpich.so.12 run 1 -n 3 $on --net mpi --launcher "$openmpi" ./several </dev/null
    says "$err" "its launcher belongs to another MPI"
    gone
fi

# Stopped.
ends 1 "process 1 on beta (rank 2) has not answered for 3 s" -n 3 $on --launcher ./agent --heartbeat 3s ./several stop 2 </dev/null

# cut: the link of beta, when the ranks run.
cut() {
    until [ -e asleep ]; do sleep 0.1; done
    ip link set v2 down
}
# mend: until an address there is reached again (a port that refuses).
mend() {
    ip link set v2 up
    until within beta bash -c ': </dev/tcp/10.77.0.1/9' 2>&1 | grep -q refused; do sleep 0.1; done
}
# A link that is cut while ranks wait, with a launcher that does not end the process there.
cat >detached <<'END'
#!/bin/sh
pid=$(cat "$(dirname "$0")/$1.pid") || exit 1
shift
exec 3<&0
setsid nsenter -t "$pid" --net --uts sh -c "$*" <&3 &
wait
END
chmod +x detached
for agent in ./agent ./detached; do
    rm -f asleep
    cut &
    ends 1 "process 1 on beta (rank 2) has not answered for 3 s" -n 3 $on --launcher $agent --heartbeat 3s ./several sleep 0 </dev/null
    wait "$!" || true
    mend
done
# Not reached at all: nobody can tell more than that it was not started.
ip link set v2 down
run 1 -n 3 $on --launcher ./agent --start-timeout 20s ./several </dev/null
says "$err" "process 1 on beta (rank 2) could not be started"
gone

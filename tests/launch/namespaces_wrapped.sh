# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2016,SC2086 # options are several words
# Programs behind a wrapper or in an interpreter, one process per rank, on hosts that have nothing in
# common but a network: over tcp and over the installed libraries they make one job, and what happens to
# one of them ends all.
. "$XYLEM_SOURCE_DIR/tests/launch/namespaces_lib.sh"

build joined
build several
host alpha 1gbit
host beta 200mbit
on="--hosts alpha:2,beta:2"
printf '#!/bin/sh\nexec "$@"\n' >wrapper
chmod +x wrapper

# gone: nothing that a rank has started is left either.
gone_all() {
    gone
    for _ in {1..300}; do
        pgrep -f "^$PWD/(joined|several)" >/dev/null || return 0
        sleep 0.1
    done
    die "still running: $(pgrep -af "^$PWD/(joined|several)")"
}
# fails CODE MESSAGE ARGUMENT...: one message of mpiexec, and nothing stays behind.
fails() {
    local code=$1 message=$2
    shift 2
    run "$code" "$@" </dev/null
    says "$err" "$message"
    [ "$(grep -c '^mpiexec: ' <<<"$err")" = 1 ] || die "not one message: $err"
    gone_all
}

openmpi="mpirun.openmpi --mca plm_rsh_agent $PWD/agent --mca btl tcp,self --mca pml ob1"
mpich="mpiexec.hydra -localhost 10.77.0.1 -launcher-exec $PWD/agent -genv UCX_TLS tcp,self"
for launcher in ./agent "$openmpi" "$mpich"; do
    command -v ${launcher%% *} >/dev/null || continue
    net=mpi
    [ "$launcher" != ./agent ] || net=tcp
    # shellcheck disable=SC2206 # several words
    job=(-n 4 $on --net $net --launcher "$launcher")
    run 0 "${job[@]}" ./wrapper "$PWD/joined" </dev/null
    says "$out" "4 ranks, sum 6"
    quiet
    run 0 "${job[@]}" -l sh -c 'echo $PMI_RANK, $MPI_LOCALRANKID on $(hostname); [ $PMI_RANK != 0 ] || cat' \
        <<<"some input"
    same "$out" $'[0] 0, 0 on alpha\n[1] 1, 1 on alpha\n[2] 2, 0 on beta\n[3] 3, 1 on beta\n[0] some input'
    fails 137 "rank 3 on beta was ended by signal 9 (Killed)" "${job[@]}" ./wrapper "$PWD/several" kill 3
    fails 5 "rank 2 on beta ended with exit code 5" "${job[@]}" ./wrapper "$PWD/several" exit 2
    run 7 "${job[@]}" ./wrapper "$PWD/several" abort 2 </dev/null
    says "$err" "MPI_ABORT was invoked on rank 2"
    fails 124 "the time limit of 5 s has passed" "${job[@]}" --timeout 5 ./wrapper "$PWD/several" sleep 2
    fails 1 "rank 3 on beta has ended with exit code 0 without calling MPI_Init" "${job[@]}" \
        sh -c '[ $PMI_RANK != 3 ] || exit 0; exec "$PWD/joined"'
    # What ranks wait for.
    run 1 "${job[@]}" ./wrapper "$PWD/joined" deadlock </dev/null
    says "$err" "deadlock: no rank can make progress"
    says "$err" "rank 3 on beta: in MPI_Recv from rank 0, tag 3 on MPI_COMM_WORLD, at joined.c:"
    gone_all
done

# In Python, and under a tool that runs the program.
cat >load.py <<END
import ctypes, os
mpi = ctypes.CDLL(os.environ["LIBRARY"])
world, integer, total = (ctypes.c_void_p(n) for n in (int(os.environ["WORLD"]), int(os.environ["INT"]), int(os.environ["SUM"])))
mpi.MPI_Init(None, None)
rank, size, added = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mpi.MPI_Comm_size(world, ctypes.byref(size))
mpi.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(added), 1, integer, total, world)
if rank.value == 0:
    print(f"{size.value} ranks, sum {added.value}")
mpi.MPI_Finalize()
END
export LIBRARY=$XYLEM_BUILD_DIR/lib/libmpi_abi.so
eval "$(./joined handles)"
export WORLD INT SUM
for tool in "python3 load.py" "sh -c '$PWD/joined; $PWD/joined'" "timeout 50 $PWD/joined" \
    "$(command -v valgrind) -q $PWD/joined"; do
    [[ $tool != " -q"* ]] || continue
    eval run 0 -n 4 $on --launcher ./agent $tool "</dev/null"
    says "$out" "4 ranks, sum 6"
done

run 0 -n 4 $on --net shm --launcher ./agent env ./joined </dev/null
says "$out" "4 ranks, sum 6"

# The process of a host is killed, or stopped; mpiexec is killed.
fails 137 "process 1 on beta (ranks 2-3) was ended by signal 9" -n 4 $on --launcher ./agent \
    sh -c '[ $PMI_RANK != 3 ] || kill -9 $(ps -o ppid= -p $PPID); exec "$PWD/joined"'
fails 1 "process 1 on beta (ranks 2-3) has not answered for 3 s" -n 4 $on --launcher ./agent --heartbeat 3s \
    sh -c '[ $PMI_RANK != 3 ] || kill -STOP $PPID; exec "$PWD/joined"'
rm -f asleep
"$bin/mpiexec" -n 4 $on --launcher ./agent ./wrapper "$PWD/several" sleep 2 </dev/null &
pid=$!
until [ -e asleep ]; do sleep 0.1; done
kill -KILL $pid
wait $pid 2>/dev/null || true
gone_all

# What cannot be.
run 2 -n 4 --hosts alpha,beta --net mpi --launcher "$openmpi" ./wrapper "$PWD/joined" </dev/null
says "$err" "give each host slots (--hosts a:4,b:4) or --ppn"

# Ranks that wait for each other or poll, and that disagree: reports of processes on different hosts.
[ -x "$XYLEM_BUILD_DIR/tests/bugs/bugs" ] || exit 0
bugs=$XYLEM_SOURCE_DIR/tests/bugs
for launcher in ./agent "$openmpi" "$mpich"; do
    command -v ${launcher%% *} >/dev/null || continue
    net=mpi
    [ "$launcher" != ./agent ] || net=tcp
    options="--hosts alpha:1,beta:1 --net $net --launcher '$launcher'"
    for behind in "" "--behind env"; do
        expect 0 timeout 400 python3 "$bugs/run.py" --options "$options" $behind "$bin/mpiexec" \
            "$XYLEM_BUILD_DIR/tests/bugs/bugs" "$bugs"/{stuck,disagree,makers,files}.c -- \
            cycle_while_one_sleeps cycle_any_source poll_test poll_ibarrier \
            split_type_types dist_graph_weights dist_graph_reorder comm_create_groups \
            comm_create_group_sizes comm_create_group_order intercomm_leaders merge_order create_group_tags \
            intercomm_remote_leaders file_last_mode
    done
done

# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Ranks that are spawned on other hosts, by ranks of one process and by processes behind a wrapper, and in the place
# of a host that has failed.
. "$XYLEM_SOURCE_DIR/tests/launch/namespaces_lib.sh"

build spawn_hosts
for name in alpha beta gamma; do host $name 1gbit; done
echo "gamma:2" >hosts
on=(--launcher ./agent --hosts "alpha:1,beta:1")

# spawns "RANK on HOST,..." ARGUMENT...: the new ranks; parents are on alpha and beta.
spawns() {
    local children=$1 all
    shift
    run 0 "$@" </dev/null
    quiet
    all=$(wc -l <<<"$out")
    same "$out" "$(printf "%s: $all of $all\n" "parent 0 on alpha" "parent 1 on beta"
        tr ',' '\n' <<<"$children" | sed "s/.*/child &: $all of $all/")"
    gone
}
# The hosts of the job in turns; others; this one; the same for ranks that are processes.
spawns "0 on alpha,2 on alpha,1 on beta" -n 2 "${on[@]}" ./spawn_hosts 3
spawns "0 on gamma,1 on gamma" -n 2 "${on[@]}" ./spawn_hosts 2 host gamma
spawns "0 on gamma,1 on gamma" -n 2 "${on[@]}" ./spawn_hosts 2 add-hostfile hosts
spawns "0 on alpha,1 on alpha" -n 2 "${on[@]}" ./spawn_hosts 2 host alpha
spawns "0 on alpha,1 on beta" -n 2 "${on[@]}" env ./spawn_hosts 2
spawns "0 on gamma" -n 2 "${on[@]}" --net-plain --net-interface eth0,bridge0 env ./spawn_hosts 1 host gamma

# A host that is lost gets no new ranks; a process that is lost, on one machine, is replaced.
run 0 -n 3 --survive --launcher ./agent --heartbeat 3s --hosts alpha:1,beta:1,gamma:1 ./spawn_hosts 2 respawn </dev/null
same "$out" $'parent 0 on alpha: 4 of 4\nparent 1 on beta: 4 of 4\nchild 0 on alpha: 4 of 4\nchild 1 on beta: 4 of 4'
gone
run 0 -n 3 --survive ./spawn_hosts 1 respawn </dev/null
[ "$(grep -c ': 3 of 3$' <<<"$out")" = 3 ] || die "not replaced: $out"
gone

# New ranks that abort end their parents with the same code, and without a message about a lost job.
run 5 -n 2 "${on[@]}" ./spawn_hosts 2 abort </dev/null
says "$err" "MPI_ABORT was invoked"
[[ $err != *"has ended without"* ]] || die "another message: $err"
gone

# What cannot be started.
run 53 -n 2 "${on[@]}" ./spawn_hosts 2 host nowhere </dev/null
says "$err" "MPI_Comm_spawn: the mpiexec of the new ranks has ended before they have called MPI_Init"
gone

# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# launchers.sh LAUNCHER: placements given to a real launcher, on this host and on two. Every rank
# must say that it runs where it was put.
#
#   openmpi4, openmpi5   rankfiles, each with the version that reads them
#   mpich                -bind-to user: on one host, a host file for two
#   mpich-rankmap        -bind-to user: and -rankmap for two hosts
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"
here=$XYLEM_SOURCE_DIR/tests/place
launcher=$1
# Open MPI asks root whether it is sure.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1

skip() {
    echo "left out: $*"
    exit 77
}

# Too few cores would leave only one placement.
"$XYLEM" machine --json >machine.json
read -r cores processors < <(python3 -c '
import json
types = [o["type"] for o in json.load(open("machine.json"))["objects"]]
print(types.count("core"), types.count("pu"))')
[ "$cores" -ge 2 ] || skip "a machine of one core"

# need MPI OLDEST NEWEST: the installed one must be of these versions.
need() {
    local found text
    if ! command -v "mpirun.$1" >/dev/null || ! command -v "mpicc.$1" >/dev/null; then
        skip "there is no mpirun.$1 or mpicc.$1"
    fi
    text=$("mpirun.$1" --version 2>/dev/null) || true
    found=$(grep -oEm1 '[0-9]+\.[0-9]+' <<<"$text") || die "mpirun.$1 does not say its version: $text"
    awk -v v="$found" -v a="$2" -v b="$3" 'BEGIN {
        split(v, x, "."); split(a, y, "."); split(b, z, ".")
        v = x[1] * 1000 + x[2]
        exit !(y[1] * 1000 + y[2] <= v && v < z[1] * 1000 + z[2]) }' ||
        skip "$launcher needs $1 from $2 to before $3; here is $found"
}

case $launcher in
openmpi4) need openmpi 3.0 5.0 ;;
openmpi5) need openmpi 5.0 99.0 ;;
mpich) need mpich 3.0 99.0 ;;
mpich-rankmap) need mpich 5.0 99.0 ;; # 4.2 takes the option and then starts other ranks
*) die "no launcher $launcher" ;;
esac

# ring N: who talks to whom, as CSV.
ring() {
    local i
    printf 'source,target,bytes\n'
    for ((i = 0; i < $1; i++)); do
        echo "$i,$(((i + 1) % $1)),100"
    done
}

# moved MACHINE [FORMAT]: a seed whose random placement can be written as FORMAT and is not the one
# that a launcher would choose by itself.
moved() {
    local seed
    for seed in $(seq 50); do
        "$XYLEM" place ring.csv -m "$1" -s random --seed "$seed" --json >placed.json
        [ "$#" = 1 ] || "$XYLEM" place ring.csv -m "$1" -s random --seed "$seed" -o "$2" >/dev/null 2>&1 || continue
        python3 -c '
import json, sys
core_of = json.load(open("placed.json"))["core_of"]
sys.exit(core_of[0] < core_of[1])' || continue
        echo "$seed"
        return
    done
    die "no seed moves anybody"
}

# compare HOW: what the ranks said against placed.json. `core`: they are bound to all of a logical
# core; `pu`: to one processor, by its physical number.
compare() {
    python3 "$here/bound.py" "$1" machine.json placed.json "${2:-0}" rank.* ||
        die "$launcher put somebody elsewhere: $(cat err)"
    rm rank.*
}

on_this_host() {
    local seed arguments
    if [[ $launcher == openmpi* ]] && [ "$cores" != "$processors" ]; then
        echo "this host is left out: Open MPI counts cores, and here they have several processors"
        return
    fi
    mpi=${launcher%[45]}
    "mpicc.$mpi" -D_GNU_SOURCE "$here/bindings.c" -o bound
    ring "$cores" >ring.csv
    seed=$(moved live)
    for strategy in random round-robin; do
        place=("$XYLEM" place ring.csv -s "$strategy" --seed "$seed")
        "${place[@]}" --json >placed.json
        case $launcher in
        openmpi4)
            "${place[@]}" -o rankfile >ranks
            arguments=(--rankfile ranks)
            ;;
        openmpi5)
            "${place[@]}" -o rankfile5 >ranks
            arguments=(--map-by rankfile:file=ranks)
            ;;
        mpich) read -ra arguments < <("${place[@]}" -o mpich) ;;
        esac
        timeout 240 "mpirun.$mpi" -n "$cores" "${arguments[@]}" ./bound >err 2>&1 ||
            die "$launcher refused the placement: $(cat err)"
        case $launcher in
        openmpi*) compare core ;;
        *) compare pu ;;
        esac
    done
}

# Two hosts are this one under two names. What is launched says its rank without MPI: there is no
# network between names.
on_two_hosts() {
    local machine='node:2 core:2' hosts=node0:2,node1:2 seed format arguments own=()
    if ! unshare --uts true 2>/dev/null; then
        own=(--map-root-user)
        unshare --map-root-user --uts true 2>/dev/null ||
            { echo "two hosts are left out: no namespaces"; return; }
    fi
    cat >agent <<END
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done # what ssh would read: OPTION... HOST WORD...
host=\$1
shift
exec unshare ${own[*]} --uts bash -c "hostname \$host && { \$*; }"
END
    # shellcheck disable=SC2016 # for the rank to expand
    printf '%s\n' '#!/bin/bash' 'rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}' \
        'echo "$(uname -n) $(sed -n "s/^Cpus_allowed_list:\t//p" /proc/self/status)" >"${0%/*}/rank.$rank"' >show
    chmod +x agent show
    ring 4 >ring.csv
    case $launcher in
    openmpi4)
        # It knows hosts by number (+n1) only where a batch system has given them.
        export SLURM_JOBID=1 SLURM_NODELIST='node[0-1]' SLURM_TASKS_PER_NODE='2(x2)'
        format=rankfile arguments=(--mca plm rsh --mca plm_rsh_agent ./agent --rankfile ranks)
        ;;
    openmpi5) format=rankfile5 arguments=(--prtemca plm_ssh_agent ./agent --host "$hosts" --map-by rankfile:file=ranks) ;;
    mpich) format=mpich-hosts arguments=(-f ranks) ;;
    mpich-rankmap) format=mpich arguments=(-hosts "$hosts") ;;
    esac
    seed=$(moved "$machine" "$format")
    "$XYLEM" place ring.csv -m "$machine" -s random --seed "$seed" -o "$format" >ranks
    case $launcher in
    mpich*) arguments+=(-localhost 127.0.0.1 -launcher ssh -launcher-exec "$WORK/agent") mpi=mpich ;;
    openmpi*) mpi=openmpi ;;
    esac
    if [ "$launcher" = mpich-rankmap ]; then
        read -ra words <ranks
        arguments+=("${words[@]}")
    fi
    timeout 240 "mpirun.$mpi" -n 4 "${arguments[@]}" "$WORK/show" >err 2>&1 ||
        die "$launcher refused the placement on two hosts: $(cat err)"
    case $launcher in
    openmpi*) compare core 2 ;;
    *) compare pu 2 ;;
    esac
}

[ "$launcher" = mpich-rankmap ] || on_this_host
on_two_hosts

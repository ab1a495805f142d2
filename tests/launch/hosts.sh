# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2016
# Jobs on several hosts, by an agent that gives this machine other names where it may.
. "$XYLEM_SOURCE_DIR/tests/launch/several_lib.sh"

build several
here=$(pwd)
unset SLURM_JOB_NODELIST SLURM_JOB_ID PBS_NODEFILE
if unshare --uts true 2>/dev/null; then
    printf '#!/bin/sh\nhost=$1; shift\nexec unshare --uts sh -c "hostname $host; exec $*"\n' >agent
    names="alpha beta"
else
    printf '#!/bin/sh\nshift\nexec "$@"\n' >agent
    names="$(hostname) $(hostname)"
fi
chmod +x agent
read -r a b <<<"$names"

printf 'one\n' >input
run 0 -n 3 --hosts alpha:2,beta:4 --launcher ./agent -x XYLEM_TEST_WORD=x ./several <input
same "$out" "rank 0 of 3 here 0 of 2 on $a in $here with x sum 3
rank 1 of 3 here 1 of 2 on $a in $here with x sum 3
rank 2 of 3 here 0 of 1 on $b in $here with x sum 3
input one"
quiet
# As users of Open MPI and MPICH type it; the directory of -wdir; the environment comes along.
printf '# ours\nalpha slots=1\nbeta:3\n' >file
XYLEM_TEST_WORD=y run 0 -hostfile file --launcher ./agent -wdir / "$here/several" </dev/null
says "$out" "rank 3 of 4 here 2 of 3 on $b in / with y sum 6"
for option in -f -machinefile; do
    run 0 -n 2 -ppn 1 $option file --launcher ./agent ./several </dev/null
    says "$out" "rank 1 of 2 here 0 of 1 on $b"
done
# A path that a shell must not read.
mkdir "it's \$HOME"
cp "$bin/mpiexec" "it's \$HOME"
expect 0 "it's \$HOME/mpiexec" -n 2 --hosts alpha,beta --launcher ./agent ./several </dev/null
says "$out" "rank 1 of 2 here 0 of 1 on $b"
# An allocation of Slurm or PBS is enough.
printf 'alpha\nalpha\nbeta\n' >nodes
PBS_NODEFILE=nodes run 0 --launcher ./agent ./several </dev/null
says "$out" "rank 2 of 3 here 0 of 1 on $b"
SLURM_JOB_NODELIST='host[1-2]' SLURM_TASKS_PER_NODE='2(x2)' run 0 --launcher ./agent ./several </dev/null
says "$out" "rank 3 of 4 here 1 of 2 on"
# This machine alone needs no process of its own.
run 0 -n 2 --host "$(hostname):2" ./several </dev/null
says "$out" "rank 1 of 2 here 1 of 2"
# Clocks of hosts are compared. Here they are one: what is added to one is within what is stated.
run 0 -n 3 --hosts alpha:2,beta:4 --launcher ./agent --trace all.xyt --monitor all ./several messages </dev/null
grep -q '^2,0,2000,4$' all/program.csv || die "no messages from beta to alpha"
expect 0 "$bin/xylem" view all.xyt
says "$out" "recorded by 2 processes; their clocks are aligned, each within"
expect 0 "$bin/xylem" view --json all.xyt
says "$out" '"group": "process 1 on beta"'
python3 - 3<<<"$out" <<'END' || die "clocks: $out"
import json, os
processes = json.load(os.fdopen(3))["processes"]
assert len(processes) == 2
for p in processes:
    assert 0 < p["clock_error"] and abs(p["clock_offset"]) <= p["clock_error"], p
END

ends 137 "on beta (rank 1) was ended by signal 9" -n 2 --hosts alpha,beta --launcher ./agent ./several kill 1
ends 7 "MPI_ABORT was invoked on rank 0" -n 2 --hosts alpha,beta --launcher ./agent ./several abort 0
ends 1 "could not be started: 'false' ended with exit code 1" -n 2 --hosts alpha,beta --launcher false ./several
ends 1 "the launcher 'no-such-thing' was not found" -n 2 --hosts alpha,beta --launcher no-such-thing ./several
printf '#!/bin/sh\nexec sleep 100\n' >late
chmod +x late
ends 1 "has not started within 1 s" -n 2 --hosts alpha,beta --launcher ./late --start-timeout 1s ./several
ends 1 "expected a number of slots" -n 2 --hosts alpha:x,beta ./several
printf 'a colour=red\n' >file
ends 1 "file:1: unknown word 'colour=red'" -n 2 --hostfile file ./several
ends 2 "--processes is for this machine" -n 2 --processes 2 --hosts alpha,beta ./several
# A directory that is not there.
printf '#!/bin/sh\nshift\ncd /\nexec unshare --mount sh -c "mount -t tmpfs none %s; exec $*"\n' "$here" >bare
chmod +x bare
if unshare --mount true 2>/dev/null; then
    mkdir away && cp several bare away
    (cd away && ends 1 "cannot change to the directory '$here/away'" -n 1 --hosts beta --launcher ./bare ./several)
fi

# A process that has come and does not get ready: preloaded, it stops where it looks for its own
# addresses, as mpiexec and the other process do before it.
cat >stuck.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>
int getifaddrs(void *all)
{
    int (*next)(void *) = dlsym(RTLD_NEXT, "getifaddrs");

    if (mkdir("mpiexec-was-here", 0700) != 0 && mkdir("one-was-here", 0700) != 0)
        sleep(300);
    return next(all);
}
END
cc -shared -fPIC stuck.c -o stuck.so
# On a busy machine a process may not have come within 1 s; with more time it has.
for limit in 1 5 25; do
    rm -rf mpiexec-was-here one-was-here
    LD_PRELOAD=./stuck.so ends 1 "within $limit s (--start-timeout)" \
        -n 2 --hosts alpha,beta --launcher ./agent --start-timeout ${limit}s ./several </dev/null
    [[ $err != *"has connected, but was not ready"* ]] || break
done
says "$err" "has connected, but was not ready within $limit s (--start-timeout)"

# A trace shows that the communication core works on what comes from another host while the rank
# computes: each process has all cores of this machine.
if [ "$(nproc)" -ge 2 ]; then
    build computes
    run 0 -n 2 --hosts alpha:1,beta:1 --launcher ./agent --comm-cores 1 --trace computes.xyt ./computes </dev/null
    expect 0 "$bin/xylem" view computes.xyt --chrome computes.json
    python3 - <<'END' || die "no progress while rank 1 computed"
import json, sys
events = json.load(open("computes.json"))
events = events["traceEvents"] if isinstance(events, dict) else events
names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
states = [e for e in events if e["ph"] == "X" and e["pid"] == 2]
work = [e for e in states if "communication" in names[e["tid"]] and e["cat"] == "progress"]
computed = [e for e in states if e["cat"] == "compute" and e.get("args", {}).get("id") == 1]
sys.exit(not any(c["ts"] <= w["ts"] and w["ts"] + w["dur"] <= c["ts"] + c["dur"] for w in work for c in computed))
END
fi

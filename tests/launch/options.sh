# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The command line of mpiexec.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build private
for n in -n -np --np -c --n; do
    run 0 $n 2 ./private x
    quiet
    same "$out" $'rank 0\nrank 1'
done
run 0 --oversubscribe --allow-run-as-root --bind-to core --map-by node -n 2 ./private x
quiet
run 2 -nn 2 ./private
says "$err" "unknown option '-nn'; did you mean '-n'?"
run 2 --oversubcribe -n 2 ./private
says "$err" "did you mean '--oversubscribe'?"
run 2 -n 0 ./private
run 2 -n many ./private
run 2
says "$err" "no program was given"
run 0 --version
says "$out" "mpiexec (Xylem) "
run 0 --help
says "$out" "threads-per-rank"
expect 0 "$bin/mpirun" -n 2 ./private
expect 0 "$bin/xylem" run -n 2 ./private x
same "$out" $'rank 0\nrank 1'
[[ $out != *tag-output* ]] || die "--help has an option that is not common"
run 0 --help-all
says "$out" "tag-output"
says "$out" "environment XYLEM_ADAPT; experimental"
expect 0 "$bin/xylem" run --help-all
says "$out" "tag-output"

# Options of the program are the program's.
run 0 -n 1 sh -c 'echo args "$@"' x -n 7 --version
[ "$out" = "args -n 7 --version" ] || die "$out"

# Hosts.
number=0
for host in localhost "$(hostname)" localhost:4 127.0.0.1 "localhost:2,$(hostname):8"; do
    for option in -host -hosts -H --host; do
        number=$((number + 1))
        is_chosen $number 3 || continue
        run 0 $option "$host" -n 2 ./private
        quiet
    done
done
run 1 -n 2 -host localhost,elsewhere:x ./private
[ "$(wc -l <<<"$err")" = 1 ] || die "one line: $err"
says "$err" "--hosts: 'elsewhere:x': expected a number of slots"
printf '# hosts\nlocalhost slots=4\n' >hosts
run 0 -n 2 -hostfile hosts ./private
run 0 -n 2 -f hosts ./private
run 0 -n 2 -machinefile hosts ./private
echo 'far.example:much' >>hosts
run 1 -n 2 -machinefile hosts ./private
says "$err" "hosts:3: 'far.example:much'"

# The working directory.
mkdir sub
cp private sub
run 0 -n 2 -wdir sub ./private
run 1 -n 2 -wdir absent ./private
run 1 -n 1 -wdir sub ./private : -n 1 -wdir /tmp ./private
says "$err" "give the same -wdir to each"

# Several programs.
run 0 -n 2 ./private x : -n 1 ./private : -np 2 ./private x
same "$out" $'rank 0\nrank 1\nrank 3\nrank 4'

# Placement.
for place in scatter_numa scatter packed round-robin; do
    run 0 -n 5 --place $place ./private
    quiet
done
run 2 -n 2 --place pakced ./private
says "$err" "did you mean 'packed'?"
core=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
printf '0 %d\n1 %d\n2 %d\n' "$core" "$core" "$core" >places
run 0 -n 3 -v --place places ./private
says "$err" "rank 2 runs './private' on core $core"
# A rank without a line is placed by the strategy of the file.
run 0 -n 4 -v --place places ./private
says "$err" "rank 2 runs './private' on core $core"
says "$err" "rank 3 runs './private' on core "
echo '* pakced' >>places
run 1 -n 4 --place places ./private
says "$err" "places:4: 'pakced' is not a strategy that works without a matrix"
run 0 -n 3 -v --cores "$core" ./private
says "$err" "rank 2 runs './private' on core $core"
[ "$(grep -c "on core $core" <<<"$err")" = 3 ] || die "$err"
run 0 -n 9 --workers 1 ./private
run 0 -n 2 --stack-size 256K --eager 100 --spin 0 ./private
# As many ranks as cores, without a number.
run 0 ./private x
[ "$(wc -l <<<"$out")" -ge 1 ] || die "$out"

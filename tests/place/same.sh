# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# One name, one meaning: 'xylem place' and 'mpiexec --place' put ranks on the same cores.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
unset XYLEM_MATRIX

build private
strategies=$("$XYLEM" help place --json | python3 -c 'import json, sys
options = json.load(sys.stdin)["verbs"][0]["options"]
print(*next(o["choices"] for o in options if o["name"] == "strategy"))')
[[ $strategies == auto*round-robin* ]] || die "no list of strategies: $strategies"

# random_matrix RANKS SEED
random_matrix() {
    awk -v n="$1" -v seed="$2" 'BEGIN {
        srand(seed)
        for (i = 0; i < n; i++) {
            for (k = 0; k < n; k++)
                printf "%d%s", i == k ? 0 : int(rand() * 100), k < n - 1 ? " " : "\n"
        }
    }'
}

checked=0 number=0
for ranks in 1 2 3 5 8 13; do
    random_matrix $ranks $ranks >random.mat
    for strategy in $strategies; do
        number=$((number + 1))
        is_chosen $((number + ranks)) 3 || continue
        if ! "$XYLEM" place random.mat -s "$strategy" -o xylem >expected 2>.err; then
            grep -q "cannot be loaded\|not in this build" .err || die "$strategy: $(cat .err)"
            continue
        fi
        run 0 -v -n $ranks --place "$strategy" --matrix random.mat ./private x
        sed -n 's/^mpiexec: rank \([0-9]*\) runs .* on core \([0-9]*\)$/\1 \2/p' <<<"$err" |
            sort -n >placed
        cmp expected placed || die "$strategy, $ranks ranks: $(paste -s expected) is not $(paste -s placed)"
        checked=$((checked + 1))
    done
done
[ $checked -ge 18 ] || die "only $checked placements were compared"

# What needs a matrix says so; a file of lines works as before.
run 2 -n 2 --place treematch ./private
says "$err" "strategy treematch needs a communication matrix; give it with --matrix FILE"
run 1 -n 2 --matrix random.mat ./private
says "$err" "random.mat: the matrix has 13 ranks and the job 2"
run 1 -n 2 --matrix absent.mat ./private
says "$err" "absent.mat"
run 0 -n 13 --place packed --matrix random.mat ./private x
says "$err" "warning: --matrix random.mat is ignored: --place packed does not need it"
"$XYLEM" place random.mat -s treematch -o xylem >ranks 2>/dev/null
run 0 -v -n 13 --place ranks ./private x
[ "$(grep -c ' on core ' <<<"$err")" = 13 ] || die "$err"
# The other formats, and without --place the strategy that xylem place has.
"$XYLEM" place random.mat --write random.csv -o xylem >expected 2>/dev/null
run 0 -v -n 13 --matrix random.csv ./private x
sed -n 's/^mpiexec: rank \([0-9]*\) runs .* on core \([0-9]*\)$/\1 \2/p' <<<"$err" | sort -n >placed
cmp expected placed || die "--matrix alone: $(paste -s expected) is not $(paste -s placed)"

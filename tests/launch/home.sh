# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A hint for the next run that cannot be stored is a warning: HOME is unset, empty, missing, or below a file.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
unset XDG_CACHE_HOME XYLEM_COSTS XYLEM_HISTORY

"$bin/mpicc" "$XYLEM_SOURCE_DIR/examples/overlap.c" -o overlap

# with_home HOME COMMAND...: "-" for an environment without it.
with_home() {
    local home=$1
    shift
    if [ "$home" = - ]; then
        env -u HOME "$@"
    else
        env "HOME=$home" "$@"
    fi
}

for home in - "" "$WORK/missing/home" /dev/null/home; do
    for option in --comm-cores=auto --adapt=learn --adapt=on "--virtual=node:1 core:8"; do
        expect 0 with_home "$home" "$bin/mpiexec" -n 4 "$option" ./overlap
        [ "$(wc -l <<<"$err")" -le 1 ] || die "HOME='$home' $option: $err"
    done
    expect 0 with_home "$home" "$XYLEM" machine
    [ -z "$err" ] || die "HOME='$home' xylem machine: $err"
done
expect 0 with_home /dev/null/home "$bin/mpiexec" -n 4 --comm-cores auto ./overlap
says "$err" "--comm-cores auto: the measurement of this run is not stored in '/dev/null/home/"
expect 0 with_home - "$bin/mpiexec" -n 4 --comm-cores auto ./overlap
says "$err" "neither HOME nor XDG_CACHE_HOME is set; set XYLEM_COSTS to a path"

# A directory that is missing is made, and the hint is there for the next run.
expect 0 with_home "$WORK/other/home" "$bin/mpiexec" -n 4 --comm-cores auto ./overlap
[ -z "$err" ] || die "$err"
[ -s "$(echo "$WORK"/other/home/.cache/xylem/costs-*.overlap)" ] || die "nothing was stored"

# A measurement that could not be stored is refused before it takes minutes.
expect 1 timeout 20 env HOME=/dev/null/home "$XYLEM" calibrate
says "$err" "/dev/null/home"

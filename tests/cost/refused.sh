# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What calibration cannot do is said before anything is measured.
# shellcheck disable=SC2154 # err is set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

export XDG_CACHE_HOME=$WORK/cache
# refused CODE TEXT ARGUMENT...
refused() {
    local code=$1 text=$2
    shift 2
    expect "$code" timeout 20 "$XYLEM" calibrate "$@"
    says "$err" "$text"
    [ -z "$out" ] || die "something was measured: $out"
}
refused 2 "--seconds must be more than 0" --seconds 0
refused 2 "option --seconds: '-1s' is a time below 0" --seconds=-1s
refused 2 "--max-time must be more than 0" --max-time 0
refused 2 "--hold-out: 'x' is not a size" --hold-out x --memory
refused 2 "--sizes: '0' is not a size" --sizes 0 --memory
refused 1 "cannot create a file in its directory" --output nowhere/costs.xml
refused 1 "cannot create a file in its directory" --svg nowhere/costs.svg
refused 1 "cannot create a file in its directory" --hosts "$XYLEM_SOURCE_DIR/tests/cost/refused.sh" --output nowhere/costs.xml
[ ! -e cache ] || die "something was stored"

# A plug-in that cannot be loaded: why.
expect 1 timeout 60 "$XYLEM" calibrate --kernels '' --plugin sort=./nosuch.so --compute --seconds 1 --output costs.xml
says "$err" "nosuch.so: cannot open shared object file"

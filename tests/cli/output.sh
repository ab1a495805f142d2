# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Full disk, closed and broken standard output, closed standard input and error.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

if [ -w /dev/full ]; then
    got=0
    "$XYLEM" --help >/dev/full 2>err || got=$?
    [ $got = 1 ] || die "a full disk ends with $got"
    one_line "$(cat err)"
    says "$(cat err)" "standard output: cannot write: No space left on device"
fi

got=0
"$XYLEM" --help >&- 2>err || got=$?
[ $got = 1 ] || die "closed standard output ends with $got"
one_line "$(cat err)"
expect 0 "$XYLEM" --version <&-
# shellcheck disable=SC2016
expect 2 bash -c '"$0" --nonsense 2>&-' "$XYLEM"
[ -z "$out" ] || die "the message went to standard output: $out"

# The reader leaves before anything is written: quiet, and death by SIGPIPE as everybody does it.
exec 3> >(exec 0<&-; : >"$WORK/left")
until [ -e left ]; do sleep 0.01; done
got=0
"$XYLEM" help --json >&3 2>err || got=$?
exec 3>&-
[ $got = 141 ] || die "a broken pipe ends with $got"
[ ! -s err ] || die "a broken pipe is not worth a message: $(cat err)"

# With SIGPIPE ignored by the parent it is quiet too.
rm left
exec 3> >(exec 0<&-; : >"$WORK/left")
until [ -e left ]; do sleep 0.01; done
got=0
(
    trap '' PIPE
    "$XYLEM" help --json >&3 2>err
) || got=$?
exec 3>&-
[ $got = 1 ] || die "an ignored broken pipe ends with $got"
[ ! -s err ] || die "a broken pipe is not worth a message: $(cat err)"

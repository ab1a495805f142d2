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

# What ends early ends quietly.
"$XYLEM" machine 50x8x8 --json 2>err | head -1 >/dev/null || true
[ ! -s err ] || die "head -1 gave: $(cat err)"

# A disk that fills up while a file is written: the old file stays, nothing half-written does.
mkdir full
echo "<svg>old</svg>" >full/picture.svg
got=0
(
    trap '' XFSZ
    ulimit -f 2
    "$XYLEM" machine 50x8x8 --svg full/picture.svg 2>err
) || got=$?
[ $got = 1 ] || die "a full disk ends with $got"
one_line "$(cat err)"
says "$(cat err)" "full/picture.svg: cannot write: File too large"
[ "$(ls -A full)" = picture.svg ] || die "left behind: $(ls -A full)"
[ "$(cat full/picture.svg)" = "<svg>old</svg>" ] || die "the old file was harmed"

# The same when the signal is not ignored.
got=0
(
    ulimit -f 2 -c 0
    exec "$XYLEM" machine 50x8x8 --svg full/picture.svg
) 2>err || got=$?
[ $got -gt 128 ] || die "SIGXFSZ ends with $got"
[ "$(ls -A full)" = picture.svg ] || die "left behind: $(ls -A full)"

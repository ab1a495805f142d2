# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A rank's TZ is the rank's.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build zone
export TZ=EEE-5
for workers in 1 2; do
    run 0 -n 4 --workers $workers ./zone
    quiet
    same "$out" $'0: 02:46 AAA AAA -3600 0, Sun Sep  9 02:46:40 2001
1: 23:46 BBB BBB 7200 0, Sat Sep  8 23:46:40 2001
2: 05:46 DDD CCC -10800 1, Sun Sep  9 05:46:40 2001
3: 06:46 EEE EEE -18000 0, Sun Sep  9 06:46:40 2001'
done
run 0 -n 1 --share-globals ./zone
same "$out" $'0: 02:46 AAA AAA -3600 0, Sun Sep  9 02:46:40 2001'

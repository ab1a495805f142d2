#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# make soak within a limit of time, compared with the run before.
#
#   scripts/nightly.sh [MINUTES [RESULTS]]     (120 minutes, build/nightly/results.csv)
#
# The limit includes the builds; a stage gets half of the time that is left. RESULTS has a line
# `stage,name,result,seconds` for each test; the next run compares with it: new failures, fixed tests, tests that
# take twice as long and a second more. A test that was not reached keeps its older line; mutants that the last run
# did not reach come first. Exit code 1: something failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

case ${1:-} in
-h | --help) sed -n '3,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
*[!0-9]*) echo "nightly: '$1' is no number of minutes" >&2; exit 2 ;;
esac
results=${2:-build/nightly/results.csv}
mkdir -p "$(dirname "$results")" || exit 2
XYLEM_SOAK=1 XYLEM_UNTIL=$(($(date +%s) + ${1:-120} * 60)) XYLEM_BEFORE=$results SOAK_MINUTES=5 \
    scripts/test.sh dev mutants asan tsan lint random innocent fuzz generated load
code=$?
scripts/compare.py "$results" build/logs/results.csv || code=1
exit $code

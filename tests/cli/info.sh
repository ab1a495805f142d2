# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# xylem info: the version, and what is found or missing.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

expect 0 "$XYLEM" --version
version=${out#xylem }
expect 0 "$XYLEM" info
says "$out" "  version            $version"
says "$out" "  launcher           $(dirname "$(realpath "$XYLEM")")/mpiexec"

# What is missing is marked. No launcher is in an empty directory.
mkdir empty
expect 0 env PATH="$PWD/empty" "$XYLEM" info
says "$out" "  ssh                - no ssh in PATH"
says "$out" "  Open MPI           - no mpirun.openmpi in PATH"

# A launcher is found by its name, and Xylem's own under another name is none.
printf '#!/bin/sh\n' >empty/srun
chmod +x empty/srun
ln -s "$(dirname "$(realpath "$XYLEM")")/mpiexec" empty/mpirun.openmpi
expect 0 env PATH="$PWD/empty" "$XYLEM" info
says "$out" "  Slurm              $PWD/empty/srun"
says "$out" "  Open MPI           - no mpirun.openmpi in PATH"

# Costs are there once they are measured.
XYLEM_COSTS=$PWD/none.xml expect 0 "$XYLEM" info
says "$out" "- not measured; run 'xylem calibrate'"
touch some.xml
XYLEM_COSTS=$PWD/some.xml expect 0 "$XYLEM" info
says "$out" "  costs              $PWD/some.xml"

expect 0 "$XYLEM" info --json
[ "$(python3 -c 'import json,sys; print([r["value"] for r in json.load(sys.stdin) if r["name"] == "version"][0])' <<<"$out")" = "$version" ] ||
    die "odd JSON: $out"
expect 2 "$XYLEM" info more
one_line "$err"

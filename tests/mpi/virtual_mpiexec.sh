#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The launcher in virtual time, for tests that put `-n` first: XYLEM_MPIEXEC is the real one.
exec "$XYLEM_MPIEXEC" --virtual 'node:32(latency=1us bandwidth=10GB/s) core:4' --oversubscribe \
    --compute none "$@"

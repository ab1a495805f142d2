#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Build for release and make packages of it: build/package/xylem-*.{deb,rpm,tar.gz}.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh build package
# What xylem monitor loads into another MPI's programs would make that MPI a dependency.
cmake --preset release -B build/package -DXYLEM_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/opt/xylem \
    -DXYLEM_MPICC_openmpi= -DXYLEM_MPICC_mpich= >/dev/null
cmake --build build/package
(cd build/package && cpack >cpack.log 2>&1) || {
    tail -20 build/package/cpack.log >&2
    exit 1
}
ls build/package/xylem-*.*

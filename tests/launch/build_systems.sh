# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Projects that look for MPI with CMake, Meson and make find this one when it is first in PATH.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
PATH=$bin:$PATH

cp "$sources/private.c" "$sources/objects.cc" .
cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.16)
project(user C CXX)
find_package(MPI REQUIRED COMPONENTS C CXX)
add_executable(private private.c)
target_link_libraries(private MPI::MPI_C)
add_executable(objects objects.cc)
target_link_libraries(objects MPI::MPI_CXX)
enable_testing()
add_test(NAME run COMMAND \${MPIEXEC_EXECUTABLE} \${MPIEXEC_NUMPROC_FLAG} 3 \$<TARGET_FILE:private>)
END
cmake -S . -B with-cmake >cmake.log 2>&1 || die "$(cat cmake.log)"
cmake --build with-cmake >>cmake.log 2>&1 || die "$(cat cmake.log)"
grep -q "MPIEXEC_EXECUTABLE:FILEPATH=$bin/mpiexec" with-cmake/CMakeCache.txt || die "another mpiexec"
(cd with-cmake && ctest >/dev/null) || die "the test of the CMake project failed"
run 0 -n 3 with-cmake/private x
[ "$(wc -l <<<"$out")" = 3 ] || die "$out"
run 0 -n 2 with-cmake/objects

cat >Makefile <<END
CC = mpicc
CXX = mpicxx
all: private objects
objects: objects.cc
	\$(CXX) \$(CXXFLAGS) -o \$@ \$<
END
make >make.log 2>&1 || die "$(cat make.log)"
run 0 -n 3 ./private x
[ "$(wc -l <<<"$out")" = 3 ] || die "$out"

if command -v meson >/dev/null && command -v ninja >/dev/null; then
    cat >meson.build <<END
project('user', 'c')
executable('private', 'private.c', dependencies: dependency('mpi', language: 'c'))
END
    # Without Open MPI's package file, which comes first, Meson asks mpicc.
    mkdir empty
    MPICC=$bin/mpicc PKG_CONFIG_LIBDIR=$PWD/empty meson setup with-meson >meson.log 2>&1 ||
        die "$(cat meson.log)"
    ninja -C with-meson >>meson.log 2>&1 || die "$(cat meson.log)"
    run 0 -n 3 with-meson/private x
    [ "$(wc -l <<<"$out")" = 3 ] || die "$out"
fi

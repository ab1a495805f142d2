# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Projects in Fortran that look for MPI with CMake, Meson and autoconf find this one; and programs that
# are optimized as a whole.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
PATH=$bin:$PATH
[ -e "$XYLEM_BUILD_DIR/include/mpi_f08.mod" ] || skip "this build has no Fortran modules"
cp "$XYLEM_SOURCE_DIR/examples/heat_f08.f90" .

# Optimized across files, and stripped.
mpifort -O3 -flto -s "$XYLEM_SOURCE_DIR/tests/fortran/f08.f90" -o f08
run 0 -n 3 ./f08

cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.16)
project(user Fortran)
find_package(MPI REQUIRED COMPONENTS Fortran)
if(NOT MPI_Fortran_HAVE_F77_HEADER OR NOT MPI_Fortran_HAVE_F90_MODULE OR NOT MPI_Fortran_HAVE_F08_MODULE)
  message(FATAL_ERROR "an interface was not found")
endif()
add_executable(heat heat_f08.f90)
target_link_libraries(heat MPI::MPI_Fortran)
END
cmake -S . -B with-cmake >cmake.log 2>&1 || die "$(cat cmake.log)"
cmake --build with-cmake >>cmake.log 2>&1 || die "$(cat cmake.log)"
run 0 -n 4 with-cmake/heat
[[ $out == *"4 ranks"* ]] || die "$out"

if command -v meson >/dev/null && command -v ninja >/dev/null; then
    cat >meson.build <<END
project('user', 'fortran')
executable('heat', 'heat_f08.f90', dependencies: dependency('mpi', language: 'fortran'))
END
    mkdir empty
    MPIFC=$bin/mpifort PKG_CONFIG_LIBDIR=$PWD/empty meson setup with-meson >meson.log 2>&1 ||
        die "$(cat meson.log)"
    ninja -C with-meson >>meson.log 2>&1 || die "$(cat meson.log)"
    run 0 -n 4 with-meson/heat
fi

if command -v autoconf >/dev/null; then
    mkdir with-autoconf
    cd with-autoconf || exit 1
    cat >configure.ac <<'END'
AC_INIT([user], [1])
AC_PROG_FC([mpifort])
AC_LANG([Fortran])
AC_FC_SRCEXT([f90])
AC_CHECK_FUNC([MPI_Send], [], [AC_MSG_ERROR([no MPI])])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [[      use mpi_f08]])], [], [AC_MSG_ERROR([no module])])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END
    printf 'all:\n\t@FC@ @FCFLAGS@ ../heat_f08.f90 -o heat @LIBS@\n' >Makefile.in
    { autoconf && ./configure && make; } >../autoconf.log 2>&1 || die "$(cat ../autoconf.log)"
    run 0 -n 4 ./heat
fi

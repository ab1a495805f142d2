# SPDX-License-Identifier: BSD-3-Clause
# Cross-compile for aarch64 with Debian's gcc-aarch64-linux-gnu:
#
#   cmake -B build/aarch64 -G Ninja --toolchain cmake/toolchains/aarch64-linux-gnu.cmake
#
# Tests run through qemu-aarch64 when it is there.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# Only libraries of the target may be found, not those of the machine that compiles.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/aarch64-linux-gnu/lib/pkgconfig)
find_program(XYLEM_QEMU qemu-aarch64)
if(XYLEM_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${XYLEM_QEMU};-L;/usr/aarch64-linux-gnu)
endif()

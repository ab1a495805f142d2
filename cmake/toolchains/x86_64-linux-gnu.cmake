# SPDX-License-Identifier: BSD-3-Clause
# Cross-compile for x86_64 with Debian's gcc-x86-64-linux-gnu:
#
#   cmake -B build/x86_64 -G Ninja --toolchain cmake/toolchains/x86_64-linux-gnu.cmake
#
# Tests run through qemu-x86_64 when it is there.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# Only libraries of the target may be found, not those of the machine that compiles.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/x86_64-linux-gnu/pkgconfig:/usr/x86_64-linux-gnu/lib/pkgconfig)
find_program(XYLEM_QEMU qemu-x86_64)
if(XYLEM_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${XYLEM_QEMU};-L;/usr/x86_64-linux-gnu)
endif()

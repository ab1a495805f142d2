# SPDX-License-Identifier: BSD-3-Clause
# Compiler flags. Everything is C11 with hidden visibility and position-independent.
option(XYLEM_WERROR "treat warnings as errors" OFF)
option(XYLEM_REQUIRE_TESTS "fail to configure when unit tests cannot be built" OFF)
option(XYLEM_BUILD_UNIT_TESTS "build all unit tests with the rest (make test builds most with sanitizers only)" ON)
option(XYLEM_FUZZ "build the libFuzzer targets (clang only)" OFF)
set(XYLEM_SANITIZE "" CACHE STRING "sanitizers: address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "build type" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_LINK_DEPENDS_NO_SHARED ON) # a program need not be linked again when a library changes
set(CMAKE_C_FLAGS_RELEASE "-O2")
# Installed programs find the libraries beside them wherever the tree is moved to.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

add_compile_definitions(_GNU_SOURCE)
add_compile_options(-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
                    -Wcast-qual -Wwrite-strings -Wformat=2 -Wundef -Wvla -fno-common -ffunction-sections -fdata-sections)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # A cut text is what snprintf is called for; this warning also comes and goes with optimisation.
  add_compile_options(-Wno-format-truncation)
endif()
if(XYLEM_WERROR)
  add_compile_options(-Werror)
endif()
# Linking hundreds of tests takes a third of the time with it. What gets installed is linked as usual.
find_program(XYLEM_LLD ld.lld)
# A test that hangs must end; one that is slow on a busy machine must not. The environment variable
# XYLEM_TIMEOUT_FACTOR multiplies all limits of tests, here, in tests/testing.sh and in tests/testing.py.
set(factor 2)
if(NOT "$ENV{XYLEM_TIMEOUT_FACTOR}" STREQUAL "")
  set(factor $ENV{XYLEM_TIMEOUT_FACTOR})
endif()
math(EXPR XYLEM_TEST_TIMEOUT "300 * ${factor}")
set(XYLEM_SANITIZED 0)
set(XYLEM_UNOPTIMISED OFF) # but for the components that compute for long (XYLEM_COMPONENTS_THAT_COMPUTE)
if(XYLEM_SANITIZE OR CMAKE_C_FLAGS_RELWITHDEBINFO MATCHES "-O0")
  set(XYLEM_UNOPTIMISED ON)
endif()
if(XYLEM_SANITIZE)
  math(EXPR XYLEM_TEST_TIMEOUT "900 * ${factor}")
  set(XYLEM_SANITIZED 1)
  if(XYLEM_SANITIZE MATCHES "thread")
    set(XYLEM_SAMPLE 1)
  endif()
  # Lines are enough for reports. The sanitizers' checks take most of the compiler's time when they are
  # optimised; only components whose tests compute for long are (XYLEM_COMPONENTS_THAT_COMPUTE).
  set(CMAKE_C_FLAGS_DEBUG "-O0 -g1")
  add_compile_options(-fsanitize=${XYLEM_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${XYLEM_SANITIZE} $<$<BOOL:${XYLEM_LLD}>:-fuse-ld=lld>)
  if(XYLEM_SANITIZE MATCHES "undefined")
    # What goes wrong after these three AddressSanitizer sees itself; they take a third of the build.
    add_compile_options(-fno-sanitize-recover=undefined -fno-sanitize=null,object-size,pointer-overflow)
  endif()
endif()
# What the sanitized stages of scripts/test.sh run, and so what they build: unit tests, fuzz targets
# and some MPI programs with their launcher. The commands and examples are for dev.
if(XYLEM_SANITIZE)
  add_custom_target(sanitized)
  add_custom_target(threaded) # of these, what make test runs under ThreadSanitizer
endif()
function(xy_sanitized)
  if(XYLEM_SANITIZE)
    add_dependencies(sanitized ${ARGN})
  endif()
endfunction()
function(xy_threaded)
  if(XYLEM_SANITIZE)
    add_dependencies(threaded ${ARGN})
  endif()
endfunction()

# xy_soak(TEST...): `make test` leaves these out, `make soak` and a plain ctest run them.
function(xy_soak)
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS soak)
endfunction()

# xy_sample(TEST NUMBER): TEST is one of many similar ones. `make test` runs those with even numbers, under
# ThreadSanitizer those with odd ones.
function(xy_sample test number)
  math(EXPR odd "(${number} + 0${XYLEM_SAMPLE}) % 2")
  if(odd)
    xy_soak(${test})
  endif()
endfunction()

# xy_number(VARIABLE NAME): a number made of a name, for samples that do not change when tests are added.
function(xy_number variable name)
  string(MD5 sum ${name})
  string(SUBSTRING ${sum} 0 6 sum)
  math(EXPR number "0x${sum}")
  set(${variable} ${number} PARENT_SCOPE)
endfunction()

if(XYLEM_SANITIZE MATCHES "address" AND CMAKE_C_COMPILER_ID MATCHES Clang)
  # Programs are loaded into mpiexec and need its sanitizer, not one of their own.
  add_link_options(-shared-libasan)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
                  OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
  get_filename_component(runtime ${runtime} DIRECTORY)
  list(APPEND CMAKE_BUILD_RPATH ${runtime})
endif()

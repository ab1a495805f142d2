# SPDX-License-Identifier: BSD-3-Clause
# Optional dependencies are found, not required. Each absence is listed once, with what it disables.
find_package(PkgConfig)
find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter) # writes the MPI functions

set(XYLEM_MISSING "")

# xy_dependency(VARIABLE pkg-config-module "what its absence disables")
# gives XYLEM_HAVE_<VARIABLE> and the imported target PkgConfig::<VARIABLE>.
function(xy_dependency variable module disables)
  option(XYLEM_WITH_${variable} "use ${module} when it is found" ON)
  set(have 0)
  if(XYLEM_WITH_${variable} AND PKG_CONFIG_FOUND)
    pkg_check_modules(${variable} QUIET IMPORTED_TARGET ${module})
    if(${variable}_FOUND)
      set(have 1)
    endif()
  endif()
  set(XYLEM_HAVE_${variable} ${have} PARENT_SCOPE)
  if(NOT have)
    set(XYLEM_MISSING "${XYLEM_MISSING}  ${module}: ${disables}\n" PARENT_SCOPE)
  endif()
endfunction()

# xy_library_dependency(VARIABLE header library "what its absence disables"): the same for a library
# without a pkg-config file; the imported target is Xylem::<VARIABLE>.
function(xy_library_dependency variable header library disables)
  option(XYLEM_WITH_${variable} "use ${library} when it is found" ON)
  set(have 0)
  if(XYLEM_WITH_${variable})
    find_path(XYLEM_${variable}_HEADER ${header})
    find_library(XYLEM_${variable}_LIBRARY ${library})
    if(XYLEM_${variable}_HEADER AND XYLEM_${variable}_LIBRARY)
      set(have 1)
      get_filename_component(directory ${XYLEM_${variable}_HEADER}/${header} DIRECTORY)
      add_library(Xylem::${variable} INTERFACE IMPORTED GLOBAL)
      set_target_properties(Xylem::${variable} PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES ${directory}
        INTERFACE_LINK_LIBRARIES ${XYLEM_${variable}_LIBRARY})
    endif()
  endif()
  set(XYLEM_HAVE_${variable} ${have} PARENT_SCOPE)
  if(NOT have)
    set_property(GLOBAL APPEND_STRING PROPERTY XYLEM_MISSING "  ${library}: ${disables}\n")
  endif()
endfunction()

# xy_header_dependency(VARIABLE header "what its absence disables"): the same for a library of which only the
# header is needed, as it is loaded at run time.
function(xy_header_dependency variable header disables)
  option(XYLEM_WITH_${variable} "use ${header} when it is found" ON)
  set(have 0)
  if(XYLEM_WITH_${variable})
    find_path(XYLEM_${variable}_HEADER ${header})
    if(XYLEM_${variable}_HEADER)
      set(have 1)
    endif()
  endif()
  set(XYLEM_HAVE_${variable} ${have} PARENT_SCOPE)
  if(NOT have)
    set(XYLEM_MISSING "${XYLEM_MISSING}  ${header}: ${disables}\n" PARENT_SCOPE)
  endif()
endfunction()

# xy_library_file(library variable): the name under which the dynamic linker finds a shared library.
function(xy_library_file library variable)
  get_filename_component(name ${library} NAME)
  execute_process(COMMAND ${CMAKE_READELF} -d ${library} OUTPUT_VARIABLE dynamic ERROR_QUIET)
  if(dynamic MATCHES "SONAME[^[]*\\[([^]]+)\\]")
    set(name ${CMAKE_MATCH_1})
  endif()
  set(${variable} ${name} PARENT_SCOPE)
endfunction()

xy_dependency(HWLOC hwloc "the live machine is read flat from /sys, hwloc XML is not read")
xy_dependency(LIBXML2 libxml-2.0 "machine files are not read (synthetic machines still are)")
xy_header_dependency(OPENSSL openssl/evp.h "jobs on several hosts need --net-plain, as nothing is encrypted")
xy_header_dependency(OPENCL CL/cl.h "OpenCL devices are not used (CUDA devices still are)")
# The compiler whose modules are written; mpif.h and the library need none.
option(XYLEM_WITH_FORTRAN "write modules for gfortran when it is found" ON)
if(XYLEM_WITH_FORTRAN)
  find_program(XYLEM_GFORTRAN gfortran)
endif()
if(NOT XYLEM_WITH_FORTRAN OR NOT XYLEM_GFORTRAN)
  set(XYLEM_GFORTRAN "")
  string(APPEND XYLEM_MISSING "  gfortran: Fortran programs have mpif.h, but neither 'use mpi' nor 'use mpi_f08'\n")
endif()
xy_dependency(CMOCKA cmocka "unit tests are not built")
# A build for tests without unit tests would be green and mean little.
if(XYLEM_REQUIRE_TESTS AND XYLEM_WITH_CMOCKA AND NOT XYLEM_HAVE_CMOCKA)
  message(FATAL_ERROR "cmocka was not found, so no unit test can be built. Install libcmocka-dev "
                      "(scripts/install-packages.sh build test), or configure with "
                      "-DXYLEM_WITH_CMOCKA=OFF to do without unit tests.")
endif()

function(xy_dependencies_summary)
  get_property(missing GLOBAL PROPERTY XYLEM_MISSING)
  string(APPEND XYLEM_MISSING "${missing}")
  if(XYLEM_MISSING)
    message(STATUS "Not found, and what that disables:\n${XYLEM_MISSING}")
  else()
    message(STATUS "All optional dependencies were found.")
  endif()
endfunction()

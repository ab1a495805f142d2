# SPDX-License-Identifier: BSD-3-Clause
# Optional dependencies are found, not required. Each absence is listed once, with what it disables.
find_package(PkgConfig)
find_package(Threads REQUIRED)

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

xy_dependency(HWLOC hwloc "the live machine is read flat from /sys, hwloc XML is not read")
xy_dependency(LIBXML2 libxml-2.0 "machine files are not read (synthetic machines still are)")
xy_dependency(CMOCKA cmocka "unit tests are not built")

function(xy_dependencies_summary)
  if(XYLEM_MISSING)
    message(STATUS "Not found, and what that disables:\n${XYLEM_MISSING}")
  else()
    message(STATUS "All optional dependencies were found.")
  endif()
endfunction()

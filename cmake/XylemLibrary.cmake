# SPDX-License-Identifier: BSD-3-Clause
# xy_library(COMPONENTS ...) makes libxylem.so from the objects of these components and installs it with its
# header, its pkg-config file and its CMake package. Only what include/xylem.h declares is
# exported; the linker drops what nothing exported reaches.
include(CMakePackageConfigHelpers)

function(xy_library)
  cmake_parse_arguments(L "" "" "COMPONENTS" ${ARGN})
  set(objects)
  set(archives)
  foreach(component ${L_COMPONENTS})
    if(TARGET xy_${component})
      list(APPEND objects $<TARGET_OBJECTS:xy_${component}>)
      list(APPEND archives xy_${component}) # for the libraries that they need
    endif()
  endforeach()
  add_library(libxylem SHARED ${objects})
  target_link_libraries(libxylem PRIVATE ${archives} m)
  target_link_options(libxylem PRIVATE -Wl,--gc-sections)
  if(NOT XYLEM_SANITIZE)
    target_link_options(libxylem PRIVATE -Wl,-z,defs)
  endif()
  target_include_directories(libxylem INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # Until 1.0 every minor version may break programs, so it is part of the soname.
  set_target_properties(libxylem PROPERTIES
    OUTPUT_NAME xylem EXPORT_NAME xylem LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  install(TARGETS libxylem EXPORT xylemTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/include/xylem.h ${PROJECT_SOURCE_DIR}/include/xylem_plugin.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  xy_library_package()
endfunction()

# xylem.pc and the CMake package. Both find the prefix from their own place, so that an installed
# tree can be moved.
function(xy_library_package)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/xylem)
  install(EXPORT xylemTargets NAMESPACE xylem:: DESTINATION ${package})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/xylemConfig.cmake.in
    ${PROJECT_BINARY_DIR}/xylemConfig.cmake INSTALL_DESTINATION ${package}
    NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/xylemConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/xylemConfig.cmake ${PROJECT_BINARY_DIR}/xylemConfigVersion.cmake
          DESTINATION ${package})
  # As many steps up as lib/pkgconfig has parts.
  string(REGEX REPLACE "[^/]+" ".." up ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/xylem.pc.in ${PROJECT_BINARY_DIR}/xylem.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/xylem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# SPDX-License-Identifier: BSD-3-Clause
# CPack calls this after each package.
foreach(package ${CPACK_PACKAGE_FILES})
  if(package MATCHES "\\.deb$")
    execute_process(COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/leave_opt.py ${package} RESULT_VARIABLE code)
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "cannot remove the entry of /opt from ${package}")
    endif()
  endif()
endforeach()

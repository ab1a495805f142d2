# SPDX-License-Identifier: BSD-3-Clause
# cmake -DXYLEM=command -DDIRECTORY=share -DPYTHON=python3 -DINCLUDE=include -DVERSION=... [-DEMULATOR=...]
#       -P manual.cmake
# writes share/man/man1/*.1, share/man/man3/*.3 and share/bash-completion/completions/xylem.
function(xylem_print file)
  execute_process(COMMAND ${EMULATOR} ${XYLEM} ${ARGN} OUTPUT_FILE ${file} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${XYLEM} ${ARGN} failed: ${result}")
  endif()
endfunction()

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY}/man/man1 ${DIRECTORY}/man/man3 ${DIRECTORY}/bash-completion/completions)
xylem_print(${DIRECTORY}/verbs.json help --json)
file(READ ${DIRECTORY}/verbs.json json)
string(JSON count LENGTH "${json}" verbs)
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  string(JSON verb GET "${json}" verbs ${i} name)
  xylem_print(${DIRECTORY}/man/man1/xylem-${verb}.1 --man ${verb})
endforeach()
xylem_print(${DIRECTORY}/man/man1/xylem.1 --man)
foreach(command mpiexec mpicc mpicxx)
  xylem_print(${DIRECTORY}/man/man1/${command}.1 --man ${command})
endforeach()
file(WRITE ${DIRECTORY}/man/man1/mpirun.1 ".so man1/mpiexec.1\n")
file(WRITE ${DIRECTORY}/man/man1/mpic++.1 ".so man1/mpicxx.1\n")
file(WRITE ${DIRECTORY}/man/man1/mpiCC.1 ".so man1/mpicxx.1\n")
string(TIMESTAMP date "%Y-%m-%d" UTC) # that of SOURCE_DATE_EPOCH when it is set
foreach(header xylem xylem_matmul xylem_mpi)
  execute_process(COMMAND ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/header_man.py ${INCLUDE}/${header}.h ${VERSION} ${date}
                          ${DIRECTORY}/man/man3/${header}.h.3 RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "the man page of ${header}.h was not written: ${result}")
  endif()
endforeach()
xylem_print(${DIRECTORY}/bash-completion/completions/xylem --completion bash)
file(TOUCH ${DIRECTORY}/stamp)

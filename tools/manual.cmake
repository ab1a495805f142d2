# SPDX-License-Identifier: BSD-3-Clause
# cmake -DXYLEM=command -DDIRECTORY=share [-DEMULATOR=...] -P manual.cmake
# writes share/man/man1/*.1 and share/bash-completion/completions/xylem.
function(xylem_print file)
  execute_process(COMMAND ${EMULATOR} ${XYLEM} ${ARGN} OUTPUT_FILE ${file} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${XYLEM} ${ARGN} failed: ${result}")
  endif()
endfunction()

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY}/man/man1 ${DIRECTORY}/bash-completion/completions)
xylem_print(${DIRECTORY}/verbs.json help --json)
file(READ ${DIRECTORY}/verbs.json json)
string(JSON count LENGTH "${json}" verbs)
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  string(JSON verb GET "${json}" verbs ${i} name)
  xylem_print(${DIRECTORY}/man/man1/xylem-${verb}.1 --man ${verb})
endforeach()
xylem_print(${DIRECTORY}/man/man1/xylem.1 --man)
xylem_print(${DIRECTORY}/bash-completion/completions/xylem --completion bash)
file(TOUCH ${DIRECTORY}/stamp)

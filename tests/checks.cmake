# SPDX-License-Identifier: BSD-3-Clause
# Checks of the source tree itself: layers, headers, documents, the installed tree, other builds. They
# run once, in the plain builds; sanitizer builds leave them out.
if(XYLEM_SANITIZE OR CMAKE_CROSSCOMPILING)
  return()
endif()

# xy_check(NAME COMMAND ...): a ctest entry with label `check`; exit code 77 means left out.
function(xy_check name)
  cmake_parse_arguments(C "" "" "COMMAND" ${ARGN})
  add_test(NAME ${name} COMMAND ${C_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS check TIMEOUT ${XYLEM_TEST_TIMEOUT} SKIP_RETURN_CODE 77)
endfunction()

set(here ${CMAKE_CURRENT_SOURCE_DIR})
set(python ${Python3_EXECUTABLE} -B)
set(include_options)
foreach(directory ${HWLOC_INCLUDE_DIRS} ${LIBXML2_INCLUDE_DIRS})
  list(APPEND include_options -I ${directory})
endforeach()

xy_check(check.layers COMMAND ${python} ${here}/check_layers.py ${PROJECT_SOURCE_DIR})
xy_check(check.layers_self COMMAND ${python} ${here}/check_layers.py --self-test)
xy_check(check.symbols COMMAND ${python} ${here}/check_symbols.py ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
xy_check(check.symbols_self COMMAND ${python} ${here}/check_symbols.py --self-test)
xy_check(check.exports COMMAND ${python} ${here}/check_exports.py ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
xy_check(check.exports_self COMMAND ${python} ${here}/check_exports.py --self-test)
if(TARGET mpi_abi)
  xy_check(check.private COMMAND ${python} ${here}/check_private.py $<TARGET_FILE:mpi_abi> ${PROJECT_SOURCE_DIR})
  xy_check(check.private_self COMMAND ${python} ${here}/check_private.py --self-test)
endif()
xy_check(check.headers COMMAND ${python} ${here}/check_headers.py
         -D XYLEM_HAVE_HWLOC=${XYLEM_HAVE_HWLOC} -D XYLEM_HAVE_LIBXML2=${XYLEM_HAVE_LIBXML2}
         -I $<IF:$<TARGET_EXISTS:Xylem::LIBCLANG>,${XYLEM_LIBCLANG_HEADER},.>
         ${include_options} -I ${PROJECT_BINARY_DIR}/generated --public ${PROJECT_BINARY_DIR}/include
         ${PROJECT_SOURCE_DIR})
xy_check(check.sizes COMMAND ${python} ${here}/check_sizes.py ${PROJECT_SOURCE_DIR})
xy_check(check.sizes_self COMMAND ${python} ${here}/check_sizes.py --self-test)
xy_check(check.comments COMMAND ${python} ${here}/check_comments.py ${PROJECT_SOURCE_DIR})
xy_check(check.comments_self COMMAND ${python} ${here}/check_comments.py --self-test)
xy_check(check.mutants COMMAND ${python} ${here}/mutants/run.py --check --build ${CMAKE_BINARY_DIR})
xy_check(check.mutants_self COMMAND ${python} ${here}/mutants/run.py --self-test)
xy_check(check.mutants_generate COMMAND ${python} ${here}/mutants/generate.py --self-test)
xy_check(check.entry_points COMMAND ${python} ${here}/mpi/entry_points.py ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR})
xy_check(check.check_self COMMAND ${python} ${PROJECT_SOURCE_DIR}/scripts/check.py --self-test --build ${CMAKE_BINARY_DIR})
xy_check(check.compare_self COMMAND ${python} ${PROJECT_SOURCE_DIR}/scripts/compare.py --self-test)
xy_check(check.seeds COMMAND ${here}/seeds.sh)
xy_check(check.paths COMMAND ${python} ${here}/check_paths.py ${PROJECT_SOURCE_DIR})
xy_check(check.paths_self COMMAND ${python} ${here}/check_paths.py --self-test)
xy_check(check.docs COMMAND ${python} ${here}/check_docs.py ${PROJECT_SOURCE_DIR})
xy_check(check.docs_self COMMAND ${python} ${here}/check_docs.py --self-test)
xy_check(check.release COMMAND ${PROJECT_SOURCE_DIR}/scripts/release.sh --check)
xy_check(check.interface COMMAND ${python} ${here}/check_interface.py ${CMAKE_BINARY_DIR}/include ${PROJECT_SOURCE_DIR})
xy_check(check.interface_self COMMAND ${python} ${here}/check_interface.py --self-test)
xy_check(check.messages COMMAND ${python} ${here}/check_messages.py ${PROJECT_SOURCE_DIR})
xy_check(check.messages_self COMMAND ${python} ${here}/check_messages.py --self-test)
xy_check(check.tools COMMAND ${python} ${here}/check_tools.py ${PROJECT_SOURCE_DIR})
xy_check(check.verbs COMMAND ${python} ${here}/check_verbs.py $<TARGET_FILE:xylem> ${PROJECT_SOURCE_DIR}/docs/README.md)
xy_check(check.options_page COMMAND ${python} ${PROJECT_SOURCE_DIR}/scripts/options_page.py $<TARGET_FILE:xylem> --check)
xy_check(check.findings_page COMMAND ${python} ${PROJECT_SOURCE_DIR}/scripts/findings_page.py $<TARGET_FILE:xylem> --check)
xy_check(check.install
         COMMAND ${python} ${here}/install_test.py ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR})
# The architecture that this machine has not.
set(other aarch64)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  set(other x86_64)
endif()
foreach(variant without-options without-cmocka ${other})
  xy_check(check.build_${variant}
           COMMAND ${here}/build_variant_test.sh ${variant} ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  set_tests_properties(check.build_${variant} PROPERTIES COST 1000) # begin with what takes longest
endforeach()

xy_check(check.model_sleep COMMAND ${here}/models/run.sh ${here}/models/sleep.pml
         NO_FENCE NO_SCAN NO_REREAD)
xy_check(check.model_gate COMMAND ${here}/models/run.sh ${here}/models/gate.pml
         NO_PENDING NO_RETRY NO_AWAIT NO_REOPEN LATE_CLEAR NO_FENCE)
xy_check(check.model_ring COMMAND ${here}/models/run.sh ${here}/models/ring.pml
         WAIT_IN_HANDLER NO_UNSPILL)
xy_check(check.model_watch COMMAND ${here}/models/run.sh ${here}/models/watch.pml
         NO_MARK NO_ERASE NO_DRAIN)
xy_check(check.model_move COMMAND ${here}/models/run.sh ${here}/models/move.pml
         NO_FENCE NO_AGAIN NO_READER EARLY BOTH NO_RING BEFORE)
# With what else takes long and hardly ever fails, for make soak.
set_tests_properties(check.build_${other} check.build_without-options check.model_sleep check.model_gate check.model_ring check.model_watch
                     check.model_move
                     PROPERTIES LABELS "check;soak")

# Every page with commands in it: they are run and their output is compared.
xy_check(docs.runner_self COMMAND ${python} ${here}/docs_test.py --self-test)
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*.md ${PROJECT_SOURCE_DIR}/docs/*.md
     ${PROJECT_SOURCE_DIR}/docs/course/*.md)
foreach(page ${pages})
  get_filename_component(stem ${page} NAME_WE)
  file(RELATIVE_PATH relative ${PROJECT_SOURCE_DIR} ${page})
  if(relative MATCHES "^(docs(/course)?)/")
    string(REPLACE "/" "_" folder ${CMAKE_MATCH_1})
    set(stem ${folder}_${stem})
  endif()
  string(TOLOWER ${stem} stem)
  xy_check(docs.${stem}
           COMMAND ${python} ${here}/docs_test.py ${page} ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR})
endforeach()

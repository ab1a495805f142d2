# SPDX-License-Identifier: BSD-3-Clause
# xy_component(NAME SOURCES ... [COMPONENTS lower components] [LIBS imported targets] [DEFINES ...] [TESTS foo_test.c ...]
#         [FUZZ foo_fuzz.c ...])
# makes the static library xy_NAME and one ctest entry NAME.foo for each unit test. Components include
# each other as "component/component.h"; tests share helpers of tests/testing as "testing/component.h".

# Not under AddressSanitizer: tests of how good answers are, which compute for long what other tests compute too, and one
# with blocks in blocks, as only an allocator may have.
set(XYLEM_TESTS_OF_DEV coll.choose mpi.allocations sim.study stencil.cliffs stencil.quality tasks.quality)

# make soak runs the longest of them.
set(XYLEM_LONG_TESTS sim.study stencil.cliffs stencil.quality)

# Threads meet in these, and they are soon built: make test runs their tests under ThreadSanitizer. make soak runs all.
set(XYLEM_COMPONENTS_OF_THREADS base exec fiber gpu machine net trace)

# In these nothing runs at the same time, and ThreadSanitizer has nothing to find.
set(XYLEM_COMPONENTS_OF_ONE_THREAD adapt arith choose coll cost draw graph machine match measure place program sched sim stencil)
set(XYLEM_TESTS_OF_ONE_THREAD
    base.bitset base.file base.hash base.heap base.json base.option base.progress base.status base.table
    base.text base.vec base.version base.xml exec.exec launch.comm_auto launch.head_share
    launch.host_list launch.stack_size mpi.abi mpi.adapt mpi.area mpi.virtual_code mpi.copy_stream mpi.deadlock mpi.findings
    mpi.knot mpi.monitor mpi.op mpi.signature mpi.soft mpi.suppress mpi.type mpi.type_make net.greet process.elf process.getopt_long tasks.memory
    tasks.picture tasks.sim tasks.tasks trace.merge trace.reader trace.report)

# Their tests compute for so long that sanitized builds of them are optimised, although the compiler then takes four times
# as long.
set(XYLEM_COMPONENTS_THAT_COMPUTE cost exec graph place)
if(NOT XYLEM_SANITIZE) # in a tree of scripts/test.sh; those on the way of each message, and those that simulate
  list(APPEND XYLEM_COMPONENTS_THAT_COMPUTE arith base coll fiber match mpi net process program sim stencil tasks)
endif()

# xy_unity(TARGET FILE...): in sanitized builds, compile files of a component together, up to eight at a time. Most are
# short, and the compiler takes longer to start and to read headers than for what is in them. Which files go
# together is found anew whenever CMake runs; -DXYLEM_UNITY=OFF compiles each alone. The build dev always does: a
# program that needs one file of a library must not get eight, and check.exports looks at each.
option(XYLEM_UNITY "compile several files at a time in sanitized builds" ON)
function(xy_unity target)
  if(NOT XYLEM_SANITIZE OR NOT XYLEM_UNITY)
    return()
  endif()
  execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/cmake/unity.py 8
                          ${CMAKE_C_COMPILER} ${PROJECT_SOURCE_DIR}/src ${ARGN}
                  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" groups "${groups}")
  foreach(line ${groups})
    string(REGEX MATCH "^([0-9]+) (.*)$" line "${line}")
    set_source_files_properties(${CMAKE_MATCH_2} PROPERTIES UNITY_GROUP ${CMAKE_MATCH_1})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE -Wno-shadow) # of another file's names; dev warns of a file's own
endfunction()

function(xy_component name)
  cmake_parse_arguments(R "" "" "SOURCES;COMPONENTS;LIBS;DEFINES;TESTS;FUZZ" ${ARGN})
  add_library(xy_${name} STATIC ${R_SOURCES})
  xy_unity(xy_${name} ${R_SOURCES})
  target_include_directories(xy_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src PRIVATE ${XYLEM_INCLUDES})
  target_compile_definitions(xy_${name} PRIVATE ${R_DEFINES})
  if(XYLEM_UNOPTIMISED AND name IN_LIST XYLEM_COMPONENTS_THAT_COMPUTE)
    # With -O1 gcc takes some variables for uninitialised that are set.
    target_compile_options(xy_${name} PRIVATE -O1 $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endif()
  foreach(component ${R_COMPONENTS})
    target_link_libraries(xy_${name} PUBLIC xy_${component})
  endforeach()
  target_link_libraries(xy_${name} PUBLIC ${R_LIBS} Threads::Threads)
  if(XYLEM_SANITIZE MATCHES "thread" AND name IN_LIST XYLEM_COMPONENTS_OF_ONE_THREAD)
    set(R_TESTS)
  endif()
  if(XYLEM_HAVE_CMOCKA)
    foreach(source ${R_TESTS})
      get_filename_component(stem ${source} NAME)
      string(REGEX REPLACE "_test\\.c$" "" stem ${stem})
      if((XYLEM_SANITIZE AND "${name}.${stem}" IN_LIST XYLEM_TESTS_OF_DEV) OR
         (XYLEM_SANITIZE MATCHES "thread" AND "${name}.${stem}" IN_LIST XYLEM_TESTS_OF_ONE_THREAD))
        continue()
      endif()
      set(target test_${name}_${stem})
      add_executable(${target} ${source})
      target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${XYLEM_INCLUDES})
      target_compile_definitions(${target} PRIVATE ${R_DEFINES} XYLEM_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                 XYLEM_SANITIZED=${XYLEM_SANITIZED}) # 1: look at fewer cases
      # Lists of tests and asserts keep the optimiser busy, and gain nothing.
      target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
      target_link_libraries(${target} PRIVATE xy_${name} PkgConfig::CMOCKA m)
      target_link_options(${target} PRIVATE $<$<BOOL:${XYLEM_LLD}>:-fuse-ld=lld>)
      xy_sanitized(${target})
      add_test(NAME ${name}.${stem} COMMAND ${target})
      xy_number(number ${name}.${stem})
      math(EXPR number "${number} % 40")
      set(labels unit)
      if(NOT "${name}.${stem}" IN_LIST XYLEM_TESTS_OF_DEV)
        list(APPEND labels also_asan)
        set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL $<NOT:$<BOOL:${XYLEM_BUILD_UNIT_TESTS}>>)
      endif()
      if(number EQUAL 0)
        list(APPEND labels leaks) # the tests to find leaks with, where that takes seconds for each
      endif()
      if("${name}.${stem}" IN_LIST XYLEM_LONG_TESTS)
        list(APPEND labels soak)
      endif()
      if(name IN_LIST XYLEM_COMPONENTS_OF_THREADS)
        list(APPEND labels threads)
        xy_threaded(${target})
      endif()
      set_tests_properties(${name}.${stem} PROPERTIES LABELS "${labels}" TIMEOUT ${XYLEM_TEST_TIMEOUT})
    endforeach()
  endif()
  if(XYLEM_FUZZ AND R_FUZZ)
    # The fuzzer follows branches of the component it is for; of the component of MPI, of the files it is for.
    if(name STREQUAL mpi)
      list(TRANSFORM R_FUZZ REPLACE "_fuzz" "" OUTPUT_VARIABLE followed)
      set_source_files_properties(${followed} PROPERTIES COMPILE_OPTIONS -fsanitize=fuzzer-no-link)
    else()
      target_compile_options(xy_${name} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
    xy_fuzz(${name} xy_${name} ${R_FUZZ})
  endif()
endfunction()

# xy_fuzz(NAME LIBRARY foo_fuzz.c...): one fuzz target fuzz_NAME_foo for each, linked with this library, in builds that
# have a fuzzer.
function(xy_fuzz name library)
  if(NOT XYLEM_FUZZ)
    return()
  endif()
  foreach(source ${ARGN})
    get_filename_component(stem ${source} NAME)
    string(REGEX REPLACE "_fuzz\\.c$" "" stem ${stem})
    add_executable(fuzz_${name}_${stem} ${source})
    target_include_directories(fuzz_${name}_${stem} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests ${XYLEM_INCLUDES})
    target_compile_options(fuzz_${name}_${stem} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_libraries(fuzz_${name}_${stem} PRIVATE ${library} m)
    # Not the shared runtime: the fuzzer's C++ library would come before it.
    target_link_options(fuzz_${name}_${stem} PRIVATE -fsanitize=fuzzer -static-libsan)
    xy_sanitized(fuzz_${name}_${stem})
    # Seeds live in tests/data/fuzz/NAME_STEM/; new findings stay in the build tree.
    add_test(NAME fuzz.${name}_${stem}
             COMMAND ${PROJECT_SOURCE_DIR}/tests/fuzz.sh $<TARGET_FILE:fuzz_${name}_${stem}>
                     ${PROJECT_SOURCE_DIR}/tests/data/fuzz/${name}_${stem})
    set_tests_properties(fuzz.${name}_${stem} PROPERTIES LABELS fuzz TIMEOUT ${XYLEM_TEST_TIMEOUT})
  endforeach()
endfunction()

# xy_in_front(TARGET): it defines functions of the C library, which stand before the C library's own.
function(xy_in_front target)
  target_compile_options(${target} PRIVATE -ftls-model=initial-exec -fno-builtin)
  # The C library's headers must not define in line what is defined here.
  target_compile_definitions(${target} PRIVATE __NO_INLINE__=1)
  if(XYLEM_SANITIZE)
    # The sanitizer calls these functions before it is ready.
    target_compile_options(${target} PRIVATE -fno-sanitize=all)
  endif()
endfunction()

# xy_alone_test(COMPONENT foo_test.c SOURCE...): a unit test COMPONENT.foo that links only these sources: the rest of the
# component would stand before its own C library.
function(xy_alone_test component source)
  get_filename_component(stem ${source} NAME)
  string(REGEX REPLACE "_test\\.c$" "" stem ${stem})
  if(NOT XYLEM_HAVE_CMOCKA OR
     (XYLEM_SANITIZE MATCHES "thread" AND "${component}.${stem}" IN_LIST XYLEM_TESTS_OF_ONE_THREAD))
    return()
  endif()
  set(target test_${component}_${stem})
  add_executable(${target} ${source} ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests ${XYLEM_INCLUDES})
  target_compile_definitions(${target} PRIVATE XYLEM_SANITIZED=${XYLEM_SANITIZED})
  target_link_options(${target} PRIVATE -pie)
  target_link_libraries(${target} PRIVATE xy_base PkgConfig::CMOCKA m dl)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL $<NOT:$<BOOL:${XYLEM_BUILD_UNIT_TESTS}>>)
  xy_sanitized(${target})
  add_test(NAME ${component}.${stem} COMMAND ${target})
  set_tests_properties(${component}.${stem} PROPERTIES LABELS "unit;also_asan" TIMEOUT ${XYLEM_TEST_TIMEOUT})
endfunction()

# SPDX-License-Identifier: BSD-3-Clause
# Dynamic processes: spawning, ports, names. In virtual time threads of ranks do not call MPI.
list(APPEND not_virtual spawn_threads)
xy_mpi_test(spawn dynamic/spawn.c 1 3)
xy_mpi_test(spawn_threads dynamic/threads.c 1 2)
xy_mpi_test(spawn_directory dynamic/directory.c 1 2)
xy_mpi_test(ports dynamic/ports.c 1 2 5)
xy_mpi_test(jobs dynamic/jobs.c)
xy_mpi_test(jobs_end dynamic/jobs_end.c)

# Their ranks park in pthread_join, or in a call of the C library that blocks. ThreadSanitizer's own
# functions, which are around these, do not follow atomic operations and locks in what they call, and
# take what goes on there for races.
if(XYLEM_SANITIZE)
  set(labels mpi)
  if(NOT XYLEM_SANITIZE STREQUAL "thread")
    list(APPEND labels sanitize)
  endif()
  foreach(test spawn_threads.2 spawn_directory.2)
    if(TEST mpi.${test})
      set_tests_properties(mpi.${test} PROPERTIES LABELS "${labels}")
    endif()
  endforeach()
endif()

if(TARGET mpiexec)
  foreach(program spawn ports)
    add_test(NAME mpi.${program}.processes
             COMMAND $<TARGET_FILE:mpiexec> --processes 2 -n 3 $<TARGET_FILE:mpi_${program}> processes)
    add_test(NAME mpi.${program}.usize
             COMMAND $<TARGET_FILE:mpiexec> --usize 6 -n 2 $<TARGET_FILE:mpi_${program}>)
    add_test(NAME mpi.${program}.check
             COMMAND $<TARGET_FILE:mpiexec> --check=leaks,sends,buffers,windows -n 3 $<TARGET_FILE:mpi_${program}>)
    set_tests_properties(mpi.${program}.processes mpi.${program}.usize mpi.${program}.check
                         PROPERTIES LABELS mpi TIMEOUT ${XYLEM_TEST_TIMEOUT})
  endforeach()
  if(Python3_Interpreter_FOUND)
    add_test(NAME mpi.jobs.two
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/dynamic/jobs.py $<TARGET_FILE:mpiexec>
                     $<TARGET_FILE:mpi_jobs> $<TARGET_FILE:mpi_jobs_end>)
    set_tests_properties(mpi.jobs.two PROPERTIES LABELS mpi TIMEOUT ${XYLEM_TEST_TIMEOUT})
  endif()
  add_executable(mpi_spawn_mistakes dynamic/mistakes.c)
  target_include_directories(mpi_spawn_mistakes PRIVATE ${XYLEM_INCLUDES})
  target_link_libraries(mpi_spawn_mistakes PRIVATE mpi_abi)
  target_link_options(mpi_spawn_mistakes PRIVATE -pie)
  xy_sanitized(mpi_spawn_mistakes)
  add_test(NAME mpi.spawn.mistakes
           COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/dynamic/mistakes.sh $<TARGET_FILE:mpi_spawn_mistakes>
                   $<TARGET_FILE:mpiexec>)
  add_test(NAME mpi.spawn.mistakes_virtual
           COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/dynamic/mistakes.sh $<TARGET_FILE:mpi_spawn_mistakes>
                   $<TARGET_FILE:mpiexec> --virtual "node:2(latency=1us bandwidth=10GB/s) core:4" --compute none)
  add_executable(mpi_spawn_virtual dynamic/virtual.c)
  target_include_directories(mpi_spawn_virtual PRIVATE ${XYLEM_INCLUDES})
  target_link_libraries(mpi_spawn_virtual PRIVATE mpi_abi)
  target_link_options(mpi_spawn_virtual PRIVATE -pie)
  xy_sanitized(mpi_spawn_virtual)
  add_test(NAME mpi.spawn.virtual
           COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/dynamic/virtual.sh $<TARGET_FILE:mpi_spawn_virtual>
                   $<TARGET_FILE:mpiexec>)
  set_tests_properties(mpi.spawn.mistakes mpi.spawn.mistakes_virtual mpi.spawn.virtual PROPERTIES LABELS mpi TIMEOUT ${XYLEM_TEST_TIMEOUT})
endif()

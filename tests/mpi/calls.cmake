# SPDX-License-Identifier: BSD-3-Clause
# Calls that are about no communication, or little: arguments, handles, buffers, groups, data.
xy_mpi_test(arguments arguments.c 3)
xy_mpi_test(external external.c 1)
xy_mpi_test(from_group from_group.c 1 2 7)
xy_mpi_test(generalized generalized.c 1 3)
xy_mpi_test(handles handles.c 4)
xy_mpi_test(request_status request_status.c 1 4)
list(APPEND not_virtual buffers)
xy_mpi_test(buffers buffers.c 1 3)
if(TARGET mpi_external)
  target_link_libraries(mpi_external PRIVATE m)
endif()
if(TARGET mpiexec)
  add_test(NAME mpi.buffers.3_virtual
           COMMAND $<TARGET_FILE:mpiexec> --virtual "node:4(latency=1us bandwidth=10GB/s) core:1" --compute none -n 3
                   $<TARGET_FILE:mpi_buffers> virtual)
  set_tests_properties(mpi.buffers.3_virtual PROPERTIES LABELS mpi TIMEOUT ${XYLEM_TEST_TIMEOUT})
endif()

# Many objects, and a million requests. What is compared between two runs is processor time, of which
# sanitizers take their share.
if(TARGET mpiexec)
  add_executable(mpi_objects objects.c)
  target_include_directories(mpi_objects PRIVATE ${XYLEM_INCLUDES})
  target_link_libraries(mpi_objects PRIVATE mpi_abi)
  target_link_options(mpi_objects PRIVATE -pie)
  xy_sanitized(mpi_objects)
  add_test(NAME mpi.objects COMMAND $<TARGET_FILE:mpiexec> -n 64 $<TARGET_FILE:mpi_objects> objects)
  set_tests_properties(mpi.objects PROPERTIES LABELS "mpi;sanitize" TIMEOUT ${XYLEM_TEST_TIMEOUT})
  if(NOT XYLEM_SANITIZE)
    add_test(NAME mpi.objects.requests COMMAND $<TARGET_FILE:mpiexec> -n 4 $<TARGET_FILE:mpi_objects> requests)
    add_test(NAME mpi.objects.scale COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/objects.sh $<TARGET_FILE:mpiexec>
                                            $<TARGET_FILE:mpi_objects>)
    set_tests_properties(mpi.objects.requests mpi.objects.scale PROPERTIES LABELS "mpi;soak" TIMEOUT ${XYLEM_TEST_TIMEOUT})
  endif()
endif()

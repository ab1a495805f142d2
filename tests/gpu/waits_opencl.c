/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that wait for an OpenCL device let others run: with all ranks on one worker, each waits for
 * something that the next one does, so that it ends only if all wait at the same time.
 *
 *   waits_opencl finish | events | read | write | map
 */
#include <CL/cl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int code, const char *what)
{
    if (code != CL_SUCCESS) {
        fprintf(stderr, "%s: %d\n", what, code);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static cl_context context;
static cl_command_queue queue;

static void open_device(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;

    check(clGetPlatformIDs(1, &platform, NULL), "platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    check(code, "context");
    queue = clCreateCommandQueue(context, device, 0, &code);
    check(code, "queue");
}

/* Put something behind `gate` into the queue and wait for it in one of the ways. */
static void wait_behind(const char *how, cl_event gate, cl_mem memory, int *value)
{
    cl_event event;
    cl_int code;

    if (strcmp(how, "finish") == 0) {
        check(clEnqueueMarkerWithWaitList(queue, 1, &gate, NULL), "marker");
        check(clFinish(queue), "clFinish");
    } else if (strcmp(how, "events") == 0) {
        check(clEnqueueMarkerWithWaitList(queue, 1, &gate, &event), "marker");
        check(clWaitForEvents(1, &event), "clWaitForEvents");
        clReleaseEvent(event);
    } else if (strcmp(how, "read") == 0) {
        check(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof(int), value, 1, &gate, NULL),
              "clEnqueueReadBuffer");
    } else if (strcmp(how, "write") == 0) {
        check(clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, sizeof(int), value, 1, &gate, &event),
              "clEnqueueWriteBuffer");
        check(clWaitForEvents(1, &event), "the event of a write");
        clReleaseEvent(event);
    } else {
        int *at = clEnqueueMapBuffer(queue, memory, CL_TRUE, CL_MAP_READ, 0, sizeof(int), 1, &gate,
                                     NULL, &code);

        check(code, "clEnqueueMapBuffer");
        *value = *at;
        check(clEnqueueUnmapMemObject(queue, memory, at, 0, NULL, NULL), "unmap");
        check(clFinish(queue), "clFinish");
    }
}

int main(int argc, char **argv)
{
    int rank, size, value = 0, start, end;
    cl_event gate, before = NULL;
    cl_mem memory;
    cl_int code;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    open_device();
    gate = clCreateUserEvent(context, &code);
    check(code, "event");
    start = 1000 + rank;
    memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(int), &start,
                            &code);
    check(code, "buffer");

    /* All ranks are in one process: handles of one are good in the others. */
    if (rank < size - 1)
        MPI_Send(&gate, sizeof(gate), MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
    if (rank > 0)
        MPI_Recv(&before, sizeof(before), MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    value = 1000 + rank;
    if (rank < size - 1) {
        if (strcmp(argv[1], "read") == 0 || strcmp(argv[1], "map") == 0)
            value = 0;
        wait_behind(argv[1], gate, memory, &value);
    }
    if (rank > 0)
        check(clSetUserEventStatus(before, CL_COMPLETE), "clSetUserEventStatus");
    MPI_Reduce(&value, &end, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: %d ranks waited, sum %s\n", argv[1], size,
               end == 1000 * size + size * (size - 1) / 2 ? "right" : "wrong");
    clReleaseMemObject(memory);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --gpu-bind and --gpus-per-rank: the GPU that a rank uses unless it chooses another. All ranks of
 * a process see all GPUs; the rank's own is the current device when it first asks.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "launch/launch.h"
#include "process/process.h"

/* The NUMA node of a CPU; -1: not known. */
static int node_of(int cpu)
{
    enum { NODES = 1024 };
    char path[80];

    for (int node = 0; cpu >= 0 && node < NODES; node++) {
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/node%d", cpu, node);
        if (access(path, F_OK) == 0)
            return node;
    }
    return -1;
}

/* The GPUs of CUDA, in the order of their numbers. */
static xy_status_t list_devices(xy_vec_t *devices)
{
    xy_vec_t found;
    xy_status_t st = xy_gpu_list(&found);

    for (size_t i = 0; st == XY_OK && i < found.count; i++) {
        const xy_gpu_info_t *info = &XY_VEC_AT(&found, xy_gpu_info_t, i);

        if (strcmp(info->driver, "cuda") == 0 && xy_vec_append(devices, info) != XY_OK)
            st = xy_fail_memory("binding ranks to GPUs");
    }
    xy_vec_cleanup(&found);
    if (st == XY_OK && devices->count == 0)
        st = xy_fail(XY_EUSAGE, "--gpu-bind: this machine has no GPU that CUDA can use; see 'xylem "
                                "machine'");
    return st;
}

/* LIST: numbers of devices, which ranks take in turn. */
static xy_status_t bind_by_list(const char *list, const xy_vec_t *devices, int ranks, int *device)
{
    const char *at = list;

    for (int r = 0; r < ranks; r++) {
        char *end;
        long number = strtol(at, &end, 10);

        if (end == at || number < 0 || number >= (long)devices->count ||
            (*end != ',' && *end != '\0'))
            return xy_fail(XY_EUSAGE,
                           "--gpu-bind '%s': give close, round, or numbers of GPUs from 0 to %zu, "
                           "such as 0,1",
                           list, devices->count - 1);
        device[r] = (int)number;
        at = *end == ',' ? end + 1 : list;
    }
    return XY_OK;
}

/* Ranks take the GPUs of their NUMA node in turn, `step` at a time; all, where it has none. */
static void bind_close(const mpi_placement_t *p, const xy_vec_t *devices, long step, int ranks,
                       int *device)
{
    for (int r = 0; r < ranks; r++) {
        int node = node_of(p->cpus[p->worker_of[r]]), before = 0;
        long near = 0, wanted, seen = 0;

        for (size_t i = 0; i < devices->count; i++)
            near += XY_VEC_AT(devices, xy_gpu_info_t, i).numa == node;
        for (int q = 0; q < r; q++)
            before += near == 0 || node_of(p->cpus[p->worker_of[q]]) == node;
        wanted = before * step % (near > 0 ? near : (long)devices->count);
        for (size_t i = 0; i < devices->count; i++)
            if ((near == 0 || XY_VEC_AT(devices, xy_gpu_info_t, i).numa == node) &&
                seen++ == wanted)
                device[r] = (int)i;
    }
}

xy_status_t mpi_gpu_bind(const mpi_launch_values_t *values, const mpi_placement_t *p, int ranks)
{
    const char *how = values->gpu_bind != NULL ? values->gpu_bind : "close";
    long step = values->gpus_per_rank > 0 ? values->gpus_per_rank : 1;
    xy_vec_t devices = XY_VEC_INIT(xy_gpu_info_t);
    int *device;
    xy_status_t st;

    if (values->gpu_bind == NULL && values->gpus_per_rank == 0)
        return XY_OK;
    device = xy_calloc((size_t)ranks, sizeof(*device));
    st = device != NULL ? list_devices(&devices) : xy_fail_memory("binding ranks to GPUs");
    if (st == XY_OK && step > (long)devices.count)
        st = xy_fail(XY_EUSAGE, "--gpus-per-rank %ld: this machine has %zu", step, devices.count);
    if (st == XY_OK && strcmp(how, "close") == 0)
        bind_close(p, &devices, step, ranks, device);
    else if (st == XY_OK && strcmp(how, "round") == 0)
        for (int r = 0; r < ranks; r++)
            device[r] = (int)(r * step % (long)devices.count);
    else if (st == XY_OK)
        st = bind_by_list(how, &devices, ranks, device);
    xy_vec_cleanup(&devices);
    if (st == XY_OK)
        process_device_bind(device); /* to the end of the job */
    else
        xy_free(device);
    return st;
}

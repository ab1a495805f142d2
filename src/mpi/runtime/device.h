/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of GPUs in place of the host's. All code that moves data of a program uses:
 *
 *   mpi_move(to, from, bytes);      (memcpy, wherever both are)
 *
 * Until a rank has loaded the driver of CUDA that is one test. Afterwards an address is looked up
 * by the driver, which knows all addresses of host and devices apart. Copies are made by the
 * device, in a stream of the calling thread, and are complete on return; the context of the calling
 * thread is restored. A failure of the driver ends the job.
 */
#ifndef XY_MPI_RUNTIME_DEVICE_H
#define XY_MPI_RUNTIME_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* There may be addresses of devices. */
extern bool mpi_device_is_used __attribute__((visibility("hidden")));
/* From now on, if the driver is loaded and has what is needed here. What a rank puts into its
 * default stream is complete before MPI touches memory of a device for it, as in a process of its
 * own. `has_work`: may the default stream of the caller have work that it has not waited for?
 * `wait`: until it has none; other ranks run meanwhile. NULL: both are as before, or none. */
void mpi_device_use(bool (*has_work)(void), void (*wait)(void));

/* MPIX_Query_cuda_support. Library code calls this one: in processes of programs for another MPI,
 * the public name is that of the translation. */
int mpi_device_is_supported(void);

/* Is it memory of a device? *number_p gets which, if it is not NULL. */
bool mpi_device_has(const void *address, int *number_p);

static inline bool mpi_is_on_device(const void *address)
{
    return __builtin_expect(mpi_device_is_used, 0) && mpi_device_has(address, NULL);
}

/* memcpy; false: both are memory of the host, and nothing was done. */
bool mpi_device_copy(void *to, const void *from, size_t bytes);
/* `n` rows of `bytes`, so far apart. One of the two is memory of a device. */
void mpi_device_copy_rows(void *to, ptrdiff_t to_step, const void *from, ptrdiff_t from_step,
                          size_t bytes, size_t n);

/* Copies between the two are complete at the end only, and in any order. They nest. */
void mpi_device_begin(void);
void mpi_device_end(void);

/* The same around mpi_move. */
static inline void mpi_moves_begin(void)
{
    if (__builtin_expect(mpi_device_is_used, 0))
        mpi_device_begin();
}

static inline void mpi_moves_end(void)
{
    if (__builtin_expect(mpi_device_is_used, 0))
        mpi_device_end();
}

/* Before an MPI call of the program begins: has the default stream of the caller work? */
bool mpi_device_has_work(void);
void mpi_device_wait_for_work(void);
/* Can kernels write to this address? Managed memory is memory of a device, too. */
bool mpi_device_is_written(const void *address);

/* The context of the calling thread, for code that changes it: before and after. */
void *mpi_device_context_get(void);
void mpi_device_context_set(void *context);

static inline void mpi_move(void *to, const void *from, size_t bytes)
{
    if (__builtin_expect(mpi_device_is_used, 0) && mpi_device_copy(to, from, bytes))
        return;
    memcpy(to, from, bytes);
}

/* The same where one of the two is memory of the host: a question less, which is a system call. */
static inline void mpi_move_out(void *to, const void *here, size_t bytes)
{
    if (mpi_is_on_device(to))
        mpi_device_copy(to, here, bytes);
    else
        memcpy(to, here, bytes);
}

static inline void mpi_move_in(void *here, const void *from, size_t bytes)
{
    if (mpi_is_on_device(from))
        mpi_device_copy(here, from, bytes);
    else
        memcpy(here, from, bytes);
}

#endif

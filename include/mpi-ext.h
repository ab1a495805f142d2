/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries about this MPI library for programs that run with several ones, under Open MPI's names:
 *
 *   #if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
 *   if (MPIX_Query_cuda_support())
 *       MPI_Send(device_pointer, ...);
 */
#ifndef MPI_EXT_H_INCLUDED
#define MPI_EXT_H_INCLUDED

#define MPIX_CUDA_AWARE_SUPPORT 1

#ifdef __cplusplus
extern "C" {
#endif

/* Are addresses in the memory of NVIDIA's GPUs good in messages and collectives? 1, or 0 where
 * there is no driver of CUDA. */
__attribute__((visibility("default"))) int MPIX_Query_cuda_support(void);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversions that the message path does not need. */
#include "mpi/abi/abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *abi_list_large(long n, size_t size)
{
    void *list = malloc((size_t)n * size);

    if (!list) {
        fprintf(stderr, "MPI: memory ran out for a list of %ld elements\n", n);
        xylem_mpi_table.Abort(__builtin_return_address(0), MPI_COMM_WORLD, 1);
    }
    return list;
}

void abi_list_free(void *list)
{
    free(list);
}

void status_in(const F_Status *from, MPI_Status *to)
{
    if (from == F_STATUS_IGNORE)
        return;
    memset(to, 0, sizeof *to);
    to->MPI_SOURCE = rank_in(from->MPI_SOURCE);
    to->MPI_TAG = tag_in(from->MPI_TAG);
    to->MPI_ERROR = error_in(from->MPI_ERROR);
    mpi_status_set_bytes(to, abi_status_bytes(from));
    mpi_status_set_cancelled(to, abi_status_is_cancelled(from));
}

void status_change(const MPI_Status *before, const MPI_Status *after, F_Status *to)
{
    if (to == F_STATUS_IGNORE)
        return;
    if (after->MPI_SOURCE != before->MPI_SOURCE)
        to->MPI_SOURCE = rank_out(after->MPI_SOURCE);
    if (after->MPI_TAG != before->MPI_TAG)
        to->MPI_TAG = tag_out(after->MPI_TAG);
    if (after->MPI_ERROR != before->MPI_ERROR)
        to->MPI_ERROR = error_out(after->MPI_ERROR);
    abi_status_set(to, mpi_status_bytes(after), mpi_status_is_cancelled(after));
}

void abi_status_empty(F_Status *status)
{
    status->MPI_SOURCE = F_ANY_SOURCE;
    status->MPI_TAG = F_ANY_TAG;
    status->MPI_ERROR = 0;
    abi_status_set(status, 0, 0);
}

bool abi_is_of_fortran(const void *address)
{
    Dl_info about;

    return dladdr(address, &about) != 0 && strstr(about.dli_fname, "libmpichfort") != NULL;
}

void text_out(char *to, const char *from, size_t room, int *length_p)
{
    size_t length = strnlen(from, room - 1);

    memcpy(to, from, length);
    to[length] = '\0';
    if (length_p)
        *length_p = (int)length;
}

int *abi_numbers_list(int *few, const int *from, long n, abi_number_fn *into)
{
    int *list = from ? abi_list(few, n, sizeof *list) : NULL;

    for (long i = 0; list && i < n; i++)
        list[i] = into(from[i]);
    return list;
}

void abi_numbers_list_out(int *to, const int *list, long n, abi_number_fn *out)
{
    for (long i = 0; list && i < n; i++)
        to[i] = out(list[i]);
}

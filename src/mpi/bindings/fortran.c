/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/bindings/fortran.h"

#include <string.h>

#include "mpi/bindings/fortran_calls.h"

char xylem_fortran_[FORTRAN_BLOCK];

void *fortran_special(uintptr_t offset)
{
    switch (offset) {
    case FORTRAN_IN_PLACE:
        return MPI_IN_PLACE;
    case FORTRAN_BUFFER_AUTOMATIC:
        return MPI_BUFFER_AUTOMATIC;
    case FORTRAN_UNWEIGHTED:
        return MPI_UNWEIGHTED;
    case FORTRAN_WEIGHTS_EMPTY:
        return MPI_WEIGHTS_EMPTY;
    default: /* MPI_BOTTOM, and all that C ignores */
        return NULL;
    }
}

char *fortran_text(const char *text, size_t length)
{
    char *made;

    while (length > 0 && text[length - 1] == ' ')
        length--;
    for (; length > 0 && text[0] == ' '; length--)
        text++;
    made = xy_malloc(length + 1);
    if (!made)
        return NULL;
    memcpy(made, text, length);
    made[length] = '\0';
    return made;
}

void fortran_text_back(char *text, size_t length, const char *from)
{
    size_t size = strlen(from);

    if (size > length)
        size = length;
    memcpy(text, from, size);
    memset(text + size, ' ', length - size);
}

/* Return room for the handles of a call. Without memory the job ends, as the list cannot be left
 * out. */
void **fortran_list(void *few[FORTRAN_FEW], long count, const MPI_Fint numbers[])
{
    void **list = few;

    if (count > FORTRAN_FEW)
        list = xy_malloc((size_t)count * sizeof *list);
    if (!list) {
        mpi_error(NULL, MPI_ERR_NO_MEM, "memory ran out for %ld handles", count);
        mpi_job->abort(1);
    }
    for (long i = 0; i < count; i++)
        list[i] = numbers ? mpi_handle_from_int(numbers[i]) : MPI_DATATYPE_NULL;
    return list;
}

void fortran_list_back(MPI_Fint numbers[], void **list, long count)
{
    for (long i = 0; i < count; i++)
        numbers[i] = mpi_handle_to_int(list[i]);
}

void fortran_list_end(void **list, void *few[FORTRAN_FEW])
{
    if (list != few)
        xy_free(list);
}

/* ---- Comparing handles, and the sizes of things ---- */

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC visibility push(default)

/* The operators == and /= of module mpi_f08 for each kind of handle. */
#define COMPARE(kind)                                                                              \
    MPI_Fint xylem_eq_##kind##_(const MPI_Fint *a, const MPI_Fint *b)                              \
    {                                                                                              \
        return *a == *b;                                                                           \
    }                                                                                              \
    MPI_Fint xylem_ne_##kind##_(const MPI_Fint *a, const MPI_Fint *b)                              \
    {                                                                                              \
        return *a != *b;                                                                           \
    }

COMPARE(comm)
COMPARE(datatype)
COMPARE(errhandler)
COMPARE(file)
COMPARE(group)
COMPARE(info)
COMPARE(message)
COMPARE(op)
COMPARE(request)
COMPARE(session)
COMPARE(win)

/* MPI_SIZEOF: the compiler has chosen the function by the type. */
#define XY_SIZEOF(name, bytes)                                                                     \
    void name##_(const void *x, MPI_Fint *size, MPI_Fint *ierror)                                  \
    {                                                                                              \
        (void)x;                                                                                   \
        *size = (bytes);                                                                           \
        fortran_return(ierror, MPI_SUCCESS);                                                       \
    }

XY_FORTRAN_SIZES
#pragma GCC visibility pop

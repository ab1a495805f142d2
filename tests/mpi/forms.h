/* SPDX-License-Identifier: BSD-3-Clause */
/* One collective in its three forms: blocking, nonblocking and persistent. */
#ifndef XY_TESTS_MPI_FORMS_H
#define XY_TESTS_MPI_FORMS_H

#include <mpi.h>

typedef enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS } form_t;

/* MPI_NAME(arguments), MPI_Iname(arguments, &request) or MPI_NAME_init(arguments, info, &request),
 * with the letter C ("", or "_c") of the counts. A persistent request has not been started. */
#define FORM(form, NAME, INAME, C, request, ...)                                                   \
    do {                                                                                           \
        if ((form) == BLOCKING)                                                                    \
            MPI_##NAME##C(__VA_ARGS__);                                                            \
        else if ((form) == NONBLOCKING)                                                            \
            MPI_I##INAME##C(__VA_ARGS__, request);                                                 \
        else                                                                                       \
            MPI_##NAME##_init##C(__VA_ARGS__, MPI_INFO_NULL, request);                             \
    } while (0)

/* Complete what FORM has begun; a persistent one runs twice. */
static inline void finish_form(form_t form, MPI_Request *request)
{
    if (form == NONBLOCKING)
        MPI_Wait(request, MPI_STATUS_IGNORE);
    for (int i = 0; form == PERSISTENT && i < 2; i++) {
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    if (form == PERSISTENT)
        MPI_Request_free(request);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes by precision and range, as Fortran's selected_int_kind and selected_real_kind choose
 * them. They are predefined types without a name: made once for each pair of arguments, the same
 * for all ranks of the process, never freed, and allowed wherever the type of that size is.
 */
#include <float.h>
#include <pthread.h>

#include "mpi/datatype/calls.h"
#include "mpi/datatype/datatype.h"
#include "mpi/object/object.h"

typedef struct chosen {
    struct chosen *next;
    mpi_type_t type;
    int arguments[2]; /* precision and range, or range alone */
} chosen_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static chosen_t *all;

static const chosen_t *find(int combiner, const int arguments[2])
{
    for (const chosen_t *c = all; c; c = c->next)
        if (c->type.contents.combiner == combiner && c->arguments[0] == arguments[0] &&
            c->arguments[1] == arguments[1])
            return c;
    return NULL;
}

/* With the lock held. NULL: memory ran out. */
static const chosen_t *make(int combiner, const int arguments[2], MPI_Datatype like)
{
    chosen_t *c = xy_calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->type = *mpi_type_of(like);
    c->arguments[0] = arguments[0];
    c->arguments[1] = arguments[1];
    c->type.contents = (mpi_contents_t){.combiner = combiner,
                                        .ints = combiner == MPI_COMBINER_F90_INTEGER ? 1 : 2,
                                        .an_int = c->arguments};
    c->type.name[0] = '\0';
    c->type.handle = (MPI_Datatype)(void *)&c->type;
    mpi_life_begin(&c->type.life, XMPI_LIFE_TYPE);
    c->next = all;
    all = c;
    return c;
}

/* Give the predefined type for a precision and range to the program, made on first use. */
static int give(int combiner, int first, int second, MPI_Datatype like, MPI_Datatype *newtype)
{
    const int arguments[2] = {first, second};
    const chosen_t *c;

    if (like == MPI_DATATYPE_NULL && combiner == MPI_COMBINER_F90_INTEGER)
        return mpi_error(NULL, MPI_ERR_ARG, "no INTEGER has a range of %d digits", first);
    if (like == MPI_DATATYPE_NULL)
        return mpi_error(NULL, MPI_ERR_ARG, "no REAL has %d digits and a range of %d", first,
                         second);
    pthread_mutex_lock(&lock);
    c = find(combiner, arguments);
    if (!c)
        c = make(combiner, arguments, like);
    pthread_mutex_unlock(&lock);
    if (!c)
        return mpi_error(NULL, MPI_ERR_NO_MEM, "memory ran out while making a datatype");
    *newtype = c->type.handle;
    return MPI_SUCCESS;
}

int impl_type_create_f90_integer(int r, MPI_Datatype *newtype)
{
    static const struct {
        int range;
        MPI_Datatype type;
    } known[] = {{2, MPI_INTEGER1},
                 {4, MPI_INTEGER2},
                 {9, MPI_INTEGER4},
                 {18, MPI_INTEGER8},
                 {38, MPI_INTEGER16}};
    MPI_Datatype like = MPI_DATATYPE_NULL;

    for (size_t i = 0; i < sizeof known / sizeof *known && like == MPI_DATATYPE_NULL; i++)
        if (r <= known[i].range)
            like = known[i].type;
    return give(MPI_COMBINER_F90_INTEGER, r, 0, like, newtype);
}

/* The smallest REAL with `p` digits and a decimal exponent of `r`, as its type and the COMPLEX's.
 */
static MPI_Datatype choose(int p, int r, bool is_complex)
{
    static const struct {
        int digits, range;
        MPI_Datatype real, complex;
    } known[] = {
        {FLT_DIG, FLT_MAX_10_EXP - 1, MPI_REAL4, MPI_COMPLEX8},
        {DBL_DIG, DBL_MAX_10_EXP - 1, MPI_REAL8, MPI_COMPLEX16},
#if LDBL_DIG == 18
        {LDBL_DIG, LDBL_MAX_10_EXP - 1, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
#endif
        {33, 4931, MPI_REAL16, MPI_COMPLEX32}
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((p == MPI_UNDEFINED || p <= known[i].digits) &&
            (r == MPI_UNDEFINED || r <= known[i].range))
            return is_complex ? known[i].complex : known[i].real;
    return MPI_DATATYPE_NULL;
}

int part_type_f90(int combiner, int p, int r, MPI_Datatype *newtype)
{
    if (p == MPI_UNDEFINED && r == MPI_UNDEFINED)
        return mpi_error(NULL, MPI_ERR_ARG, "precision and range are both MPI_UNDEFINED");
    return give(combiner, p, r, choose(p, r, combiner == MPI_COMBINER_F90_COMPLEX), newtype);
}

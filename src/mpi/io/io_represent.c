/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/io/io_represent.h"

#include <pthread.h>
#include <string.h>

#include "mpi/io/calls.h"
#include "mpi/io/io.h"

/* external32 has no functions: it is converted by the part that packs data for it. */
struct io_rep {
    const char *name;
    const mpi_rank_t *owner; /* that has registered it; NULL: external32 */
    MPI_Datarep_conversion_function *read, *write;
    MPI_Datarep_conversion_function_c *read_c, *write_c; /* of MPI_Register_datarep_c */
    MPI_Datarep_extent_function *extent;
    void *state;
    struct io_rep *next;
};

static const io_rep_t external32 = {.name = "external32"};

/* The representations of all ranks; they are never removed, as views may use them. */
static struct {
    pthread_mutex_t lock;
    io_rep_t *first;
} registered = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Names ---- */

static io_rep_t *find_registered(const char *name)
{
    io_rep_t *rep;

    pthread_mutex_lock(&registered.lock);
    for (rep = registered.first; rep != NULL; rep = rep->next)
        if (rep->owner == mpi_self && strcmp(rep->name, name) == 0)
            break;
    pthread_mutex_unlock(&registered.lock);
    return rep;
}

bool io_rep_find(const char *name, const io_rep_t **rep_p)
{
    *rep_p = NULL;
    if (strcmp(name, "native") == 0 || strcmp(name, "internal") == 0)
        return true;
    *rep_p = strcmp(name, "external32") == 0 ? &external32 : find_registered(name);
    return *rep_p != NULL;
}

const char *io_rep_name(const io_rep_t *rep)
{
    return rep != NULL ? rep->name : "native";
}

bool io_rep_is_program(const io_rep_t *rep)
{
    return rep != NULL && rep->owner != NULL;
}

void io_reps_cleanup(void)
{
    for (io_rep_t *rep = registered.first, *next; rep != NULL; rep = next) {
        next = rep->next;
        xy_free((void *)(uintptr_t)rep->name);
        xy_free(rep);
    }
    registered.first = NULL;
}

/* ---- Sizes ---- */

/* Bytes in the file of a predefined type; 0: the program's function has failed. */
static size_t predefined_size(const mpi_type_t *type, const void *arg)
{
    const io_rep_t *rep = arg;
    MPI_Aint extent = 0;

    if (rep->owner == NULL)
        return mpi_type_external_size(type);
    if (rep->extent(type->handle, &extent, rep->state) != MPI_SUCCESS || extent < 0)
        return 0;
    return (size_t)extent;
}

size_t io_rep_size(const io_rep_t *rep, const mpi_type_t *type)
{
    return rep == NULL ? type->size : mpi_type_measure(type, predefined_size, rep);
}

const char *io_rep_tile(const io_rep_t *rep, mpi_type_t *type, int *class_p, mpi_type_t **tile_p)
{
    if (rep == NULL) {
        mpi_type_hold(type);
        *tile_p = type;
        return NULL;
    }
    *class_p = MPI_ERR_UNSUPPORTED_OPERATION;
    *tile_p = mpi_type_resize_elements(type, predefined_size, rep);
    return *tile_p != NULL ? NULL
                           : "a filetype with elements of another size in this representation "
                             "cannot be made with large counts (_c), or memory ran out";
}

MPI_Aint io_rep_extent(const io_rep_t *rep, const mpi_type_t *type)
{
    mpi_type_t *tile;
    MPI_Aint extent;

    if (rep == NULL)
        return type->extent;
    tile = mpi_type_resize_elements((mpi_type_t *)(uintptr_t)type, predefined_size, rep);
    extent = tile != NULL ? tile->extent : MPI_UNDEFINED;
    if (tile != NULL)
        mpi_type_release(tile);
    return extent;
}

/* ---- Conversion ---- */

/* Convert data between memory and external32 through a packed copy; returns an MPI error code. */
static int convert_external(const void *memory, int64_t count, mpi_type_t *type, char *in_file,
                            bool is_write)
{
    size_t here = (size_t)count * type->size;
    char *packed = xy_malloc(here > 0 ? here : 1);
    bool is_whole;

    if (packed == NULL)
        return MPI_ERR_NO_MEM;
    if (is_write)
        mpi_type_pack(packed, memory, count, type, 0, here);
    is_whole = mpi_type_convert_external(packed, in_file, is_write, type, (size_t)count);
    if (!is_write)
        mpi_type_unpack((void *)(uintptr_t)memory, count, type, packed, 0, here);
    xy_free(packed);
    return is_whole ? MPI_SUCCESS : MPI_ERR_CONVERSION;
}

/* Without a function the data is as it is in memory. */
static int convert_native(const void *memory, int64_t count, const mpi_type_t *type, char *in_file,
                          bool is_write)
{
    size_t bytes = (size_t)count * type->size;

    if (is_write)
        mpi_type_pack(in_file, memory, count, type, 0, bytes);
    else
        mpi_type_unpack((void *)(uintptr_t)memory, count, type, in_file, 0, bytes);
    return MPI_SUCCESS;
}

/* Convert data between memory and the representation of the file; returns an MPI error code. */
static int convert(const io_rep_t *rep, const void *memory, int64_t count, mpi_type_t *type,
                   char *in_file, bool is_write)
{
    MPI_Datarep_conversion_function *fn = is_write ? rep->write : rep->read;
    MPI_Datarep_conversion_function_c *fn_c = is_write ? rep->write_c : rep->read_c;
    void *own = (void *)(uintptr_t)memory;
    int code;

    if (rep->owner == NULL)
        return convert_external(memory, count, type, in_file, is_write);
    if (fn != NULL && count > INT_MAX)
        return MPI_ERR_CONVERSION;
    if (fn != NULL)
        code = fn(own, type->handle, (int)count, in_file, 0, rep->state);
    else if (fn_c != NULL)
        code = fn_c(own, type->handle, count, in_file, 0, rep->state);
    else
        return convert_native(memory, count, type, in_file, is_write);
    return code == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_CONVERSION;
}

int io_rep_write(const io_rep_t *rep, const void *memory, int64_t count, mpi_type_t *type,
                 char *in_file)
{
    return convert(rep, memory, count, type, in_file, true);
}

int io_rep_read(const io_rep_t *rep, void *memory, int64_t count, mpi_type_t *type, char *in_file)
{
    return convert(rep, memory, count, type, in_file, false);
}

/* ---- Registration ---- */

/* Register a data representation; returns an MPI error code. */
static int enlist(const char *name, const io_rep_t *filled)
{
    const io_rep_t *known;
    io_rep_t *rep;

    if (strlen(name) >= MPI_MAX_DATAREP_STRING)
        return io_error_null(MPI_ERR_ARG,
                             "the name of the data representation is longer than %d characters",
                             MPI_MAX_DATAREP_STRING - 1);
    if (filled->extent == NULL)
        return io_error_null(MPI_ERR_ARG, "the argument dtype_file_extent_fn is NULL");
    if (io_rep_find(name, &known))
        return io_error_null(MPI_ERR_DUP_DATAREP, "there is a data representation \"%s\" already",
                             name);
    rep = xy_malloc(sizeof(*rep));
    if (rep != NULL) {
        *rep = *filled;
        rep->name = xy_strdup(name);
    }
    if (rep == NULL || rep->name == NULL) {
        xy_free(rep);
        return io_error_null(MPI_ERR_NO_MEM, "memory ran out for a data representation");
    }
    pthread_mutex_lock(&registered.lock);
    rep->next = registered.first;
    registered.first = rep;
    pthread_mutex_unlock(&registered.lock);
    return MPI_SUCCESS;
}

int impl_register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
                          MPI_Datarep_conversion_function *write_conversion_fn,
                          MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    io_rep_t filled = {.owner = mpi_self,
                       .read = read_conversion_fn,
                       .write = write_conversion_fn,
                       .extent = dtype_file_extent_fn,
                       .state = extra_state};

    return enlist(datarep, &filled);
}

int impl_register_datarep_c(const char *datarep,
                            MPI_Datarep_conversion_function_c *read_conversion_fn,
                            MPI_Datarep_conversion_function_c *write_conversion_fn,
                            MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    io_rep_t filled = {.owner = mpi_self,
                       .read_c = read_conversion_fn,
                       .write_c = write_conversion_fn,
                       .extent = dtype_file_extent_fn,
                       .state = extra_state};

    return enlist(datarep, &filled);
}

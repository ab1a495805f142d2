/* SPDX-License-Identifier: BSD-3-Clause */
/* Setting views and reading them back. */
#include <string.h>
#include <sys/stat.h>

#include "mpi/io/calls.h"
#include "mpi/io/io.h"
#include "mpi/io/io_represent.h"

static int check_type(mpi_file_t *file, MPI_Datatype handle, const char *what, mpi_type_t **type_p)
{
    *type_p = mpi_type_of(handle);
    if (*type_p == NULL)
        return mpi_error(file->comm, MPI_ERR_TYPE, "the %s is not a valid datatype", what);
    if (!(*type_p)->is_committed)
        return mpi_error(file->comm, MPI_ERR_TYPE,
                         "the %s was not committed; call MPI_Type_commit first", what);
    return MPI_SUCCESS;
}

/* Where the view begins: MPI_DISPLACEMENT_CURRENT is where the shared pointer of a sequential file
 * is. */
static int check_disp(mpi_file_t *file, MPI_Offset *disp)
{
    int64_t at;
    int code;

    if (*disp == MPI_DISPLACEMENT_CURRENT && io_is_sequential(file)) {
        code = io_pointer_add(file, 0, &at);
        *disp = io_view_offset(file->view, at * (int64_t)file->view->unit);
        return io_error_errno(file, code);
    }
    if (io_is_sequential(file))
        return mpi_error(file->comm, MPI_ERR_ARG,
                         "the file is sequential: its displacement is MPI_DISPLACEMENT_CURRENT");
    if (*disp == MPI_DISPLACEMENT_CURRENT)
        return mpi_error(file->comm, MPI_ERR_ARG,
                         "MPI_DISPLACEMENT_CURRENT is for files of MPI_MODE_SEQUENTIAL");
    if (*disp < 0)
        return mpi_error(file->comm, MPI_ERR_ARG, "the displacement is %lld", (long long)*disp);
    return MPI_SUCCESS;
}

/* Check the arguments of MPI_File_set_view and make the view, which the caller owns. */
static int make_view(mpi_file_t *file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                     const char *datarep, io_view_t **view_p)
{
    mpi_type_t *unit, *tile;
    const io_rep_t *rep;
    const char *why;
    int error = check_disp(file, &disp), error_class;

    if (error == MPI_SUCCESS)
        error = check_type(file, etype, "etype", &unit);
    if (error == MPI_SUCCESS)
        error = check_type(file, filetype, "filetype", &tile);
    if (error != MPI_SUCCESS)
        return error;
    if (!io_rep_find(datarep, &rep))
        return mpi_error(file->comm, MPI_ERR_UNSUPPORTED_DATAREP,
                         "there is no data representation \"%.128s\"; there are native, internal, "
                         "external32 and those of MPI_Register_datarep",
                         datarep);
    why = io_view_create(disp, unit, tile, rep, (file->shared->amode & MPI_MODE_RDONLY) != 0,
                         &error_class, view_p);
    return why == NULL ? MPI_SUCCESS : mpi_error_raise(file->comm, error_class, why);
}

int impl_file_set_view(mpi_file_t *file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                       const char *datarep, MPI_Info info)
{
    io_word_t word = {.error = 0};
    io_view_t *view;
    int error;

    io_note(file);
    if (mpi_info_check(file->comm, info) != MPI_SUCCESS)
        return MPI_ERR_INFO;
    error = make_view(file, disp, etype, filetype, datarep, &view);
    if (error != MPI_SUCCESS)
        return error;
    word.key = io_rep_size(view->rep, view->etype); /* of the etype all must have the same */
    error = io_agree_on(file, &word, "size of the etype");
    if (error == MPI_SUCCESS && file->comm->rank == 0)
        word.error = io_pointer_set(file, 0);
    if (error == MPI_SUCCESS)
        error = io_agree_on(file, &word, "size of the etype");
    if (error != MPI_SUCCESS) {
        io_view_release(view);
        return error;
    }
    io_view_release(file->view);
    file->view = view;
    file->position = 0;
    if (io_info_apply(file, mpi_info_of(info)) != XY_OK)
        return mpi_error_memory(file->comm, "the hints of a file");
    return MPI_SUCCESS;
}

int impl_file_get_view(mpi_file_t *file, MPI_Offset *disp, MPI_Datatype *etype,
                       MPI_Datatype *filetype, char *datarep)
{
    *disp = file->view->disp;
    *etype = mpi_type_give(file->view->etype);
    *filetype = mpi_type_give(file->view->filetype);
    strcpy(datarep, io_rep_name(file->view->rep));
    return MPI_SUCCESS;
}

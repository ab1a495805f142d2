/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hints of files. Those that other libraries know are kept and told, so that programs that look for
 * them find them; cb_buffer_size, romio_cb_* and romio_ds_* change what is done.
 */
#include <stdio.h>
#include <string.h>

#include "mpi/io/calls.h"
#include "mpi/io/io.h"

typedef struct {
    const char *key, *value; /* and what it is without being set; NULL: it is not told then */
    bool is_number;          /* at least 1; else one of: */
    const char *words;       /* "enable disable automatic"; NULL: anything */
} hint_t;

#define SWITCH "enable disable automatic"

static const hint_t hints[] = {
    {"cb_buffer_size", "1048576", true, NULL},
    {"cb_nodes", NULL, true, NULL},
    {"collective_buffering", "true", false, "true false"},
    {"romio_cb_read", "automatic", false, SWITCH},
    {"romio_cb_write", "automatic", false, SWITCH},
    {"romio_ds_read", "automatic", false, SWITCH},
    {"romio_ds_write", "automatic", false, SWITCH},
    {"romio_no_indep_rw", "false", false, "true false"},
    {"ind_rd_buffer_size", "1048576", true, NULL},
    {"ind_wr_buffer_size", "1048576", true, NULL},
    {"access_style", NULL, false, NULL},
    {"striping_factor", NULL, true, NULL},
    {"striping_unit", NULL, true, NULL},
    {"nb_proc", NULL, true, NULL},
    {"num_io_nodes", NULL, true, NULL},
    {"filename", NULL, false, NULL},
};

enum { HINTS = sizeof(hints) / sizeof(hints[0]) };

/* Whether a value is allowed for a hint. */
static bool is_accepted(const hint_t *hint, const char *value)
{
    size_t length = strlen(value);
    long number;

    if (hint->is_number)
        return xy_parse_long(value, &number) && number >= 1;
    if (hint->words == NULL)
        return true;
    for (const char *w = hint->words; w != NULL; w = strchr(w, ' ')) {
        w += *w == ' ';
        if (strncmp(w, value, length) == 0 && (w[length] == ' ' || w[length] == '\0'))
            return true;
    }
    return false;
}

static bool is(const mpi_file_t *file, const char *key, const char *value)
{
    const char *now = mpi_info_value(file->info, key);

    return now != NULL && strcmp(now, value) == 0;
}

/* Apply the values of the hints. A piece is whole pages. */
static void take_effect(mpi_file_t *file)
{
    enum { PAGE = 4096, MOST = 256 << 20 };
    long size = MOST;

    if (xy_parse_long(mpi_info_value(file->info, "cb_buffer_size"), &size) && size < MOST)
        file->piece = size < PAGE ? PAGE : (size_t)size / PAGE * PAGE;
    else
        file->piece = MOST;
    for (int w = 0; w < 2; w++) {
        file->is_direct[w] = is(file, w ? "romio_ds_write" : "romio_ds_read", "disable");
        file->is_split[w] = is(file, w ? "romio_cb_write" : "romio_cb_read", "disable") ||
                            is(file, "collective_buffering", "false");
    }
}

xy_status_t io_info_apply(mpi_file_t *file, const mpi_info_t *info)
{
    bool is_new = file->info == NULL;

    if (is_new)
        file->info = mpi_info_copy(NULL);
    if (file->info == NULL)
        return XY_ENOMEM;
    for (int i = 0; i < HINTS; i++) {
        const char *wanted = mpi_info_value(info, hints[i].key);
        bool is_wanted = wanted != NULL && is_accepted(&hints[i], wanted);
        const char *value = is_wanted ? wanted : is_new ? hints[i].value : NULL;

        if (value != NULL && mpi_info_put(file->info, hints[i].key, value) != XY_OK)
            return XY_ENOMEM;
    }
    take_effect(file);
    return XY_OK;
}

int impl_file_set_info(mpi_file_t *file, MPI_Info info)
{
    io_word_t word = {.error = 0};
    int error;

    io_note(file);
    if (mpi_info_check(file->comm, info) != MPI_SUCCESS)
        return MPI_ERR_INFO;
    error = io_agree_on(file, &word, "call");
    if (error == MPI_SUCCESS && io_info_apply(file, mpi_info_of(info)) != XY_OK)
        return mpi_error_memory(file->comm, "the hints of a file");
    return error;
}

int impl_file_get_info(mpi_file_t *file, MPI_Info *info_used)
{
    mpi_info_t *copy;

    copy = mpi_info_copy(file->info);
    if (copy == NULL)
        return mpi_error_memory(file->comm, "an info object");
    *info_used = (MPI_Info)(void *)copy;
    return MPI_SUCCESS;
}

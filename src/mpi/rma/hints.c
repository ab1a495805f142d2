/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hints of windows. Those that MPI defines are kept and told; only no_locks and
 * alloc_shared_noncontig change anything, since operations are done at once, in order, and atomic
 * for every combination of operations.
 */
#include <string.h>

#include "mpi/rma/calls.h"
#include "mpi/rma/rma.h"

typedef struct {
    const char *key, *value;     /* and what it is without being set */
    const char *const *accepted; /* the values, NULL at the end; NULL: a list of orders */
} hint_t;

static const char *const booleans[] = {"true", "false", NULL};
static const char *const same_ops[] = {"same_op", "same_op_no_op", NULL};

static const hint_t hints[] = {
    {"no_locks", "false", booleans},
    {"accumulate_ordering", "rar,raw,war,waw", NULL},
    {"accumulate_ops", "same_op_no_op", same_ops},
    {"same_size", "false", booleans},
    {"same_disp_unit", "false", booleans},
    {"alloc_shared_noncontig", "false", booleans},
};

enum { HINTS = sizeof(hints) / sizeof(hints[0]) };

/* "none", or some of rar, raw, war, waw with commas between. */
static bool is_ordering(const char *value)
{
    if (strcmp(value, "none") == 0)
        return true;
    for (;; value += 4) {
        if (strncmp(value, "rar", 3) != 0 && strncmp(value, "raw", 3) != 0 &&
            strncmp(value, "war", 3) != 0 && strncmp(value, "waw", 3) != 0)
            return false;
        if (value[3] != ',')
            return value[3] == '\0';
    }
}

static bool is_accepted(const hint_t *hint, const char *value)
{
    if (hint->accepted == NULL)
        return is_ordering(value);
    for (int i = 0; hint->accepted[i] != NULL; i++)
        if (strcmp(value, hint->accepted[i]) == 0)
            return true;
    return false;
}

/* The value it has now. */
static const char *current(const mpi_win_t *win, const hint_t *hint)
{
    const char *value = mpi_info_value(win->info, hint->key);

    return value != NULL ? value : hint->value;
}

xy_status_t rma_info_apply(mpi_win_t *win, const mpi_info_t *info)
{
    if (win->info == NULL)
        win->info = mpi_info_copy(NULL);
    if (win->info == NULL)
        return XY_ENOMEM;
    for (int i = 0; i < HINTS; i++) {
        const char *wanted = mpi_info_value(info, hints[i].key);

        if (wanted != NULL && is_accepted(&hints[i], wanted) &&
            mpi_info_put(win->info, hints[i].key, wanted) != XY_OK)
            return XY_ENOMEM;
    }
    win->has_no_locks = strcmp(current(win, &hints[0]), "true") == 0;
    return XY_OK;
}

int impl_win_set_info(mpi_win_t *win, MPI_Info info)
{
    if (mpi_info_check(win->comm, info) != MPI_SUCCESS)
        return MPI_ERR_INFO;
    if (rma_info_apply(win, mpi_info_of(info)) != XY_OK)
        return mpi_error_memory(win->comm, "the hints of a window");
    return MPI_SUCCESS;
}

int impl_win_get_info(mpi_win_t *win, MPI_Info *info_used)
{
    mpi_info_t *copy;

    if (info_used == NULL)
        return mpi_error_null(win->comm, "info_used");
    copy = mpi_info_copy(NULL);
    for (int i = 0; copy != NULL && i < HINTS; i++) {
        bool is_used = win->flavor == MPI_WIN_FLAVOR_SHARED ||
                       strcmp(hints[i].key, "alloc_shared_noncontig") != 0;

        if (is_used && mpi_info_put(copy, hints[i].key, current(win, &hints[i])) != XY_OK) {
            mpi_info_destroy(copy);
            copy = NULL;
        }
    }
    if (copy == NULL)
        return mpi_error_memory(win->comm, "an info object");
    *info_used = (MPI_Info)(void *)copy;
    return MPI_SUCCESS;
}

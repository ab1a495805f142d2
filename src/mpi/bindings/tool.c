/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool interface: its beginning and end, categories, and what there is none of. */
#include "mpi/bindings/tool.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "mpi/bindings/calls.h"
#include "mpi/runtime/runtime.h"

static _Atomic int begun; /* MPI_T_init_thread without MPI_T_finalize, of all ranks */

bool tool_is_ready(void)
{
    return begun > 0;
}

void tool_text(const char *text, char *place, int *length_p)
{
    if (!length_p)
        return;
    if (place && *length_p > 0)
        snprintf(place, (size_t)*length_p, "%s", text);
    *length_p = (int)strlen(text) + 1;
}

int impl_t_init_thread(int required, int *provided)
{
    int most = mpi_job ? mpi_thread_level_most() : MPI_THREAD_MULTIPLE; /* no job: no launcher */

    begun++;
    tool_set(provided, required < most ? required : most);
    return MPI_SUCCESS;
}

int impl_t_finalize(void)
{
    int now = begun;

    while (now > 0)
        if (atomic_compare_exchange_weak(&begun, &now, now - 1))
            return MPI_SUCCESS;
    return MPI_T_ERR_NOT_INITIALIZED;
}

/* ---- Categories: the variables that control, and those that count ---- */

enum { CONTROL, PERFORM, CATEGORIES };

static const struct {
    const char *name, *description;
} categories[CATEGORIES] = {
    [CONTROL] = {"xylem_control", "how messages and nonblocking collectives move"},
    [PERFORM] = {"xylem_messages", "messages of the calling rank"}};

static int check_category(int index)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    return index >= 0 && index < CATEGORIES ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

int impl_t_category_get_num(int *num_cat)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    tool_set(num_cat, CATEGORIES);
    return MPI_SUCCESS;
}

int impl_t_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len,
                             int *num_cvars, int *num_pvars, int *num_categories)
{
    int code = check_category(cat_index);

    if (code != MPI_SUCCESS)
        return code;
    tool_text(categories[cat_index].name, name, name_len);
    tool_text(categories[cat_index].description, desc, desc_len);
    tool_set(num_cvars, cat_index == CONTROL ? tool_control_count() : 0);
    tool_set(num_pvars, cat_index == PERFORM ? tool_perform_count() : 0);
    tool_set(num_categories, 0);
    return MPI_SUCCESS;
}

int impl_t_category_get_index(const char *name, int *cat_index)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    for (int i = 0; name && i < CATEGORIES; i++)
        if (strcmp(name, categories[i].name) == 0) {
            tool_set(cat_index, i);
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

/* The first `len` of `count` variables, which are all of their kind. */
static void list(int count, int len, int indices[])
{
    for (int i = 0; i < count && i < len; i++)
        indices[i] = i;
}

int impl_t_category_get_cvars(int cat_index, int len, int indices[])
{
    int code = check_category(cat_index);

    if (code == MPI_SUCCESS && cat_index == CONTROL)
        list(tool_control_count(), len, indices);
    return code;
}

int impl_t_category_get_pvars(int cat_index, int len, int indices[])
{
    int code = check_category(cat_index);

    if (code == MPI_SUCCESS && cat_index == PERFORM)
        list(tool_perform_count(), len, indices);
    return code;
}

int impl_t_category_get_categories(int cat_index, int len, int indices[])
{
    (void)len;
    (void)indices;
    return check_category(cat_index);
}

int impl_t_category_get_events(int cat_index, int len, int indices[])
{
    int code = check_category(cat_index);

    if (code == MPI_SUCCESS && cat_index == PERFORM)
        list(tool_event_count(), len, indices);
    return code;
}

int impl_t_category_get_num_events(int cat_index, int *num_events)
{
    int code = check_category(cat_index);

    if (code == MPI_SUCCESS)
        tool_set(num_events, cat_index == PERFORM ? tool_event_count() : 0);
    return code;
}

int impl_t_category_changed(int *update_number)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    tool_set(update_number, 0); /* they never change */
    return MPI_SUCCESS;
}

/* ---- Enumerations: no variable has one ---- */

int impl_t_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    (void)enumtype, (void)num, (void)name, (void)name_len;
    return tool_is_ready() ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_NOT_INITIALIZED;
}

int impl_t_enum_get_item(MPI_T_enum enumtype, int index, int *value, char *name, int *name_len)
{
    (void)enumtype, (void)index, (void)value, (void)name, (void)name_len;
    return tool_is_ready() ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_NOT_INITIALIZED;
}

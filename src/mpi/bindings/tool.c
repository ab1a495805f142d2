/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool interface: its beginning and end, categories, and empty lists. */
#include "mpi/bindings/tool.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "coll/coll.h"
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
    int most = mpi_thread_level_most();

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

/* ---- Categories: the variables that control, and those that tell how it goes ---- */

static const struct {
    const char *name, *description;
} categories[TOOL_CATEGORIES] = {
    [TOOL_CONTROL] = {"xylem_control", "how messages and nonblocking collectives move"},
    [TOOL_MESSAGES] = {"xylem_messages", "messages of the calling rank"},
    [TOOL_PROGRESS] = {"xylem_progress", "time that cores spend on messages and collectives"},
    [TOOL_MEMORY] = {"xylem_memory", "memory of the calling rank"}};

static int check_category(int index)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    return index >= 0 && index < TOOL_CATEGORIES ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

/* The first `len` performance variables of a category, which has as many as are returned. */
static int list_performs(int category, int len, int indices[])
{
    int count = 0;

    for (int i = 0; i < tool_perform_count(); i++)
        if ((int)tool_variable(i)->category == category) {
            if (count < len)
                indices[count] = i;
            count++;
        }
    return count;
}

int impl_t_category_get_num(int *num_cat)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    tool_set(num_cat, TOOL_CATEGORIES);
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
    tool_set(num_cvars, cat_index == TOOL_CONTROL ? tool_control_count() : 0);
    tool_set(num_pvars, list_performs(cat_index, 0, NULL));
    tool_set(num_categories, 0);
    return MPI_SUCCESS;
}

int impl_t_category_get_index(const char *name, int *cat_index)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    for (int i = 0; name && i < TOOL_CATEGORIES; i++)
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

    if (code == MPI_SUCCESS && cat_index == TOOL_CONTROL)
        list(tool_control_count(), len, indices);
    return code;
}

int impl_t_category_get_pvars(int cat_index, int len, int indices[])
{
    int code = check_category(cat_index);

    if (code == MPI_SUCCESS)
        list_performs(cat_index, len, indices);
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

    if (code == MPI_SUCCESS && cat_index == TOOL_MESSAGES)
        list(tool_event_count(), len, indices);
    return code;
}

int impl_t_category_get_num_events(int cat_index, int *num_events)
{
    int code = check_category(cat_index);

    if (code == MPI_SUCCESS)
        tool_set(num_events, cat_index == TOOL_MESSAGES ? tool_event_count() : 0);
    return code;
}

int impl_t_category_changed(int *update_number)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    tool_set(update_number, 0); /* they never change */
    return MPI_SUCCESS;
}

/* ---- Enumerations: the collectives ---- */

struct MPI_T_enum_t {
    const char *name;
};

static struct MPI_T_enum_t collectives = {"xylem_collectives"};

MPI_T_enum tool_collectives(void)
{
    return &collectives;
}

static int check_enum(MPI_T_enum enumtype)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    return enumtype == &collectives ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

int impl_t_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    int code = check_enum(enumtype);

    if (code != MPI_SUCCESS)
        return code;
    tool_set(num, XY_COLL_COUNT);
    tool_text(enumtype->name, name, name_len);
    return MPI_SUCCESS;
}

int impl_t_enum_get_item(MPI_T_enum enumtype, int index, int *value, char *name, int *name_len)
{
    int code = check_enum(enumtype);

    if (code == MPI_SUCCESS && (index < 0 || index >= XY_COLL_COUNT))
        code = MPI_T_ERR_INVALID_INDEX;
    if (code != MPI_SUCCESS)
        return code;
    tool_set(value, index);
    tool_text(xy_coll_name((xy_collective_t)index), name, name_len);
    return MPI_SUCCESS;
}

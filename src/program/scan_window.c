/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows in the slice. Other ranks read and write their memory between the calls of this one. So
 * as soon as something depends on the memory of a window, or on what an operation fetches, the
 * memory of all windows is needed at all MPI calls, and what is put into them is needed, too.
 */
#include <string.h>

#include "program/scan_slice.h"

static bool makes_window(const char *name)
{
    return strcmp(name, "MPI_Win_create") == 0 || strncmp(name, "MPI_Win_allocate", 16) == 0 ||
           strcmp(name, "MPI_Win_shared_query") == 0;
}

static bool is_shared(const scan_expr_t *call)
{
    return strstr(call->decl->name, "_shared") != NULL;
}

bool scan_is_one_sided(const xy_mpi_call_t *call)
{
    return makes_window(call->name) ||
           (call->args[0] != NULL && strcmp(call->args[0], "origin_addr") == 0);
}

bool scan_is_fetched(const xy_mpi_call_t *call, const char *argument)
{
    if (strcmp(argument, "result_addr") == 0 || strcmp(argument, "baseptr") == 0)
        return true;
    return strcmp(argument, "origin_addr") == 0 &&
           (strcmp(call->name, "MPI_Get") == 0 || strcmp(call->name, "MPI_Rget") == 0);
}

static void need_windows(scan_walk_t *w)
{
    w->has_changed |= !w->scan->is_window_needed;
    w->scan->is_window_needed = true;
}

void scan_window_note(scan_walk_t *w, scan_expr_t *call)
{
    if (makes_window(call->decl->name + (call->decl->name[0] == 'P')))
        scan_note_call(w, &w->scan->windows, call);
}

/* Other ranks store into it without a call. */
static void refuse_shared(scan_walk_t *w, const scan_expr_t *call, const scan_access_t *memory,
                          scan_set_t live)
{
    for (int i = 0; i < memory->count; i++) {
        scan_access_t one = {.ids = {memory->ids[i]}, .count = 1};

        if (scan_set_has_any(w, live, &one))
            scan_fail(w->scan, XY_EUNSUPPORTED, call->at,
                      "line %ld needs a value in memory that ranks share, which is not followed; "
                      "try 'mpiexec --virtual'",
                      XY_VEC_AT(&w->scan->locations, scan_location_t, memory->ids[i]).wanted);
    }
}

void scan_window_meet(scan_walk_t *w, scan_set_t live)
{
    for (size_t i = 0; i < w->scan->windows.count; i++) {
        scan_expr_t *call = XY_VEC_AT(&w->scan->windows, scan_expr_t *, i);
        scan_access_t memory = scan_access_given(w->scan, call);

        if (memory.count == 0)
            memory = scan_access_target(w->scan, call->args);
        if (scan_is_data(w->scan, &memory))
            continue;
        if (is_shared(call)) {
            refuse_shared(w, call, &memory, live);
            continue;
        }
        if (scan_set_has_any(w, live, &memory))
            need_windows(w);
        if (w->scan->is_window_needed)
            scan_set_add(w, live, &memory, call->at.line);
    }
}

/* The address of new memory is needed with its variable, and with the memory of windows. */
static bool is_address_needed(scan_walk_t *w, const scan_expr_t *call, const scan_access_t *address,
                              scan_set_t live)
{
    scan_access_t memory = scan_access_given(w->scan, call);

    return scan_set_has_any(w, live, address) ||
           (w->scan->is_window_needed && !is_shared(call) && !scan_is_data(w->scan, &memory));
}

void scan_walk_fetched(scan_walk_t *w, const scan_expr_t *call, const char *argument,
                       scan_expr_t *e, scan_set_t live)
{
    scan_access_t access = scan_access_target(w->scan, e);
    bool is_address = strcmp(argument, "baseptr") == 0;

    if (!e->is_kept &&
        !(is_address ? is_address_needed(w, call, &access, live)
                     : !scan_is_data(w->scan, &access) && scan_set_has_any(w, live, &access))) {
        scan_walk_expr(w, e, live, false);
        return;
    }
    if (is_address && access.is_strong)
        scan_set_remove(live, &access);
    if (!is_address)
        need_windows(w);
    scan_walk_keep(w, &e->is_kept, live);
    scan_walk_expr(w, e, live, true);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of MPI in the slice. */
#include <string.h>

#include "program/scan_slice.h"

/* Calls that ask, and send nothing: kept where the answer is needed. */
static bool is_query(const char *name)
{
    static const char *const names[] = {"MPI_Comm_rank",
                                        "MPI_Comm_size",
                                        "MPI_Comm_group",
                                        "MPI_Comm_compare",
                                        "MPI_Comm_set_errhandler",
                                        "MPI_Comm_set_name",
                                        "MPI_Comm_remote_size",
                                        "MPI_Comm_remote_group",
                                        "MPI_Comm_test_inter",
                                        "MPI_Initialized",
                                        "MPI_Finalized",
                                        "MPI_Cart_coords",
                                        "MPI_Cart_rank",
                                        "MPI_Cart_shift",
                                        "MPI_Cart_get",
                                        "MPI_Cartdim_get",
                                        "MPI_Dims_create",
                                        "MPI_Get_count",
                                        "MPI_Get_elements",
                                        "MPI_Get_processor_name",
                                        "MPI_Get_address",
                                        "MPI_Win_get_group",
                                        "MPI_Win_shared_query",
                                        "MPI_File_get_size",
                                        NULL};

    return scan_is_listed(names, name) || strcmp(name, "MPI_Pack_size") == 0 ||
           strncmp(name, "MPI_Group_", 10) == 0 || strncmp(name, "MPI_Type_", 9) == 0 ||
           strncmp(name, "MPI_Op_", 7) == 0;
}

/* Calls without an effect on messages, which `xylem predict` does not know. */
static bool is_harmless(const char *name)
{
    static const char *const prefixes[] = {"MPI_Info_",
                                           "MPI_Errhandler_",
                                           "MPI_Error_",
                                           "MPI_Get_",
                                           "MPI_Pcontrol",
                                           "MPI_Query_",
                                           "MPI_Is_",
                                           "MPI_Comm_get_",
                                           "MPI_Comm_set_",
                                           "MPI_T_",
                                           "MPI_Keyval_",
                                           "MPI_Attr_",
                                           "MPI_Add_",
                                           "MPI_Type_",
                                           "MPI_Status_",
                                           "MPI_Comm_create_keyval",
                                           "MPI_Comm_free_keyval",
                                           "MPI_Comm_delete_attr",
                                           "MPI_Comm_call_errhandler",
                                           "MPI_Topo_test",
                                           "MPI_Wtick",
                                           "MPI_Win_set_",
                                           "MPI_File_set_errhandler",
                                           "MPI_File_create_errhandler",
                                           "MPI_Win_get_",
                                           "MPI_Win_create_errhandler",
                                           "MPI_Free_mem",
                                           "MPI_Comm_create_errhandler",
                                           NULL};

    for (int i = 0; prefixes[i] != NULL; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static bool is_status(const char *argument)
{
    return strcmp(argument, "status") == 0 || strcmp(argument, "array_of_statuses") == 0;
}

/* Is it set by the call without being looked at? */
static bool is_result(const xy_mpi_call_t *call, const char *argument)
{
    static const char *const names[] = {"rank",
                                        "size",
                                        "flag",
                                        "index",
                                        "outcount",
                                        "provided",
                                        "rank_source",
                                        "rank_dest",
                                        "resultlen",
                                        "newcomm",
                                        "comm_cart",
                                        "newgroup",
                                        "newtype",
                                        "result",
                                        "extent",
                                        "lb",
                                        "ndims",
                                        "array_of_indices",
                                        "newintercomm",
                                        "newintracomm",
                                        "count",
                                        "name",
                                        "address",
                                        "disp_unit",
                                        NULL};
    static const char *const finishing[] = {"MPI_Wait", "MPI_Test", "MPI_Start", "MPI_Request_free",
                                            NULL};

    if (strcmp(argument, "request") == 0)
        return !scan_is_listed(finishing, call->name);
    if (strcmp(argument, "comm_dist_graph") == 0)
        return true;
    if (strcmp(argument, "fh") == 0)
        return strcmp(call->name, "MPI_File_open") == 0;
    if (strcmp(argument, "win") == 0)
        return strcmp(call->name, "MPI_Win_free") != 0;
    if (strcmp(argument, "message") == 0)
        return strstr(call->name, "probe") != NULL;
    if (strcmp(argument, "op") == 0 || strcmp(argument, "group") == 0)
        return strcmp(call->name, "MPI_Op_create") == 0 ||
               strcmp(call->name, "MPI_Comm_group") == 0 ||
               strcmp(call->name, "MPI_Win_get_group") == 0 ||
               strcmp(call->name, "MPI_Comm_remote_group") == 0;
    return scan_is_listed(names, argument);
}

static bool is_received(const xy_mpi_call_t *call, const char *argument)
{
    if (strcmp(argument, "recvbuf") == 0 || strcmp(argument, "buffer") == 0)
        return true;
    return strcmp(argument, "buf") == 0 &&
           (strstr(call->name, "recv") != NULL || strstr(call->name, "Recv") != NULL);
}

/* The value of an argument, -1 when it is no constant or matches anything. */
static long long constant_of(const xy_mpi_call_t *call, scan_expr_t *args, const char *a,
                             const char *b)
{
    int i = 0;

    for (scan_expr_t *e = args; e != NULL && i < XY_MPI_ARGS_MAX; e = e->next, i++)
        if (call->args[i] != NULL &&
            (strcmp(call->args[i], a) == 0 || strcmp(call->args[i], b) == 0))
            return e->kind == SCAN_E_INT && e->value >= 0 ? e->value : -1;
    return -1;
}

static bool is_point_to_point(const xy_mpi_call_t *call)
{
    for (int i = 0; i < XY_MPI_ARGS_MAX && call->args[i] != NULL; i++)
        if (strcmp(call->args[i], "tag") == 0 || strcmp(call->args[i], "sendtag") == 0 ||
            strcmp(call->args[i], "message") == 0)
            return true;
    return false;
}

/* "Bcast" of MPI_Bcast, MPI_Ibcast and MPI_Bcast_init. */
static const char *collective_of(const xy_mpi_call_t *call)
{
    static const char *const names[] = {"Neighbor_allgatherv",
                                        "Neighbor_allgather",
                                        "Neighbor_alltoallv",
                                        "Neighbor_alltoallw",
                                        "Neighbor_alltoall",
                                        "Reduce_scatter_block",
                                        "Reduce_scatter",
                                        "Allgatherv",
                                        "Allgather",
                                        "Allreduce",
                                        "Alltoallv",
                                        "Alltoallw",
                                        "Alltoall",
                                        "Gatherv",
                                        "Gather",
                                        "Scatterv",
                                        "Scatter",
                                        "Bcast",
                                        "Reduce",
                                        "Exscan",
                                        "Scan",
                                        NULL};
    const char *name = call->name + 4;

    if (is_point_to_point(call))
        return NULL;
    for (int i = 0; names[i] != NULL; i++)
        if (strncmp(names[i] + 1, name + 1 + (name[0] == 'I'), strlen(names[i]) - 1) == 0)
            return names[i];
    return call->name;
}

/* The data carried by the call; `datatype` and `tag` are the names of its arguments. */
static scan_carried_t carried_by(const xy_mpi_call_t *call, scan_expr_t *args, const char *datatype,
                                 const char *tag)
{
    scan_carried_t c = {.collective = collective_of(call)};

    c.datatype = constant_of(call, args, "datatype", datatype);
    c.tag = constant_of(call, args, c.collective != NULL ? "count" : "tag", tag);
    return c;
}

/* Is what the call sends needed somewhere? */
static bool is_carried(const xy_scan_t *scan, const xy_mpi_call_t *call, scan_expr_t *args)
{
    scan_carried_t sent = carried_by(call, args, "sendtype", "sendtag");

    for (size_t i = 0; i < scan->carried.count; i++) {
        const scan_carried_t *c = &XY_VEC_AT(&scan->carried, scan_carried_t, i);

        if (c->collective == sent.collective &&
            (c->datatype < 0 || sent.datatype < 0 || c->datatype == sent.datatype) &&
            (c->tag < 0 || sent.tag < 0 || c->tag == sent.tag))
            return true;
    }
    return false;
}

/* Keep the data that matching sends send to such a receive: from now on it matters, too. */
static void carry(scan_walk_t *w, const xy_mpi_call_t *call, scan_expr_t *args)
{
    scan_carried_t c = carried_by(call, args, "recvtype", "recvtag");

    for (size_t i = 0; i < w->scan->carried.count; i++) {
        const scan_carried_t *other = &XY_VEC_AT(&w->scan->carried, scan_carried_t, i);

        if (other->collective == c.collective && other->datatype == c.datatype &&
            other->tag == c.tag)
            return;
    }
    if (xy_vec_append(&w->scan->carried, &c) != XY_OK)
        scan_leave(w->scan, xy_fail_memory("slicing"));
    w->has_changed = true;
}

static bool is_in_place(const scan_expr_t *e)
{
    return e->kind == SCAN_E_INT && e->value == 1;
}

/* May the buffer that is argument `number` be sent? Those of MPI_Bcast and, in place, of others are
 * received into, too. */
static bool is_input(const xy_mpi_call_t *call, const scan_expr_t *args, int number)
{
    const char *name = call->args[number];
    int i = 0;

    if (scan_is_fetched(call, name) || scan_is_unknown_result(call, name))
        return false;
    if (!is_received(call, name) || strcmp(name, "buffer") == 0 ||
        strstr(call->name, "_replace") != NULL)
        return true;
    for (const scan_expr_t *e = args; e != NULL; e = e->next, i++) {
        const scan_expr_t *s = scan_strip(e);

        if (strcmp(call->args[i], "sendbuf") == 0 &&
            (is_in_place(s) || (s->kind == SCAN_E_CHOICE &&
                                (is_in_place(scan_strip(s->b)) || is_in_place(scan_strip(s->c))))))
            return true;
    }
    return false;
}

/* `rank == 0 ? MPI_IN_PLACE : buffer`: who has it in place matters. */
static bool walk_in_place(scan_walk_t *w, scan_expr_t *buffer, scan_set_t live)
{
    scan_expr_t *e = (scan_expr_t *)(uintptr_t)scan_strip(buffer);

    if (e->kind != SCAN_E_CHOICE ||
        !(is_in_place(scan_strip(e->b)) || is_in_place(scan_strip(e->c))))
        return false;
    scan_walk_keep(w, &buffer->is_kept, live);
    scan_walk_need(w, e->a, live);
    return true;
}

/* Buffers of variables that are kept; the rest is data. */
static void walk_received(scan_walk_t *w, const xy_mpi_call_t *call, scan_expr_t *args,
                          scan_expr_t *e, scan_set_t live)
{
    scan_access_t access = scan_access_target(w->scan, e);

    if (walk_in_place(w, e, live))
        return;
    if (is_in_place(e) || scan_is_data(w->scan, &access) ||
        (!e->is_kept && !scan_set_has_any(w, live, &access))) {
        scan_walk_expr(w, e, live, false);
        return;
    }
    scan_walk_keep(w, &e->is_kept, live);
    carry(w, call, args);
    scan_walk_expr(w, e, live, true);
}

/* Walks a send buffer: its contents are kept only if the received value is needed. */
static void walk_sent(scan_walk_t *w, scan_expr_t *e, scan_set_t live, bool is_needed)
{
    scan_access_t access = scan_access_target(w->scan, e);

    if (walk_in_place(w, e, live))
        return;
    if (!is_needed || is_in_place(e) || scan_is_data(w->scan, &access) || access.count == 0) {
        scan_walk_expr(w, e, live, false);
        return;
    }
    scan_walk_keep(w, &e->is_kept, live);
    scan_set_add(w, live, &access, e->at.line);
    scan_walk_expr(w, e, live, true);
}

/* Walks a pointer argument of an MPI call: a status or result that the call sets, or values that it
 * reads. */
static void walk_pointer(scan_walk_t *w, const xy_mpi_call_t *call, const char *name,
                         scan_expr_t *e, scan_set_t live)
{
    scan_access_t access = scan_access_target(w->scan, e);

    if (is_status(name) && strncmp(call->name, "MPI_Get_", 8) != 0) {
        if (!scan_set_has_any(w, live, &access)) {
            scan_walk_expr(w, e, live, false);
            return;
        }
        scan_walk_keep(w, &e->is_kept, live);
    } else if (is_result(call, name)) {
        if (access.is_strong)
            scan_set_remove(live, &access);
    } else {
        scan_set_add(w, live, &access, e->at.line);
    }
    scan_walk_expr(w, e, live, true);
}

bool scan_is_unknown_result(const xy_mpi_call_t *call, const char *argument)
{
    return strncmp(call->name, "MPI_File_", 9) == 0 &&
           ((strcmp(argument, "buf") == 0 && strstr(call->name, "read") != NULL) ||
            (strcmp(argument, "size") == 0 && strcmp(call->name, "MPI_File_get_size") == 0));
}

/* Marks a result of a call as not known. */
static void walk_unknown(scan_walk_t *w, scan_expr_t *e, scan_set_t live)
{
    scan_access_t access = scan_access_target(w->scan, e);

    if (!e->is_kept && (scan_is_data(w->scan, &access) || !scan_set_has_any(w, live, &access))) {
        scan_walk_expr(w, e, live, false);
        return;
    }
    if (access.is_strong)
        scan_set_remove(live, &access);
    e->is_unknown = true;
    scan_walk_keep(w, &e->is_kept, live);
    scan_walk_expr(w, e, live, true);
}

static bool is_answer_needed(scan_walk_t *w, const xy_mpi_call_t *call, scan_expr_t *args,
                             scan_set_t live)
{
    int i = 0;

    for (scan_expr_t *e = args; e != NULL; e = e->next, i++) {
        scan_access_t access = scan_access_target(w->scan, e);

        if ((call->kinds[i] == XY_ARG_POINTER || scan_is_fetched(call, call->args[i])) &&
            scan_set_has_any(w, live, &access))
            return true;
    }
    return false;
}

/* MPI_Pack and MPI_Unpack: what is in their first buffer is needed where what they write to the
 * second is. */
static void walk_packed(scan_walk_t *w, scan_expr_t *args, scan_set_t live)
{
    scan_expr_t *out = args->next->next->next;
    scan_access_t to = scan_access_target(w->scan, out);

    if (scan_is_data(w->scan, &to) || (!out->is_kept && !scan_set_has_any(w, live, &to)))
        return;
    scan_walk_keep(w, &out->is_kept, live);
    scan_walk_expr(w, out, live, true);
    walk_sent(w, args, live, true);
}

/* MPI_Get_address: the address is needed, and not what is there. */
static void walk_location(scan_walk_t *w, scan_expr_t *e, scan_set_t live)
{
    scan_walk_keep(w, &e->is_kept, live);
    scan_walk_need(w, e, live);
}

/* Walks the arguments of an MPI call, results first, so that they leave the live set before inputs
 * join it. */
static void walk_mpi_args(scan_walk_t *w, const xy_mpi_call_t *call, scan_expr_t *made,
                          scan_set_t live)
{
    scan_expr_t *args = made->args;
    bool is_sent;
    int i = 0;

    /* First what the call sets, then what it reads. */
    for (scan_expr_t *e = args; e != NULL; e = e->next, i++)
        if (scan_is_unknown_result(call, call->args[i]))
            walk_unknown(w, e, live);
        else if (call->kinds[i] == XY_ARG_POINTER)
            walk_pointer(w, call, call->args[i], e, live);
        else if (call->kinds[i] == XY_ARG_BUFFER && is_received(call, call->args[i]))
            walk_received(w, call, args, e, live);
        else if (call->kinds[i] == XY_ARG_BUFFER && scan_is_fetched(call, call->args[i]))
            scan_walk_fetched(w, made, call->args[i], e, live);
    if (args != NULL && strcmp(call->args[0], "inbuf") == 0)
        walk_packed(w, args, live);
    is_sent = scan_is_one_sided(call) ? w->scan->is_window_needed : is_carried(w->scan, call, args);
    i = 0;
    for (scan_expr_t *e = args; e != NULL; e = e->next, i++)
        if (call->kinds[i] == XY_ARG_VALUE)
            scan_walk_need(w, e, live);
        else if (call->kinds[i] == XY_ARG_IGNORED)
            scan_walk_expr(w, e, live, false);
        else if (strcmp(call->args[i], "location") == 0)
            walk_location(w, e, live);
        else if (call->kinds[i] == XY_ARG_BUFFER && is_input(call, args, i))
            walk_sent(w, e, live, is_sent);
}

/* They take an address without writing there. */
static bool keeps_memory(const char *name)
{
    return strstr(name, "_set_attr") != NULL || strcmp(name, "MPI_Attr_put") == 0 ||
           strcmp(name, "MPI_Free_mem") == 0;
}

/* ---- Persistent requests: their data is sent and received after MPI_Start, not where they are
 * made ---- */

static const xy_mpi_call_t *call_of(const scan_expr_t *e)
{
    return xy_mpi_call_find(e->decl->name + (e->decl->name[0] == 'P'));
}

static bool makes_persistent(const xy_mpi_call_t *call)
{
    size_t length = strlen(call->name);

    return length > 5 && strcmp(call->name + length - 5, "_init") == 0;
}

void scan_note_call(scan_walk_t *w, xy_vec_t *calls, scan_expr_t *call)
{
    for (size_t i = 0; i < calls->count; i++)
        if (XY_VEC_AT(calls, scan_expr_t *, i) == call)
            return;
    if (xy_vec_append(calls, &call) != XY_OK)
        scan_leave(w->scan, xy_fail_memory("slicing"));
    w->has_changed = true;
}

/* Keep a started receive where its data is needed after the start. */
static void start_received(scan_walk_t *w, const xy_mpi_call_t *call, scan_expr_t *args,
                           scan_expr_t *e, scan_set_t live)
{
    scan_access_t access = scan_access_target(w->scan, e);

    if (is_in_place(e) || scan_is_data(w->scan, &access) || !scan_set_has_any(w, live, &access))
        return;
    scan_walk_keep(w, &e->is_kept, live);
    carry(w, call, args);
}

/* ... and what it sends is needed before. */
static void start_sent(scan_walk_t *w, const scan_expr_t *e, scan_set_t live)
{
    scan_access_t access = scan_access_target(w->scan, e);

    if (!is_in_place(e) && !scan_is_data(w->scan, &access))
        scan_set_add(w, live, &access, e->at.line);
}

/* Any of them may be the one that is started. */
static void walk_start(scan_walk_t *w, scan_set_t live)
{
    for (size_t p = 0; p < w->scan->persistent.count; p++) {
        scan_expr_t *made = XY_VEC_AT(&w->scan->persistent, scan_expr_t *, p);
        const xy_mpi_call_t *call = call_of(made);
        bool is_sent;
        int i = 0;

        for (scan_expr_t *e = made->args; e != NULL; e = e->next, i++)
            if (call->kinds[i] == XY_ARG_BUFFER && is_received(call, call->args[i]))
                start_received(w, call, made->args, e, live);
        is_sent = is_carried(w->scan, call, made->args);
        i = 0;
        for (scan_expr_t *e = made->args; is_sent && e != NULL; e = e->next, i++)
            if (call->kinds[i] == XY_ARG_BUFFER)
                start_sent(w, e, live);
    }
}

/* Walks an MPI call and keeps it unless it is a query with an unused answer; returns true. */
bool scan_walk_mpi(scan_walk_t *w, scan_expr_t *e, scan_set_t live)
{
    const char *name = e->decl->name + (e->decl->name[0] == 'P');
    const xy_mpi_call_t *call = xy_mpi_call_find(name);
    int count = 0;

    if (scan_is_clock(e->decl)) {
        scan_walk_keep_effect(w, &e->is_kept, live);
        return true;
    }
    if (call == NULL && is_harmless(name))
        return keeps_memory(name) ? scan_walk_effects(w, e->args, live)
                                  : scan_walk_foreign(w, e, live);
    if (call == NULL)
        scan_fail(w->scan, XY_EUNSUPPORTED, e->at,
                  "%s cannot be simulated from a description; try 'xylem run --virtual'", name);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next)
        count++;
    if ((size_t)count != strlen(call->kinds))
        scan_fail(w->scan, XY_EINVAL, e->at, "%s takes %zu arguments, not %d", name,
                  strlen(call->kinds), count);
    if (strcmp(name, "MPI_Abort") == 0 && (live[0] >> SCAN_LATER & 1) == 0)
        return scan_walk_effects(w, e->args, live);
    if (is_query(name) && !is_answer_needed(w, call, e->args, live))
        return scan_walk_effects(w, e->args, live);
    scan_walk_keep_effect(w, &e->is_kept, live);
    if (makes_persistent(call))
        scan_note_call(w, &w->scan->persistent, e);
    scan_window_note(w, e);
    scan_window_meet(w, live);
    if (strncmp(name, "MPI_Start", 9) == 0)
        walk_start(w, live);
    walk_mpi_args(w, call, e, live);
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls in the slice: of MPI, kernels, functions of the program and of the C library. */
#include <string.h>

#include "cost/cost.h"
#include "program/c_library.h"
#include "program/scan_slice.h"

static bool is_listed(const char *const *names, const char *name)
{
    for (; names != NULL && *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

bool scan_is_mpi(const scan_decl_t *function)
{
    return function != NULL && function->body == NULL &&
           (strncmp(function->name, "MPI_", 4) == 0 || strncmp(function->name, "PMPI_", 5) == 0);
}

bool scan_is_clock(const scan_decl_t *function)
{
    return function != NULL &&
           (strcmp(function->name, "MPI_Wtime") == 0 || strcmp(function->name, "PMPI_Wtime") == 0);
}

bool scan_is_kernel(const xy_scan_t *scan, const scan_decl_t *function)
{
    return function != NULL && (xy_kernel_base_name(function->name) != function->name ||
                                is_listed(scan->options->kernels, function->name));
}

bool scan_is_exit(const char *name)
{
    static const char *const names[] = {"exit",  "_exit",     "_Exit", "quick_exit",
                                        "abort", "MPI_Abort", NULL};

    return is_listed(names, name);
}

bool scan_is_library(const char *name)
{
    return strcmp(name, "sscanf") != 0 && library_find(name, strlen(name)) >= 0;
}

/* The function of the C library that writes where its first argument points to. */
typedef struct {
    const char *name;
    bool is_reading; /* it reads the old contents, too */
    int format;      /* the argument that is a format of printf(); 0: none */
} writer_t;

static const writer_t *find_writer(const scan_expr_t *e)
{
    static const writer_t writers[] = {
        {"memset", false, 0}, {"memcpy", false, 0},  {"memmove", false, 0},
        {"strcpy", false, 0}, {"strncpy", false, 0}, {"strcat", true, 0},
        {"strncat", true, 0}, {"sprintf", false, 1}, {"snprintf", false, 2}};

    for (size_t i = 0; e->decl != NULL && i < sizeof(writers) / sizeof(writers[0]); i++)
        if (strcmp(writers[i].name, e->decl->name) == 0)
            return &writers[i];
    return NULL;
}

/* Is the format one that is known before the program runs, with as many arguments as there can be?
 */
static bool is_printed(const scan_expr_t *e, const writer_t *writer)
{
    const scan_expr_t *format = e->args;
    int count = 0;

    for (const scan_expr_t *a = e->args; a != NULL; a = a->next, count++)
        if (count == writer->format)
            format = scan_strip(a);
    return writer->format == 0 || (format != NULL && format->kind == SCAN_E_STRING &&
                                   library_can_print(format->text) && count <= LIBRARY_SCANNED);
}

/* Then text in memory is not known, and the numbers in it are asked for. */
static bool reads_files(const xy_scan_t *scan)
{
    static const char *const names[] = {"c:@F@fgets", "c:@F@fread",    "c:@F@getline",
                                        "c:@F@read",  "c:@F@getdelim", "c:@F@gets"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (xy_hash_get(&scan->decls, XY_HASH_KEY(names[i])) != NULL)
            return true;
    return false;
}

bool scan_is_parsed(xy_scan_t *scan, const scan_expr_t *e)
{
    const scan_expr_t *text = e->args, *format = text != NULL ? text->next : NULL;
    int count = 0;

    if (e->kind != SCAN_E_CALL || e->decl == NULL || strcmp(e->decl->name, "sscanf") != 0 ||
        format == NULL || scan_strip(format)->kind != SCAN_E_STRING)
        return false;
    for (const scan_expr_t *a = text; a != NULL; a = a->next, count++)
        if (scan_is_unknowable(scan, a))
            return false;
    return count <= LIBRARY_SCANNED && library_can_scan(scan_strip(format)->text) &&
           (!scan_is_own_memory(scan, text) || !reads_files(scan));
}

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
                                        NULL};

    return is_listed(names, name) || strcmp(name, "MPI_Pack_size") == 0 ||
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
                                           "MPI_Comm_create_errhandler",
                                           NULL};

    for (int i = 0; prefixes[i] != NULL; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static bool walk_effects(scan_walk_t *w, scan_expr_t *args, scan_set_t live)
{
    bool is_kept = false;

    for (scan_expr_t *a = args; a != NULL; a = a->next)
        is_kept |= scan_walk_expr(w, a, live, false);
    return is_kept;
}

/* ---- MPI --------------------------------------------------------------------------------- */

static bool is_status(const char *argument)
{
    return strcmp(argument, "status") == 0 || strcmp(argument, "array_of_statuses") == 0;
}

/* Is it set by the call without being looked at? */
static bool is_result(const xy_mpi_call_t *call, const char *argument)
{
    static const char *const names[] = {
        "rank",         "size",         "flag",      "index",   "outcount",  "provided",
        "rank_source",  "rank_dest",    "resultlen", "newcomm", "comm_cart", "newgroup",
        "newtype",      "result",       "extent",    "lb",      "ndims",     "array_of_indices",
        "newintercomm", "newintracomm", "count",     "name",    "address",   NULL};
    static const char *const finishing[] = {"MPI_Wait", "MPI_Test", "MPI_Start", "MPI_Request_free",
                                            NULL};

    if (strcmp(argument, "request") == 0)
        return !is_listed(finishing, call->name);
    if (strcmp(argument, "comm_dist_graph") == 0)
        return true;
    if (strcmp(argument, "message") == 0)
        return strstr(call->name, "probe") != NULL;
    if (strcmp(argument, "op") == 0 || strcmp(argument, "group") == 0)
        return strcmp(call->name, "MPI_Op_create") == 0 ||
               strcmp(call->name, "MPI_Comm_group") == 0 ||
               strcmp(call->name, "MPI_Comm_remote_group") == 0;
    return is_listed(names, argument);
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

static bool is_answer_needed(scan_walk_t *w, const xy_mpi_call_t *call, scan_expr_t *args,
                             scan_set_t live)
{
    int i = 0;

    for (scan_expr_t *e = args; e != NULL; e = e->next, i++) {
        scan_access_t access = scan_access_target(w->scan, e);

        if (call->kinds[i] == XY_ARG_POINTER && scan_set_has_any(w, live, &access))
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
static void walk_mpi_args(scan_walk_t *w, const xy_mpi_call_t *call, scan_expr_t *args,
                          scan_set_t live)
{
    bool is_sent;
    int i = 0;

    /* First what the call sets, then what it reads. */
    for (scan_expr_t *e = args; e != NULL; e = e->next, i++)
        if (call->kinds[i] == XY_ARG_POINTER)
            walk_pointer(w, call, call->args[i], e, live);
        else if (call->kinds[i] == XY_ARG_BUFFER && is_received(call, call->args[i]))
            walk_received(w, call, args, e, live);
    if (args != NULL && strcmp(call->args[0], "inbuf") == 0)
        walk_packed(w, args, live);
    is_sent = is_carried(w->scan, call, args);
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

static void note_persistent(scan_walk_t *w, scan_expr_t *e)
{
    for (size_t i = 0; i < w->scan->persistent.count; i++)
        if (XY_VEC_AT(&w->scan->persistent, scan_expr_t *, i) == e)
            return;
    if (xy_vec_append(&w->scan->persistent, &e) != XY_OK)
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
static bool walk_mpi(scan_walk_t *w, scan_expr_t *e, scan_set_t live)
{
    const char *name = e->decl->name + (e->decl->name[0] == 'P');
    const xy_mpi_call_t *call = xy_mpi_call_find(name);
    int count = 0;

    if (scan_is_clock(e->decl)) {
        scan_walk_keep_effect(w, &e->is_kept, live);
        return true;
    }
    if (call == NULL && is_harmless(name))
        return walk_effects(w, e->args, live);
    if (call == NULL)
        scan_fail(w->scan, XY_EUNSUPPORTED, e->at,
                  "%s cannot be simulated from a description; try 'xylem run --virtual'", name);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next)
        count++;
    if ((size_t)count != strlen(call->kinds))
        scan_fail(w->scan, XY_EINVAL, e->at, "%s takes %zu arguments, not %d", name,
                  strlen(call->kinds), count);
    if (strcmp(name, "MPI_Abort") == 0 && (live[0] >> SCAN_LATER & 1) == 0)
        return walk_effects(w, e->args, live);
    if (is_query(name) && !is_answer_needed(w, call, e->args, live))
        return walk_effects(w, e->args, live);
    scan_walk_keep_effect(w, &e->is_kept, live);
    if (makes_persistent(call))
        note_persistent(w, e);
    if (strncmp(name, "MPI_Start", 9) == 0)
        walk_start(w, live);
    walk_mpi_args(w, call, e->args, live);
    return true;
}

/* ---- Other functions --------------------------------------------------------------------- */

static bool walk_kernel(scan_walk_t *w, scan_expr_t *e, scan_set_t live)
{
    int i = 0;

    scan_walk_keep_effect(w, &e->is_kept, live);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next, i++)
        if (scan_kernel_takes(e, i, a))
            scan_walk_need(w, a, live);
        else
            scan_walk_expr(w, a, live, false);
    return true;
}

/* Walks a call of a function of the program: live locations flow to its exit, those of its entry
 * flow back. */
static bool walk_own(scan_walk_t *w, scan_expr_t *e, scan_set_t live, bool is_needed)
{
    scan_flow_t *flow = e->decl->flow;
    uint64_t later = live[0] & (uint64_t)1 << SCAN_LATER_IN_FUNCTION;
    scan_decl_t *p = e->decl->params;

    w->has_changed |= !flow->is_reached || (is_needed && !flow->needs_result);
    flow->is_reached = true;
    flow->needs_result |= is_needed;
    live[0] &= ~((uint64_t)1 << SCAN_LATER_IN_FUNCTION);
    w->has_changed |= scan_set_join(w, flow->exit, live);
    live[0] |= later;
    if (!is_needed && !flow->has_effects)
        return walk_effects(w, e->args, live);
    if (flow->has_effects)
        scan_walk_keep_effect(w, &e->is_kept, live);
    else
        scan_walk_keep(w, &e->is_kept, live);
    scan_set_join(w, live, flow->entry);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next, p = p != NULL ? p->next : NULL)
        if (p != NULL && p->is_kept)
            scan_walk_need(w, a, live);
        else
            scan_walk_expr(w, a, live, false);
    return true;
}

static bool walk_foreign(scan_walk_t *w, scan_expr_t *e, scan_set_t live);

/* The target of an argument is read. */
static void need_target(scan_walk_t *w, const scan_expr_t *a, long line, scan_set_t live)
{
    scan_access_t access = scan_access_target(w->scan, a);

    if (access.count > 0 && !scan_is_data(w->scan, &access))
        scan_set_add(w, live, &access, line);
}

/* Memory that is part of the slice is copied, cleared and written there, too. */
static bool walk_writer(scan_walk_t *w, scan_expr_t *e, const writer_t *writer, scan_set_t live,
                        bool is_needed)
{
    scan_access_t to;
    int i = 0;

    if (e->args == NULL)
        return false;
    to = scan_access_target(w->scan, e->args);
    if (!is_needed && (scan_is_data(w->scan, &to) || !scan_set_has_any(w, live, &to)))
        return walk_effects(w, e->args, live);
    if (!is_needed && scan_is_unknowable(w->scan, e))
        return walk_foreign(w, e, live);
    scan_walk_keep_effect(w, &e->is_kept, live);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next, i++) {
        if (i > 0 || writer->is_reading)
            need_target(w, a, e->at.line, live);
        scan_walk_need(w, a, live);
    }
    return true;
}

/* sscanf() of an argument of the program. What it does not find stays as it was. */
static bool walk_parse(scan_walk_t *w, scan_expr_t *e, scan_set_t live, bool is_needed)
{
    bool is_kept = is_needed;

    for (scan_expr_t *a = e->args->next; a != NULL; a = a->next) {
        scan_access_t access = scan_access_target(w->scan, a);

        is_kept |= access.count > 0 && !scan_is_data(w->scan, &access) &&
                   scan_set_has_any(w, live, &access);
    }
    if (!is_kept)
        return walk_effects(w, e->args, live);
    scan_walk_keep_effect(w, &e->is_kept, live);
    need_target(w, e->args, e->at.line, live);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next)
        scan_walk_need(w, a, live);
    return true;
}

/* The names of options are read where they are. */
static void need_options(scan_walk_t *w, const scan_expr_t *e, scan_set_t live)
{
    const scan_expr_t *a = e->args;
    const scan_type_t *t;
    scan_access_t access;

    for (int i = 0; i < 3 && a != NULL; i++)
        a = a->next;
    if (a == NULL)
        return;
    access = scan_access_target(w->scan, a);
    scan_set_add(w, live, &access, e->at.line);
    t = scan_strip(a)->type;
    if (t->of != NULL && t->of->kind == SCAN_STRUCT)
        ((scan_record_t *)(uintptr_t)t->of->record)->is_whole = true;
}

/* It may follow the pointers that it finds there: nobody could say what to assume. */
static void check_reachable(scan_walk_t *w, const scan_expr_t *call, const scan_expr_t *a,
                            scan_set_t live)
{
    scan_access_t access = scan_access_reachable(w->scan, a);

    for (int i = 0; i < access.count; i++) {
        const scan_location_t *l = &XY_VEC_AT(&w->scan->locations, scan_location_t, access.ids[i]);
        scan_access_t one = {.ids = {access.ids[i]}, .count = 1};

        if (!l->is_data && scan_set_has_any(w, live, &one))
            scan_fail(w->scan, XY_EINVAL, call->at,
                      "%s%s may change '%s', which its argument points to and line %ld needs: its "
                      "value is not known; also give the source of the function",
                      call->decl != NULL ? call->decl->name : "the function",
                      call->decl != NULL ? "()" : "", l->name, l->wanted);
    }
}

/* The address of a global variable, as an argument that stands behind those of the program. */
static void add_global(xy_scan_t *scan, scan_expr_t *call, scan_decl_t *global)
{
    scan_expr_t *address = scan_alloc(scan, sizeof(*address)), **last = &call->args;
    scan_expr_t *name = scan_alloc(scan, sizeof(*name));
    scan_type_t *pointer = scan_alloc(scan, sizeof(*pointer));

    *pointer = (scan_type_t){.kind = SCAN_POINTER, .bytes = sizeof(void *), .of = global->type};
    *name =
        (scan_expr_t){.kind = SCAN_E_NAME, .type = global->type, .at = call->at, .decl = global};
    *address = (scan_expr_t){
        .kind = SCAN_E_UNARY, .op = SCAN_OP_ADDRESS, .type = pointer, .at = call->at, .a = name};
    while (*last != NULL)
        last = &(*last)->next;
    *last = address;
}

/* A function of another source may set the global variables that it can name: those are arguments
 * of its calls, too. */
static void add_globals(scan_walk_t *w, scan_expr_t *e, scan_set_t live)
{
    for (scan_decl_t *g = w->scan->globals; g != NULL; g = g->next) {
        scan_access_t access = scan_access_decl(w->scan, g);
        bool is_there = g->is_static || g->type->is_const || scan_is_data(w->scan, &access) ||
                        !scan_set_has_any(w, live, &access);

        for (const scan_expr_t *a = e->args; a != NULL && !is_there; a = a->next)
            is_there = a->kind == SCAN_E_UNARY && a->a->decl == g;
        if (!is_there)
            add_global(w->scan, e, g);
    }
}

/* Walk a call of a function without a body: needed data that it writes through its pointers is
 * unknown. */
static bool walk_foreign(scan_walk_t *w, scan_expr_t *e, scan_set_t live)
{
    bool is_free = e->decl != NULL &&
                   (strcmp(e->decl->name, "free") == 0 || strcmp(e->decl->name, "realloc") == 0);
    const scan_decl_t *p = e->decl != NULL ? e->decl->params : NULL;
    bool is_reader = e->decl != NULL && strstr(e->decl->name, "scanf") != NULL;
    bool is_system = e->decl != NULL && (e->decl->is_system || e->decl->body != NULL);
    bool is_kept = false;

    if (!is_system)
        add_globals(w, e, live);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next, p = p != NULL ? p->next : NULL) {
        scan_access_t access = scan_access_target(w->scan, a);
        bool is_written = p != NULL ? p->type->kind == SCAN_POINTER && !p->type->of->is_const
                                    : is_reader || !is_system;

        if (is_written && !is_free && access.count > 0 && !scan_is_data(w->scan, &access) &&
            scan_set_has_any(w, live, &access)) {
            if (access.is_strong)
                scan_set_remove(live, &access);
            scan_walk_keep_effect(w, &e->is_kept, live);
            w->has_changed |= !a->is_unknown;
            a->is_unknown = a->is_kept = true;
            is_kept = w->loop == NULL || w->loop->is_kept;
        }
        if (!is_system)
            check_reachable(w, e, a, live);
        is_kept |= scan_walk_expr(w, a, live, false);
    }
    return is_kept;
}

static bool walk_exit(scan_walk_t *w, scan_expr_t *e, scan_set_t live)
{
    if ((live[0] >> SCAN_LATER & 1) == 0)
        return false;
    memset(live, 0, w->words * sizeof(uint64_t));
    scan_walk_keep_effect(w, &e->is_kept, live);
    return true;
}

bool scan_walk_call(scan_walk_t *w, scan_expr_t *e, scan_set_t live, bool is_needed)
{
    const writer_t *writer = find_writer(e);
    bool is_kept = false;

    if (scan_is_mpi(e->decl))
        return walk_mpi(w, e, live);
    if (scan_is_kernel(w->scan, e->decl))
        return walk_kernel(w, e, live);
    if (e->decl != NULL && e->decl->body != NULL)
        return walk_own(w, e, live, is_needed);
    if (e->decl != NULL && scan_is_exit(e->decl->name))
        return walk_exit(w, e, live);
    if (writer != NULL && (is_needed || !scan_is_unknowable(w->scan, e)))
        return walk_writer(w, e, writer, live, is_needed);
    if (scan_is_parsed(w->scan, e))
        return walk_parse(w, e, live, is_needed);
    if (!is_needed || e->decl == NULL || !scan_is_library(e->decl->name))
        return walk_foreign(w, e, live);
    if (strcmp(e->decl->name, "getopt_long") == 0)
        need_options(w, e, live);
    for (scan_expr_t *a = e->args; a != NULL; a = a->next) {
        if (strcmp(e->decl->name, "free") != 0)
            need_target(w, a, e->at.line, live);
        is_kept |= scan_walk_expr(w, a, live, true);
    }
    return is_kept;
}

bool scan_is_data_memory(const scan_type_t *pointer, const scan_expr_t *value)
{
    const scan_expr_t *e = scan_strip(value);

    return pointer->kind == SCAN_POINTER && pointer->of->kind == SCAN_REAL &&
           e->kind == SCAN_E_CALL && e->decl != NULL &&
           (strcmp(e->decl->name, "malloc") == 0 || strcmp(e->decl->name, "calloc") == 0);
}

/* Returns whether the result of a call cannot be computed from the description. */
static bool is_unknowable_call(xy_scan_t *scan, const scan_expr_t *e)
{
    if (e->decl == NULL || scan_is_kernel(scan, e->decl))
        return true;
    if (scan_is_mpi(e->decl) || e->decl->body != NULL)
        return false;
    if (scan_is_parsed(scan, e))
        return false;
    if (!scan_is_library(e->decl->name))
        return true;
    if (find_writer(e) != NULL && !is_printed(e, find_writer(e)))
        return true;
    for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
        if (scan_is_unknowable(scan, a))
            return true;
    return false;
}

/* Returns whether a location holds data, or is addressed by a value that cannot be computed. */
static bool is_unknowable_lvalue(xy_scan_t *scan, const scan_expr_t *e, bool is_read)
{
    scan_access_t access = scan_access(scan, e);

    if (is_read && e->type->kind != SCAN_ARRAY &&
        (scan_is_data(scan, &access) || e->type->kind == SCAN_OTHER))
        return !(e->kind == SCAN_E_NAME && e->decl->is_function);
    switch (e->kind) {
    case SCAN_E_INDEX:
        return scan_is_unknowable(scan, e->a) || scan_is_unknowable(scan, e->b);
    case SCAN_E_MEMBER:
    case SCAN_E_UNARY:
        return scan_is_unknowable(scan, e->a);
    default:
        return false;
    }
}

bool scan_is_unknowable(xy_scan_t *scan, const scan_expr_t *e)
{
    switch (e->kind) {
    case SCAN_E_OTHER:
        return true;
    case SCAN_E_CALL:
        return is_unknowable_call(scan, e);
    case SCAN_E_NAME:
    case SCAN_E_INDEX:
    case SCAN_E_MEMBER:
        return is_unknowable_lvalue(scan, e, true);
    case SCAN_E_UNARY:
        if (e->op == SCAN_OP_ADDRESS)
            return is_unknowable_lvalue(scan, e->a, false);
        if (e->op == SCAN_OP_DEREF)
            return is_unknowable_lvalue(scan, e, true);
        return scan_is_unknowable(scan, e->a);
    case SCAN_E_LIST:
        for (const scan_expr_t *a = e->args; a != NULL; a = a->next)
            if (scan_is_unknowable(scan, a))
                return true;
        return false;
    default:
        return (e->a != NULL && scan_is_unknowable(scan, e->a)) ||
               (e->b != NULL && scan_is_unknowable(scan, e->b)) ||
               (e->c != NULL && scan_is_unknowable(scan, e->c));
    }
}

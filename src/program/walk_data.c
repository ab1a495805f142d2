/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The little data that a description keeps: parameters that are broadcast, counts that are
 * gathered. A member leaves a copy of what it gives when it comes to the collective, and takes what
 * it gets when its own part is complete: by then all that give something to it have come. Of
 * messages the same: captured when they are sent, copied when they are received.
 */
#include <mpi.h>
#include <string.h>

#include "program/walk_coll.h"

enum { DATA_MAX = 1 << 16 }; /* bytes of a member; more is no parameter */

/* ---- Meetings ---- */

walk_meeting_t *walk_meeting_find(walk_comm_t *comm, uint64_t number)
{
    walk_meeting_t *m = comm->meetings;

    while (m != NULL && m->number != number)
        m = m->next;
    return m;
}

void walk_meeting_free(walk_meeting_t *meeting, int32_t size)
{
    for (int32_t r = 0; meeting->given != NULL && r < size; r++)
        xy_free(meeting->given[r]);
    xy_free(meeting->given);
    xy_free(meeting->bytes);
    xy_free(meeting->result);
    xy_free(meeting->made);
    xy_free(meeting);
}

/* Adds the record of one collective to a communicator; returns NULL without memory. */
static walk_meeting_t *meeting_new(walk_comm_t *comm, uint64_t number)
{
    walk_meeting_t *m = xy_calloc(1, sizeof(*m));

    if (m == NULL)
        return NULL;
    m->number = number;
    m->given = xy_calloc((size_t)comm->size, sizeof(*m->given));
    m->bytes = xy_calloc((size_t)comm->size, sizeof(*m->bytes));
    if (m->given == NULL || m->bytes == NULL) {
        walk_meeting_free(m, comm->size);
        return NULL;
    }
    m->next = comm->meetings;
    comm->meetings = m;
    return m;
}

walk_meeting_t *walk_meet(walker_t *w, walk_member_t *m, uint64_t number, const void *data,
                          uint64_t bytes)
{
    walk_meeting_t *meeting = walk_meeting_find(m->comm, number);

    if (meeting == NULL)
        meeting = meeting_new(m->comm, number);
    if (meeting != NULL && data != NULL) {
        meeting->given[m->rank] = xy_malloc(bytes > 0 ? bytes : 1);
        if (meeting->given[m->rank] != NULL)
            memcpy(meeting->given[m->rank], data, bytes);
        meeting->bytes[m->rank] = bytes;
    }
    if (meeting == NULL || (data != NULL && meeting->given[m->rank] == NULL)) {
        process_fail_memory(&w->process);
        return NULL;
    }
    meeting->arrived++;
    return meeting;
}

void walk_meeting_leave(walk_comm_t *comm, walk_meeting_t *meeting)
{
    walk_meeting_t **at = &comm->meetings;

    if (++meeting->over < comm->size)
        return;
    while (*at != meeting)
        at = &(*at)->next;
    *at = meeting->next;
    walk_meeting_free(meeting, comm->size);
}

/* ---- Collectives ---- */

static xy_collective_t collective_of(const code_site_t *site)
{
    return (xy_collective_t)(walk_extra(site) & WALK_COLLECTIVE_MASK);
}

bool walk_has_data(const code_site_t *site)
{
    const walk_layout_t *l = &walk_layouts[collective_of(site)];

    return (l->send >= 0 && (site->given & 1u << l->send) != 0) ||
           (l->receive >= 0 && (site->given & 1u << l->receive) != 0);
}

static bool is_to_root(xy_collective_t c)
{
    return c == XY_COLL_GATHER || c == XY_COLL_GATHERV || c == XY_COLL_REDUCE;
}

/* A pointer that is kept, and is one. */
static int64_t address(const code_site_t *site, const int64_t *args, int position)
{
    return position >= 0 && (site->given & 1u << position) != 0 &&
                   args[position] != (int64_t)(intptr_t)MPI_IN_PLACE
               ? args[position]
               : 0;
}

/* The address and the size of this member's data. 0: nothing. */
static int64_t input(walker_t *w, const walk_member_t *m, const code_site_t *site,
                     const int64_t *args, uint64_t *bytes_p)
{
    xy_collective_t c = collective_of(site);
    const walk_layout_t *l = &walk_layouts[c];
    int64_t from = address(site, args, l->send), to = address(site, args, l->receive);
    int count = l->send_count, type_at = l->send_type;
    bool is_in_receive = l->send_count < 0 || (from == 0 && walk_is_in_place(site, args));
    int32_t root = walk_root(m->comm, m->rank, site, args);
    bool is_inter = m->comm->lows > 0;
    uint64_t blocks = 1;
    walk_type_t type;

    if (is_in_receive) {
        count = l->receive_count;
        type_at = l->receive_type;
        from = from != 0 ? from : to;
    }
    if (c == XY_COLL_BARRIER || c == XY_COLL_SCATTERV || c == XY_COLL_ALLTOALLV ||
        c == XY_COLL_ALLTOALLW || c == XY_COLL_REDUCE_SCATTER || from == 0)
        return 0;
    if ((c == XY_COLL_BCAST || c == XY_COLL_SCATTER) && root != m->rank)
        return 0;
    if (is_inter && (root == WALK_NO_ROOT || (is_to_root(c) && root == m->rank)))
        return 0;
    if (is_in_receive && (c == XY_COLL_ALLGATHERV || c == XY_COLL_GATHERV))
        return 0;
    if (!walk_type(w, args[type_at], &type) || !walk_type_is_dense(&type))
        return 0;
    if (c == XY_COLL_SCATTER || c == XY_COLL_ALLTOALL)
        blocks = (uint64_t)walk_peers(m->comm, m->rank);
    else if (c == XY_COLL_REDUCE_SCATTER_BLOCK)
        blocks = (uint64_t)walk_own(m->comm, m->rank);
    *bytes_p = (uint64_t)args[count] * type.map.size * blocks;
    if (is_in_receive && (c == XY_COLL_ALLGATHER || c == XY_COLL_GATHER))
        from += m->rank * args[count] * walk_type_extent(&type);
    return from;
}

/* Blocks of different lengths one behind the other, behind the offsets of all and of the end. NULL:
 * not followed, or the process has failed. The caller owns them. */
static uint8_t *pack_blocks(walker_t *w, const walk_member_t *m, const code_site_t *site,
                            const int64_t *args, uint64_t *bytes_p)
{
    const walk_layout_t *l = &walk_layouts[collective_of(site)];
    int64_t from = address(site, args, l->send);
    int32_t n = walk_peers(m->comm, m->rank);
    uint64_t head = ((uint64_t)n + 1) * sizeof(uint64_t), *offsets;
    uint8_t *data;
    walk_type_t type;

    if (from == 0 || (l->root >= 0 && walk_root(m->comm, m->rank, site, args) != m->rank) ||
        !walk_type(w, args[l->send_type], &type) || !walk_type_is_dense(&type))
        return NULL;
    data = xy_malloc(head + DATA_MAX);
    if (data == NULL) {
        process_fail_memory(&w->process);
        return NULL;
    }
    offsets = (uint64_t *)(void *)data;
    *bytes_p = head;
    for (int32_t i = 0; i < n && w->process.status == XY_OK; i++) {
        int32_t at = 0, count = 0;
        const void *block = NULL;
        uint64_t bytes = 0;

        offsets[i] = *bytes_p;
        if (walk_get_int(w, args[l->send_count], i, &count) &&
            walk_get_int(w, args[l->send_at], i, &at))
            bytes = (uint64_t)count * type.map.size;
        if (count < 0 || *bytes_p + bytes > head + DATA_MAX)
            break;
        if (bytes > 0)
            block = process_at(&w->process, (uint64_t)(from + at * walk_type_extent(&type)), bytes);
        if (block != NULL)
            memcpy(data + *bytes_p, block, bytes);
        *bytes_p += bytes;
        offsets[i + 1] = *bytes_p;
        if (i + 1 == n && w->process.status == XY_OK)
            return data;
    }
    xy_free(data);
    return NULL;
}

bool walk_data_give(walker_t *w, walk_member_t *m, uint64_t number, const code_site_t *site,
                    const int64_t *args)
{
    xy_collective_t c = collective_of(site);
    uint64_t bytes = 0;
    int64_t from;
    const void *data;

    if (!walk_has_data(site))
        return true;
    if (c == XY_COLL_SCATTERV || c == XY_COLL_ALLTOALLV) {
        uint8_t *blocks = pack_blocks(w, m, site, args, &bytes);
        bool is_met = w->process.status == XY_OK && walk_meet(w, m, number, blocks, bytes) != NULL;

        xy_free(blocks);
        return is_met;
    }
    from = input(w, m, site, args, &bytes);
    data = from != 0 && bytes <= DATA_MAX ? process_at(&w->process, (uint64_t)from, bytes) : NULL;
    return w->process.status == XY_OK && walk_meet(w, m, number, data, bytes) != NULL;
}

static bool put(walker_t *w, int64_t to, const uint8_t *data, uint64_t bytes)
{
    void *at = process_at(&w->process, (uint64_t)to, bytes);

    if (at != NULL)
        memcpy(at, data, bytes);
    return at != NULL;
}

/* Members of its group, at least itself. */
static uint64_t own_of(const walk_request_t *r)
{
    int32_t own = walk_own(r->comm, r->rank);

    return own > 0 ? (uint64_t)own : 1;
}

/* Its number in its group. */
static uint64_t place_of(const walk_request_t *r)
{
    return (uint64_t)(r->rank - walk_own_first(r->comm, r->rank));
}

/* Blocks of all, one behind the other or where the displacements say. */
static bool take_blocks(walker_t *w, const walk_request_t *r, const walk_meeting_t *meeting,
                        const walk_layout_t *l, int64_t to)
{
    bool is_all = collective_of(r->kept->site) == XY_COLL_ALLTOALL;
    bool is_in_place = walk_is_in_place(r->kept->site, r->kept->args);
    int32_t first = walk_peers_first(r->comm, r->rank), n = walk_peers(r->comm, r->rank);
    int32_t place = r->rank - first;
    int64_t block, extent;
    walk_type_t type;

    if (!walk_type(w, r->kept->args[l->receive_type], &type))
        return false;
    extent = walk_type_extent(&type);
    for (int32_t i = 0; i < n; i++) {
        int32_t at = 0, count = (int32_t)r->kept->args[l->receive_count];
        uint64_t from = 0, bytes = meeting->bytes[first + i];

        if (l->receive_at >= 0 && !walk_get_int(w, r->kept->args[l->receive_at], i, &at))
            return false;
        if (l->receive_at >= 0 && !walk_get_int(w, r->kept->args[l->receive_count], i, &count))
            return false;
        block = l->receive_at >= 0 ? at * extent : (int64_t)i * count * extent;
        if (meeting->given[first + i] == NULL || !walk_type_is_dense(&type)) {
            if (!(is_in_place && i == place) &&
                !walk_data_lose(w, (uint64_t)(to + block), walk_type_span(&type, count)))
                return false;
            continue;
        }
        if (is_all) {
            bytes /= own_of(r);
            from = bytes * place_of(r);
        }
        if (!put(w, to + block, meeting->given[first + i] + from, bytes))
            return false;
    }
    return true;
}

/* Puts the block for this member, of those that a member has packed, where it has room. NULL: it is
 * not known. */
static bool take_packed(walker_t *w, const walk_request_t *r, const uint8_t *packed, int64_t to,
                        const walk_type_t *type, int64_t count)
{
    uint64_t room = (uint64_t)count * type->map.size, offsets[2];

    if (packed == NULL || !walk_type_is_dense(type))
        return walk_data_lose(w, (uint64_t)to, walk_type_span(type, count));
    memcpy(offsets, packed + place_of(r) * sizeof(uint64_t), sizeof(offsets));
    if (offsets[1] - offsets[0] > room)
        return walk_data_lose(w, (uint64_t)to, room);
    return offsets[1] == offsets[0] || put(w, to, packed + offsets[0], offsets[1] - offsets[0]);
}

/* Nothing is known of what the call puts there: so many elements of the type of the receive. */
static bool lose(walker_t *w, const walk_request_t *r, const walk_layout_t *l, int64_t to)
{
    xy_collective_t c = collective_of(r->kept->site);
    int64_t count = r->kept->args[l->receive_count];
    walk_type_t type;
    int32_t own;

    if (c == XY_COLL_REDUCE_SCATTER) {
        if (!walk_get_int(w, count, (int64_t)place_of(r), &own))
            return false;
        count = own;
    }
    return walk_type(w, r->kept->args[l->receive_type], &type) &&
           walk_data_lose(w, (uint64_t)to, walk_type_span(&type, count));
}

/* The blocks of an alltoall with a length for each; with a type for each, they are not followed. */
static bool take_each(walker_t *w, const walk_request_t *r, const walk_meeting_t *meeting,
                      const walk_layout_t *l, int64_t to)
{
    int32_t first = walk_peers_first(r->comm, r->rank);
    bool is_each = collective_of(r->kept->site) == XY_COLL_ALLTOALLW;
    int64_t handle = r->kept->args[l->receive_type];

    for (int32_t i = 0; i < walk_peers(r->comm, r->rank); i++) {
        int32_t at, count;
        walk_type_t type;

        if (!walk_get_int(w, r->kept->args[l->receive_at], i, &at) ||
            !walk_get_int(w, r->kept->args[l->receive_count], i, &count) ||
            (is_each && !walk_get_handle(w, r->kept->args[l->receive_type], i, &handle)) ||
            !walk_type(w, handle, &type) ||
            !take_packed(w, r, is_each ? NULL : meeting->given[first + i],
                         to + at * (is_each ? 1 : walk_type_extent(&type)), &type, count))
            return false;
    }
    return true;
}

/* The sum of the first `count` members, or of all, which is made once. */
static bool take_reduced(walker_t *w, const walk_request_t *r, walk_meeting_t *meeting,
                         const walk_layout_t *l, int64_t to, int32_t count)
{
    int32_t first = walk_peers_first(r->comm, r->rank);
    uint64_t bytes = meeting->bytes[first], elements;
    /* The results of two groups are made again and again, one for each. */
    bool is_known = meeting->given[first] != NULL,
         is_kept = count == r->comm->size && r->comm->lows == 0;
    uint8_t *sum = meeting->result;
    walk_type_t type;

    if (count == 0 || !walk_type(w, r->kept->args[l->receive_type], &type))
        return w->process.status == XY_OK;
    if (!is_known)
        return lose(w, r, l, to);
    elements = bytes / walk_type_element(&type);
    if (sum == NULL || !is_kept) {
        sum = xy_malloc(bytes + 1);
        if (sum == NULL)
            return process_fail_memory(&w->process);
        memcpy(sum, meeting->given[first], bytes);
        for (int32_t i = first + 1; i < first + count && is_known; i++)
            is_known =
                meeting->given[i] != NULL && meeting->bytes[i] == bytes &&
                walk_reduce(r->kept->args[l->op], type.basic, elements, sum, meeting->given[i]);
    }
    if (is_kept && is_known)
        meeting->result = sum;
    if (is_known) {
        bool is_block = collective_of(r->kept->site) == XY_COLL_REDUCE_SCATTER_BLOCK;
        uint64_t part = is_block ? bytes / own_of(r) : bytes;

        put(w, to, sum + (is_block ? part * place_of(r) : 0), part);
    } else {
        lose(w, r, l, to);
    }
    if (sum != meeting->result)
        xy_free(sum);
    return w->process.status == XY_OK;
}

static bool is_dense(walker_t *w, const walk_request_t *r, const walk_layout_t *l)
{
    walk_type_t type;

    return walk_type(w, r->kept->args[l->receive_type], &type) && walk_type_is_dense(&type);
}

/* Writes the result of a finished collective into the memory of a rank, as far as the values are
 * known. */
static bool take(walker_t *w, const walk_request_t *r, walk_meeting_t *meeting)
{
    xy_collective_t c = collective_of(r->kept->site);
    const walk_layout_t *l = &walk_layouts[c];
    int64_t to = address(r->kept->site, r->kept->args, l->receive);
    int32_t root = walk_root(r->comm, r->rank, r->kept->site, r->kept->args);
    int32_t peers = walk_peers(r->comm, r->rank);
    walk_type_t type;
    uint64_t block;

    if (to == 0)
        return true;
    switch (c) {
    case XY_COLL_BCAST:
        if (r->rank == root || root == WALK_NO_ROOT)
            return true;
        return meeting->given[root] == NULL || !is_dense(w, r, l)
                   ? lose(w, r, l, to)
                   : put(w, to, meeting->given[root], meeting->bytes[root]);
    case XY_COLL_GATHER:
    case XY_COLL_GATHERV:
        return r->rank != root || take_blocks(w, r, meeting, l, to);
    case XY_COLL_ALLGATHER:
    case XY_COLL_ALLGATHERV:
    case XY_COLL_ALLTOALL:
        return take_blocks(w, r, meeting, l, to);
    case XY_COLL_SCATTER:
        if (root == WALK_NO_ROOT || (r->rank == root && r->comm->lows > 0))
            return true;
        if (meeting->given[root] == NULL || !is_dense(w, r, l))
            return lose(w, r, l, to);
        block = meeting->bytes[root] / own_of(r);
        return put(w, to, meeting->given[root] + block * place_of(r), block);
    case XY_COLL_REDUCE:
        return r->rank != root || take_reduced(w, r, meeting, l, to, peers);
    case XY_COLL_ALLREDUCE:
    case XY_COLL_REDUCE_SCATTER_BLOCK:
        return take_reduced(w, r, meeting, l, to, peers);
    case XY_COLL_SCAN:
        return take_reduced(w, r, meeting, l, to, r->rank + 1);
    case XY_COLL_EXSCAN:
        return take_reduced(w, r, meeting, l, to, r->rank);
    case XY_COLL_SCATTERV:
        return root == WALK_NO_ROOT || (r->rank == root && r->comm->lows > 0) ||
               (walk_type(w, r->kept->args[l->receive_type], &type) &&
                take_packed(w, r, meeting->given[root], to, &type,
                            r->kept->args[l->receive_count]));
    case XY_COLL_REDUCE_SCATTER:
        return lose(w, r, l, to);
    case XY_COLL_ALLTOALLV:
    case XY_COLL_ALLTOALLW:
        return take_each(w, r, meeting, l, to);
    default:
        return true;
    }
}

void walk_data_pass(walk_member_t *m, uint64_t number)
{
    walk_meeting_t *meeting = walk_meeting_find(m->comm, number);

    if (meeting != NULL)
        walk_meeting_leave(m->comm, meeting);
}

bool walk_data_take(walker_t *w, walk_request_t *r)
{
    walk_meeting_t *meeting = walk_meeting_find(r->comm, r->number);

    if (meeting == NULL)
        return true;
    take(w, r, meeting);
    walk_meeting_leave(r->comm, meeting);
    return w->process.status == XY_OK;
}

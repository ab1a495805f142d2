/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Pack, MPI_Unpack and MPI_Pack_size: packed data is the bytes of the elements, as in runs. */
#include <string.h>

#include "program/walk.h"

/* Where the arguments of MPI_Pack and MPI_Unpack are. */
typedef struct {
    int count, type, size, position;
} layout_t;

static const layout_t layouts[] = {{1, 2, 4, 5}, {4, 5, 1, 2}};

/* Moves data that is kept on both sides; of data that is kept on one side nothing is known then. */
static bool move(walker_t *w, const code_site_t *site, const int64_t *args, const walk_type_t *type,
                 int64_t position, int64_t count)
{
    bool unpacks = walk_extra(site) != 0, is_known = (site->given & 1) != 0;
    uint64_t bytes = (uint64_t)count * type->map.size, in = (uint64_t)args[0],
             out = (uint64_t)args[3];
    const void *from;
    void *to;

    if ((site->given & 1 << 3) == 0 || bytes == 0)
        return true;
    if (unpacks)
        in += (uint64_t)position;
    else
        out += (uint64_t)position;
    if (!is_known || !walk_type_is_dense(type))
        return walk_data_lose(w, out, unpacks ? walk_type_span(type, count) : bytes);
    from = process_at(&w->process, in, bytes);
    to = from != NULL ? process_at(&w->process, out, bytes) : NULL;
    if (to != NULL)
        memmove(to, from, bytes);
    return to != NULL;
}

/* MPI_Pack, and MPI_Unpack (extra). */
static bool pack(walker_t *w, const code_site_t *site, int64_t *args)
{
    const layout_t *l = &layouts[walk_extra(site)];
    int64_t count = args[l->count], size = args[l->size];
    int32_t position;
    walk_type_t type;

    if (!walk_type(w, args[l->type], &type) || !walk_get_int(w, args[l->position], 0, &position))
        return false;
    if (count < 0)
        return process_fail(&w->process, "the count is %lld", (long long)count);
    if (position < 0 || position > size ||
        (type.map.size > 0 && (uint64_t)count > (uint64_t)(size - position) / type.map.size))
        return process_fail(&w->process,
                            "%llu bytes at position %d do not fit into a buffer of %lld bytes",
                            (unsigned long long)count * type.map.size, position, (long long)size);
    return move(w, site, args, &type, position, count) &&
           walk_set_int(w, args[l->position], position + (int32_t)(count * (int64_t)type.map.size));
}

static bool pack_size(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_type_t type;

    (void)site;
    if (!walk_type(w, args[1], &type))
        return false;
    if (args[0] < 0)
        return process_fail(&w->process, "the count is %lld", (long long)args[0]);
    return walk_set_int(w, args[3], (int32_t)(args[0] * (int64_t)type.map.size));
}

const walk_call_t walk_calls_pack[] = {
    {"Pack", pack, 0}, {"Unpack", pack, 1}, {"Pack_size", pack_size, 0}, {0}};

/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/insight.h"

const char *const xy_part_names[XY_PARTS] = {
    [XY_PART_LATE_SENDER] = "late sender", [XY_PART_LATE_RECEIVER] = "late receiver",
    [XY_PART_COLLECTIVE] = "collective",   [XY_PART_LOCK] = "lock",
    [XY_PART_CORE] = "core in use",        [XY_PART_TRANSFER] = "transfer",
    [XY_PART_LIBRARY] = "library",
};

xy_status_t xy_profile_create(const char *program, uint32_t ranks, xy_profile_t **profile_p)
{
    xy_profile_t *p = xy_calloc(1, sizeof(*p));
    uint32_t none;

    if (p == NULL)
        return xy_fail_memory("making a profile");
    p->ranks = XY_VEC_INIT(xy_profile_rank_t);
    p->sites = XY_VEC_INIT(xy_profile_site_t);
    p->records = XY_VEC_INIT(xy_profile_record_t);
    p->pairs = XY_VEC_INIT(xy_profile_pair_t);
    p->places = XY_VEC_INIT(xy_profile_place_t);
    xy_hash_init(&p->index, XY_HASH_STRING);
    if (xy_arena_create(&p->arena) == XY_OK)
        p->program = xy_arena_strndup(p->arena, program, strlen(program));
    if (p->program == NULL || (ranks > 0 && xy_vec_push_many(&p->ranks, ranks) == NULL) ||
        !xy_profile_site(p, "-", "", &none)) {
        xy_profile_destroy(p);
        return xy_fail_memory("making a profile");
    }
    *profile_p = p;
    return XY_OK;
}

void xy_profile_destroy(xy_profile_t *p)
{
    if (p == NULL)
        return;
    xy_vec_cleanup(&p->ranks);
    xy_vec_cleanup(&p->sites);
    xy_vec_cleanup(&p->records);
    xy_vec_cleanup(&p->pairs);
    xy_vec_cleanup(&p->places);
    xy_insight_destroy(p->insight);
    xy_hash_cleanup(&p->index);
    xy_arena_destroy(p->arena);
    xy_free(p);
}

bool xy_profile_site(xy_profile_t *p, const char *function, const char *place, uint32_t *site_p)
{
    char *key = xy_sprintf("%s %s", function, place);
    void *found = key != NULL ? xy_hash_get(&p->index, XY_HASH_KEY(key)) : NULL;
    size_t length = strlen(function);
    xy_profile_site_t site;
    char *kept, *name;

    if (key == NULL)
        return false;
    *site_p = (uint32_t)((uintptr_t)found - 1);
    if (found != NULL) {
        xy_free(key);
        return true;
    }
    kept = xy_arena_strndup(p->arena, key, strlen(key));
    name = xy_arena_strndup(p->arena, function, length);
    xy_free(key);
    if (kept == NULL || name == NULL)
        return false;
    site = (xy_profile_site_t){name, kept + length + 1};
    *site_p = (uint32_t)p->sites.count;
    return xy_vec_append(&p->sites, &site) == XY_OK &&
           xy_hash_set(&p->index, XY_HASH_KEY(kept), (void *)(uintptr_t)(*site_p + 1)) == XY_OK;
}

void xy_profile_blame(xy_blame_t blame[XY_PROFILE_BLAMES], int32_t rank, uint32_t site, uint64_t ns)
{
    size_t i = 0;

    if (ns == 0)
        return;
    while (i < XY_PROFILE_BLAMES && blame[i].ns > 0 &&
           (blame[i].rank != rank || blame[i].site != site))
        i++;
    if (i == XY_PROFILE_BLAMES) { /* the least makes room: who is blamed often comes to stay */
        i--;
        blame[i] = (xy_blame_t){rank, site, blame[i].ns};
    } else if (blame[i].ns == 0) {
        blame[i] = (xy_blame_t){rank, site, 0};
    }
    blame[i].ns += ns;
    for (; i > 0 && blame[i - 1].ns < blame[i].ns; i--) {
        xy_blame_t more = blame[i];

        blame[i] = blame[i - 1];
        blame[i - 1] = more;
    }
}

uint64_t xy_profile_class_least(uint32_t size_class)
{
    return size_class == 0 ? 0 : UINT64_C(1) << (size_class - 1);
}

uint64_t xy_profile_wait(const xy_profile_record_t *r)
{
    uint64_t sum = 0;

    for (int i = 0; i < XY_PART_WAITS; i++)
        sum += r->part[i];
    return sum;
}

uint64_t xy_profile_time(const xy_profile_record_t *r)
{
    return xy_profile_wait(r) + r->part[XY_PART_TRANSFER] + r->part[XY_PART_LIBRARY];
}

/* ---- Several processes ---- */

/* Appends records and pairs of another profile; `number` maps its sites to those of `p`. */
static xy_status_t merge_records(xy_profile_t *p, const xy_profile_t *other, const uint32_t *number)
{
    for (size_t i = 0; i < other->records.count; i++) {
        xy_profile_record_t r = XY_VEC_AT(&other->records, xy_profile_record_t, i);

        r.site = number[r.site];
        for (int b = 0; b < XY_PROFILE_BLAMES; b++)
            r.blame[b].site = number[r.blame[b].site];
        if (xy_vec_append(&p->records, &r) != XY_OK)
            return XY_ENOMEM;
    }
    for (size_t i = 0; i < other->pairs.count; i++)
        if (xy_vec_append(&p->pairs, &XY_VEC_AT(&other->pairs, xy_profile_pair_t, i)) != XY_OK)
            return XY_ENOMEM;
    return XY_OK;
}

void xy_profile_address(int32_t rank, uint64_t address, char *text, size_t size)
{
    snprintf(text, size, "%" PRId32 " %" PRIu64, rank, address);
}

/* The places of all processes: sites by their addresses. */
typedef struct {
    xy_hash_t index; /* of xy_profile_site_t, by text */
    xy_arena_t *arena;
} places_t;

/* Add the places of one process. */
static xy_status_t index_places(places_t *places, const xy_profile_t *part)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < part->places.count && st == XY_OK; i++) {
        const xy_profile_place_t *place = &XY_VEC_AT(&part->places, xy_profile_place_t, i);
        char text[64], *key;

        xy_profile_address((int32_t)place->rank, place->address, text, sizeof(text));
        key = xy_arena_strndup(places->arena, text, strlen(text));
        st = key != NULL ? xy_hash_set(&places->index, XY_HASH_KEY(key),
                                       &XY_VEC_AT(&part->sites, xy_profile_site_t, place->site))
                         : XY_ENOMEM;
    }
    return st;
}

/* Adds the ranks of a process, whose sites get numbers of `p`. */
static xy_status_t add_part(xy_profile_t *p, const xy_profile_t *part, const places_t *places)
{
    uint32_t *number = xy_calloc(part->sites.count, sizeof(*number));
    bool is_good = number != NULL && p->ranks.count == part->ranks.count;

    for (size_t i = 0; i < part->sites.count && is_good; i++) {
        const xy_profile_site_t *s = &XY_VEC_AT(&part->sites, xy_profile_site_t, i);

        if (strcmp(s->function, XY_PROFILE_ELSEWHERE) == 0)
            s = xy_hash_get(&places->index, XY_HASH_KEY(s->place));
        if (s != NULL)
            is_good = xy_profile_site(p, s->function, s->place, &number[i]);
    }
    for (size_t i = 0; i < p->ranks.count && is_good; i++) {
        const xy_profile_rank_t *r = &XY_VEC_AT(&part->ranks, xy_profile_rank_t, i);

        if (r->ns > 0)
            XY_VEC_AT(&p->ranks, xy_profile_rank_t, i) = *r;
    }
    p->is_virtual |= part->is_virtual;
    is_good = is_good && merge_records(p, part, number) == XY_OK;
    xy_free(number);
    return is_good ? XY_OK : XY_ENOMEM;
}

xy_status_t xy_profile_join(xy_profile_t *const *parts, size_t count, xy_profile_t **profile_p)
{
    places_t places = {0};
    xy_profile_t *p;
    xy_status_t st = xy_profile_create(parts[0]->program, (uint32_t)parts[0]->ranks.count, &p);

    if (st != XY_OK)
        return st;
    xy_hash_init(&places.index, XY_HASH_STRING);
    st = xy_arena_create(&places.arena);
    for (size_t i = 0; i < count && st == XY_OK; i++)
        st = index_places(&places, parts[i]);
    for (size_t i = 0; i < count && st == XY_OK; i++)
        st = add_part(p, parts[i], &places);
    xy_hash_cleanup(&places.index);
    xy_arena_destroy(places.arena);
    if (st != XY_OK) {
        xy_profile_destroy(p);
        return xy_fail_memory("collecting profiles");
    }
    *profile_p = p;
    return XY_OK;
}

/* The statistics of all ranks for the calls at a site. */
typedef struct {
    double least; /* ns of a call, of the rank that waits least */
    uint64_t compute;
    int32_t rank; /* that computes longest before it */
    bool is_used;
} meeting_t;

static bool is_unknown(const xy_profile_record_t *r)
{
    for (int b = 0; b < XY_PROFILE_BLAMES; b++)
        if (r->blame[b].ns > 0 && r->blame[b].rank == XY_PROFILE_NOBODY)
            return true;
    return false;
}

static uint64_t unknown_of(const xy_profile_record_t *r)
{
    uint64_t sum = 0;

    for (int b = 0; b < XY_PROFILE_BLAMES; b++)
        if (r->blame[b].rank == XY_PROFILE_NOBODY)
            sum += r->blame[b].ns;
    return sum < r->part[XY_PART_COLLECTIVE] ? sum : r->part[XY_PART_COLLECTIVE];
}

static void look(meeting_t *m, const xy_profile_record_t *r)
{
    double each = r->calls > 0 ? (double)unknown_of(r) / (double)r->calls : 0;

    if (!m->is_used || each < m->least)
        m->least = each;
    if (!m->is_used || r->compute > m->compute) {
        m->compute = r->compute;
        m->rank = (int32_t)r->rank;
    }
    m->is_used = true;
}

/* Splits a wait in a collective into transfer and waiting, and blames the rank that computes
 * longest for the latter. */
static void settle(xy_profile_record_t *r, const meeting_t *m)
{
    uint64_t wait = unknown_of(r), transfer = (uint64_t)(m->least * (double)r->calls);
    xy_blame_t before[XY_PROFILE_BLAMES];

    if (transfer > wait)
        transfer = wait;
    r->part[XY_PART_COLLECTIVE] -= transfer;
    r->part[XY_PART_TRANSFER] += transfer;
    memcpy(before, r->blame, sizeof(before));
    memset(r->blame, 0, sizeof(r->blame));
    for (int b = 0; b < XY_PROFILE_BLAMES; b++)
        if (before[b].rank != XY_PROFILE_NOBODY)
            xy_profile_blame(r->blame, before[b].rank, before[b].site, before[b].ns);
    xy_profile_blame(r->blame, m->rank, r->site, wait - transfer);
}

xy_status_t xy_profile_settle(xy_profile_t *p)
{
    meeting_t *all = xy_calloc(p->sites.count, sizeof(*all));

    if (all == NULL)
        return xy_fail_memory("collecting profiles");
    for (size_t i = 0; i < p->records.count; i++) {
        const xy_profile_record_t *r = &XY_VEC_AT(&p->records, xy_profile_record_t, i);

        if (r->members > 1)
            look(&all[r->site], r);
    }
    for (size_t i = 0; i < p->records.count; i++) {
        xy_profile_record_t *r = &XY_VEC_AT(&p->records, xy_profile_record_t, i);

        if (is_unknown(r) && all[r->site].is_used)
            settle(r, &all[r->site]);
    }
    xy_free(all);
    return XY_OK;
}

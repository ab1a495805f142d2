/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers, each with a blank behind it. */
#include "mpi/check/picture.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_MOST = 4096, PROCESS_BITS = 16, COUNT_MOST = 1 << 16 };

const void *picture_message(int process, uint64_t request)
{
    uint64_t name = request << PROCESS_BITS | (uint64_t)(process & ((1 << PROCESS_BITS) - 1));

    return (const void *)(uintptr_t)name;
}

/* ---- Writing ---- */

static void add(xy_text_t *text, uint64_t number)
{
    xy_text_addf(text, "%llu ", (unsigned long long)number);
}

static void add_signed(xy_text_t *text, int number)
{
    xy_text_addf(text, "%d ", number);
}

/* A list that is too long is not sent: the wait may end by itself then, for all that is known. */
static void write_wait(xy_text_t *text, const knot_wait_t *wait, const picture_need_t *need)
{
    bool is_long = wait->kind == KNOT_ANY_OF && wait->ranks != NULL && wait->count > LIST_MOST;

    add(text, is_long ? KNOT_OPEN : wait->kind);
    if (wait->kind == KNOT_RANK || wait->kind == KNOT_SEND)
        add_signed(text, wait->rank);
    if (wait->kind == KNOT_SEND)
        add(text, (uint64_t)(uintptr_t)wait->message);
    if (wait->kind == KNOT_ALL_OF) {
        add(text, need->context);
        add(text, need->number);
        add_signed(text, need->member);
        add(text, need->is_together);
    }
    if (wait->kind != KNOT_ANY_OF || is_long)
        return;
    add(text, (uint64_t)wait->count);
    add(text, wait->ranks != NULL);
    for (int i = 0; wait->ranks != NULL && i < wait->count; i++)
        add_signed(text, wait->ranks[i]);
}

void picture_write(xy_text_t *text, const picture_rank_t *rank)
{
    const knot_rank_t *knot = &rank->knot;

    add_signed(text, rank->rank);
    add(text, (uint64_t)(knot->is_parked | knot->is_any << 1 | rank->is_polling << 2 |
                         rank->is_long << 3 | rank->is_forced << 4));
    add(text, (uint64_t)knot->count);
    add(text, (uint64_t)knot->messages_count);
    add(text, (uint64_t)rank->calls_count);
    for (int i = 0; i < knot->count; i++)
        write_wait(text, &knot->waits[i], &rank->needs[i]);
    for (int i = 0; i < knot->messages_count; i++)
        add(text, (uint64_t)(uintptr_t)knot->messages[i]);
    for (int i = 0; i < rank->calls_count; i++) {
        add(text, rank->calls[i].context);
        add(text, rank->calls[i].number);
    }
}

/* ---- Reading ---- */

/* A collective that ranks wait for, and those that have not called it. */
typedef struct {
    picture_need_t need;
    int process;
    int *ranks;
    int count;
} lacking_t;

struct picture {
    int size;
    picture_rank_t *ranks; /* [size] */
    int *process;          /* [size] */
    knot_rank_t *knot;     /* [size]: as the last picture_find has seen them */
    xy_vec_t blocks;       /* of void *: what ranks refer to */
    xy_vec_t lacking;      /* of lacking_t */
};

typedef struct {
    picture_t *picture;
    const char *at;
    bool failed;
} reader_t;

/* Read the next number; r->failed is set if it is missing or larger than `most`. */
static uint64_t next(reader_t *r, uint64_t most)
{
    char *end;
    unsigned long long value = 0;

    if (r->failed || *r->at < '0' || *r->at > '9') {
        r->failed = true;
        return 0;
    }
    value = strtoull(r->at, &end, 10);
    r->failed = *end != ' ' || value > most;
    r->at = end + 1;
    return r->failed ? 0 : value;
}

/* A rank, or a number from `least` on. */
static int next_rank(reader_t *r, int least)
{
    bool is_negative = !r->failed && *r->at == '-';
    int value;

    if (is_negative)
        r->at++;
    value = (int)next(r, (uint64_t)r->picture->size - 1);
    value = is_negative ? -value : value;
    r->failed = r->failed || value < least;
    return r->failed ? 0 : value;
}

static void *block(reader_t *r, size_t count, size_t size)
{
    void *memory = r->failed ? NULL : xy_calloc(count + 1, size);

    if (memory == NULL || xy_vec_append(&r->picture->blocks, &memory) != XY_OK) {
        xy_free(memory);
        r->failed = true;
        return NULL;
    }
    return memory;
}

static void read_list(reader_t *r, knot_wait_t *wait)
{
    int *ranks;

    wait->count = (int)next(r, (uint64_t)r->picture->size);
    if (next(r, 1) == 0)
        return;
    ranks = block(r, (size_t)wait->count, sizeof(*ranks));
    for (int i = 0; i < wait->count && !r->failed; i++)
        ranks[i] = next_rank(r, 0);
    wait->ranks = ranks;
}

/* Read one wait of a rank, and what it needs of a collective. */
static void read_wait(reader_t *r, knot_wait_t *wait, picture_need_t *need)
{
    wait->kind = (knot_kind_t)next(r, KNOT_ALL_OF);
    if (wait->kind == KNOT_RANK || wait->kind == KNOT_SEND)
        wait->rank = next_rank(r, 0);
    if (wait->kind == KNOT_SEND)
        wait->message = (const void *)(uintptr_t)next(r, UINT64_MAX);
    if (wait->kind == KNOT_ANY_OF)
        read_list(r, wait);
    if (wait->kind == KNOT_ALL_OF) {
        need->context = (uint32_t)next(r, UINT32_MAX);
        need->number = next(r, UINT64_MAX);
        need->member = next_rank(r, PICTURE_NONE);
        need->is_together = next(r, 1) != 0;
    }
}

/* Read the waits, messages and calls of one rank; blocks belong to the picture. */
static void read_rank(reader_t *r, picture_rank_t *rank)
{
    knot_rank_t *knot = &rank->knot;
    uint64_t flags;
    knot_wait_t *waits;
    picture_need_t *needs;
    picture_calls_t *calls;
    const void **messages;

    rank->rank = next_rank(r, 0);
    flags = next(r, 31);
    knot->is_parked = flags & 1;
    knot->is_any = flags & 2;
    rank->is_polling = flags & 4;
    rank->is_long = flags & 8;
    rank->is_forced = flags & 16;
    knot->count = (int)next(r, COUNT_MOST);
    knot->messages_count = (int)next(r, COUNT_MOST);
    rank->calls_count = (int)next(r, COUNT_MOST);
    knot->waits = waits = block(r, (size_t)knot->count, sizeof(*waits));
    rank->needs = needs = block(r, (size_t)knot->count, sizeof(*needs));
    knot->messages = messages = block(r, (size_t)knot->messages_count, sizeof(*messages));
    rank->calls = calls = block(r, (size_t)rank->calls_count, sizeof(*calls));
    for (int i = 0; i < knot->count && !r->failed; i++)
        read_wait(r, &waits[i], &needs[i]);
    for (int i = 0; i < knot->messages_count && !r->failed; i++)
        messages[i] = (const void *)(uintptr_t)next(r, UINT64_MAX);
    for (int i = 0; i < rank->calls_count && !r->failed; i++) {
        calls[i].context = (uint32_t)next(r, UINT32_MAX);
        calls[i].number = next(r, UINT64_MAX);
    }
}

picture_t *picture_new(int size)
{
    picture_t *p = xy_calloc(1, sizeof(*p));

    if (p == NULL)
        return NULL;
    *p = (picture_t){.size = size,
                     .ranks = xy_calloc((size_t)size, sizeof(*p->ranks)),
                     .process = xy_malloc((size_t)size * sizeof(*p->process)),
                     .knot = xy_calloc((size_t)size, sizeof(*p->knot)),
                     .blocks = XY_VEC_INIT(void *),
                     .lacking = XY_VEC_INIT(lacking_t)};
    if (p->ranks == NULL || p->process == NULL || p->knot == NULL) {
        picture_destroy(p);
        return NULL;
    }
    for (int r = 0; r < size; r++)
        p->process[r] = -1;
    return p;
}

void picture_destroy(picture_t *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->blocks.count; i++)
        xy_free(XY_VEC_AT(&p->blocks, void *, i));
    for (size_t i = 0; i < p->lacking.count; i++)
        xy_free(XY_VEC_AT(&p->lacking, lacking_t, i).ranks);
    xy_vec_cleanup(&p->blocks);
    xy_vec_cleanup(&p->lacking);
    xy_free(p->ranks);
    xy_free(p->process);
    xy_free(p->knot);
    xy_free(p);
}

bool picture_read(picture_t *p, int process, const char *text)
{
    reader_t r = {.picture = p, .at = text};

    while (!r.failed && *r.at != '\0') {
        picture_rank_t rank = {.rank = 0};

        read_rank(&r, &rank);
        r.failed = r.failed || p->process[rank.rank] >= 0;
        if (r.failed)
            break;
        p->ranks[rank.rank] = rank;
        p->process[rank.rank] = process;
    }
    for (int i = 0; i < p->size && r.failed; i++)
        if (p->process[i] == process)
            p->process[i] = -1;
    return !r.failed;
}

/* ---- Together ---- */

/* Has `rank` not called the collective, without which it cannot end? Only those that are in the
 * picture matter: the others may act. */
static bool lacks(const picture_t *p, const picture_need_t *need, int process, int rank)
{
    const picture_rank_t *r = &p->ranks[rank];

    if (p->process[rank] < 0 || (need->member != PICTURE_ALL && need->member != rank &&
                                 !(need->is_together && p->process[rank] == process)))
        return false;
    for (int i = 0; i < r->calls_count; i++)
        if (r->calls[i].context == need->context)
            return r->calls[i].number <= need->number;
    return false;
}

static bool is_same(const picture_need_t *a, const picture_need_t *b)
{
    return a->context == b->context && a->number == b->number && a->member == b->member &&
           a->is_together == b->is_together;
}

/* NULL: memory ran out. */
static const lacking_t *lacking_of(picture_t *p, const picture_need_t *need, int process)
{
    lacking_t *made;

    for (size_t i = p->lacking.count; i-- > 0;) {
        const lacking_t *known = &XY_VEC_AT(&p->lacking, lacking_t, i);

        if (is_same(&known->need, need) && known->process == process)
            return known;
    }
    made = xy_vec_push(&p->lacking);
    if (made == NULL)
        return NULL;
    *made = (lacking_t){.need = *need, .process = process};
    made->ranks = xy_malloc((size_t)p->size * sizeof(*made->ranks));
    for (int r = 0; r < p->size && made->ranks != NULL; r++)
        if (lacks(p, need, process, r))
            made->ranks[made->count++] = r;
    return made;
}

/* Fill in the members that a rank's collectives lack, now that all processes are known. */
static void complete(picture_t *p, int rank)
{
    const knot_rank_t *knot = &p->ranks[rank].knot;

    for (int i = 0; i < knot->count; i++) {
        knot_wait_t *wait = (knot_wait_t *)(uintptr_t)&knot->waits[i]; /* of a block */
        const lacking_t *lacking;

        if (wait->kind != KNOT_ALL_OF || wait->ranks != NULL)
            continue;
        lacking = lacking_of(p, &p->ranks[rank].needs[i], p->process[rank]);
        wait->ranks = lacking != NULL ? lacking->ranks : NULL;
        wait->count = wait->ranks != NULL ? lacking->count : 0;
    }
}

static bool counts(const picture_t *p, picture_who_t who, int rank)
{
    const picture_rank_t *r = &p->ranks[rank];

    if (p->process[rank] < 0)
        return false;
    return !r->is_polling || who == PICTURE_POLLING || (who == PICTURE_LONG && r->is_long);
}

int picture_find(picture_t *p, picture_who_t who, bool *stuck)
{
    for (int r = 0; r < p->size; r++) {
        if (p->process[r] >= 0)
            complete(p, r);
        p->knot[r] = counts(p, who, r) ? p->ranks[r].knot : (knot_rank_t){.is_parked = false};
    }
    return check_knot_find(p->knot, p->size, stuck);
}

int picture_wait(const picture_t *p, const bool *stuck, int rank, int *partner_p)
{
    const knot_rank_t *knot = &p->knot[rank];

    *partner_p = -1;
    for (int i = 0; i < knot->count; i++) {
        const knot_wait_t *wait = &knot->waits[i];

        if (check_knot_is_open(p->knot, stuck, rank, wait))
            continue;
        if (!knot->is_any || knot->count == 1)
            *partner_p = check_knot_partner(p->knot, stuck, rank, wait);
        return i;
    }
    return -1;
}

int picture_process(const picture_t *p, int rank)
{
    return p->process[rank];
}

const picture_rank_t *picture_rank(const picture_t *p, int rank)
{
    return &p->ranks[rank];
}

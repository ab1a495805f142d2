/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned requests around a communicator: each member sends to the one `shift` further. Both
 * sides divide the same elements in ways of their own, and each lays them out as it likes. Several
 * rounds of one pair of requests belong to one step: in round k a rank waits for what others do in
 * rounds up to k.
 */
#include "random.h"

enum { ELEMENTS = 24, PARTS_MAX = ELEMENTS };

static const int divisors[] = {1, 2, 3, 4, 6, 8, 12, 24};

typedef struct {
    buffer_t buffer;
    MPI_Request request;
    int parts, per; /* elements of a partition */
    int peer;
} side_t;

static int draw_parts(random_t *random)
{
    return divisors[draw(random, (int)(sizeof(divisors) / sizeof(divisors[0])))];
}

static void side_init(side_t *s, basic_t basic, int parts, int elements, bool is_receive,
                      const comm_t *c)
{
    int tag = step % 3; /* matched by order */
    form_t form;
    MPI_Datatype type;

    s->parts = parts;
    s->per = elements / parts;
    form = form_draw(&own_random, basic, s->per);
    buffer_create(&s->buffer, form, elements, is_receive);
    type = buffer_type(&s->buffer);
    if (is_receive)
        MPI_Precv_init(s->buffer.base, parts, form_count(form, s->per), type, s->peer, tag,
                       c->handle, MPI_INFO_NULL, &s->request);
    else
        MPI_Psend_init(s->buffer.base, parts, form_count(form, s->per), type, s->peer, tag,
                       c->handle, MPI_INFO_NULL, &s->request);
    form_type_release(type);
}

static void fill_part(side_t *s, const comm_t *c, int part)
{
    for (int e = part * s->per; e < (part + 1) * s->per; e++)
        buffer_set(&s->buffer, e, value_of(c->rank, s->peer, e));
}

/* In a random order, one by one; memory that the host does not write is filled before. */
static void mark(side_t *s, const comm_t *c)
{
    bool is_plain = s->buffer.memory == MEMORY_PLAIN;
    int order[PARTS_MAX];

    for (int i = 0; i < s->parts; i++) {
        int j = draw(&own_random, i + 1);

        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < s->parts && !is_plain; i++)
        fill_part(s, c, i);
    if (!is_plain)
        buffer_seal(&s->buffer);
    for (int i = 0; i < s->parts; i++) {
        if (is_plain)
            fill_part(s, c, order[i]);
        if (chance(&own_random, 20))
            pause_somehow();
        MPI_Pready(order[i], s->request);
    }
    if (is_plain)
        buffer_seal(&s->buffer);
}

/* One that was there stays. */
static void look(const side_t *s)
{
    int part = draw(&own_random, s->parts), flag, again;

    MPI_Parrived(s->request, part, &flag);
    MPI_Parrived(s->request, part, &again);
    if (flag && !again)
        fail("partition %d was there, and is not", part);
}

static void run_round(side_t *send, side_t *receive, const comm_t *c)
{
    MPI_Status status;

    for (int e = 0; e < receive->parts * receive->per; e++)
        buffer_expect(&receive->buffer, e, value_of(receive->peer, c->rank, e));
    MPI_Start(&receive->request);
    MPI_Start(&send->request);
    mark(send, c);
    for (int i = draw(&own_random, 4); i > 0; i--)
        look(receive);
    wait_somehow(&receive->request, &status);
    if (status.MPI_SOURCE != receive->peer)
        fail("partitions came from %d instead of %d", status.MPI_SOURCE, receive->peer);
    wait_somehow(&send->request, MPI_STATUS_IGNORE);
    buffer_check(&receive->buffer, "MPI_Precv_init");
    buffer_check(&send->buffer, "MPI_Psend_init");
}

void step_partitioned(void)
{
    const comm_t *c = comm_draw(&shared_random);
    basic_t basic = (basic_t)draw(&shared_random, BASIC_COUNT);
    int elements = ELEMENTS * (chance(&shared_random, 15) ? 400 : 1 + draw(&shared_random, 3));
    int sent = draw_parts(&shared_random), received = draw_parts(&shared_random);
    int rounds = 1 + draw(&shared_random, 3), shift = draw(&shared_random, 1 << 20);
    side_t send, receive;

    if (c->handle == MPI_COMM_NULL)
        return;
    shift %= c->size;
    send.peer = (c->rank + shift) % c->size;
    receive.peer = (c->rank + c->size - shift) % c->size;
    side_init(&send, basic, sent, elements, false, c);
    side_init(&receive, basic, received, elements, true, c);
    for (turn = 0; turn < rounds; turn++)
        run_round(&send, &receive, c);
    turn = 0;
    MPI_Request_free(&send.request);
    MPI_Request_free(&receive.request);
    buffer_destroy(&send.buffer);
    buffer_destroy(&receive.buffer);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

/* One message, as every rank knows it. Ranks are those of the communicator. */
typedef struct {
    MPI_Comm comm;
    int from, to, tag, elements;
    int number; /* among those of the step */
    basic_t basic;
} message_t;

static void say(const char *what, const message_t *m)
{
    if (is_verbose)
        fprintf(stderr, "%d: step %d: %s, %d elements from %d to %d\n", rank, step, what,
                m->elements, m->from, m->to);
}

static uint64_t content(const message_t *m, int i)
{
    return value_of(m->from * 8 + m->number, m->to, i);
}

/* ---- Sending ---- */

/* Messages that MPI_Bsend may send are small, so that all that are pending fit. */
enum { ATTACHED = 4 << 20, BUFFERED_MAX = 1024 };
static char *attached;

void messages_begin(void)
{
    attached = malloc(ATTACHED);
    if (attached == NULL)
        fail("no memory for MPI_Bsend");
    MPI_Buffer_attach(attached, ATTACHED);
}

void messages_end(void)
{
    void *buffer;
    int bytes;

    MPI_Buffer_detach(&buffer, &bytes);
    if (buffer != (void *)attached || bytes != ATTACHED)
        fail("MPI_Buffer_detach gave another buffer back");
    free(attached);
}

static pending_t *make_send(const message_t *m)
{
    pending_t *p = pending_create("a send");

    buffer_create(&p->send, form_draw(&own_random, m->basic, m->elements), m->elements, false);
    for (int i = 0; i < m->elements; i++)
        buffer_set(&p->send, i, content(m, i));
    buffer_seal(&p->send);
    return p;
}

static void send_blocking(pending_t *p, const message_t *m, MPI_Datatype type, bool is_synchronous)
{
    int count = form_count(p->send.form, m->elements);

    if (m->elements * (int)basic_size(m->basic) <= BUFFERED_MAX && chance(&own_random, 15))
        MPI_Bsend(p->send.base, count, type, m->to, m->tag, m->comm);
    else if (is_synchronous)
        MPI_Ssend(p->send.base, count, type, m->to, m->tag, m->comm);
    else
        MPI_Send(p->send.base, count, type, m->to, m->tag, m->comm);
    pending_finish(p, MPI_STATUS_IGNORE);
}

static void send_nonblocking(pending_t *p, const message_t *m, MPI_Datatype type, bool is_late)
{
    int count = form_count(p->send.form, m->elements);
    MPI_Request request;

    if (chance(&own_random, 40))
        MPI_Issend(p->send.base, count, type, m->to, m->tag, m->comm, &request);
    else
        MPI_Isend(p->send.base, count, type, m->to, m->tag, m->comm, &request);
    if (chance(&own_random, 5)) {
        MPI_Request_free(&request);
        pending_forget(p);
    } else {
        pending_add(p, request, is_late);
    }
}

static void send_somehow(const message_t *m)
{
    pending_t *p = make_send(m);
    MPI_Datatype type = buffer_type(&p->send);

    say("send", m);
    if (m->from != m->to && chance(&own_random, 40))
        send_blocking(p, m, type, chance(&own_random, 40));
    else
        send_nonblocking(p, m, type, false);
    form_type_release(type);
}

/* ---- Receiving ---- */

static pending_t *make_receive(const message_t *m)
{
    pending_t *p = pending_create("a receive");

    buffer_create(&p->receive, form_draw(&own_random, m->basic, m->elements), m->elements, true);
    for (int i = 0; i < m->elements; i++)
        buffer_expect(&p->receive, i, content(m, i));
    p->has_status = true;
    p->source = m->from;
    p->tag = m->tag;
    p->bytes = m->elements * (int)basic_size(m->basic);
    return p;
}

static void poll_message(const message_t *m, MPI_Status *status)
{
    int flag = 0;

    while (MPI_Iprobe(m->from, m->tag, m->comm, &flag, status), !flag)
        pause_somehow();
}

static MPI_Message match_message(const message_t *m, MPI_Status *status)
{
    MPI_Message message;
    int flag = 0;

    if (chance(&own_random, 50)) {
        MPI_Mprobe(m->from, m->tag, m->comm, &message, status);
        return message;
    }
    while (MPI_Improbe(m->from, m->tag, m->comm, &flag, &message, status), !flag)
        pause_somehow();
    return message;
}

static void receive_matched(pending_t *p, const message_t *m, MPI_Datatype type)
{
    int count = form_count(p->receive.form, m->elements);
    MPI_Status status;
    MPI_Message message = match_message(m, &status);
    MPI_Request request;

    if (chance(&own_random, 50)) {
        MPI_Mrecv(p->receive.base, count, type, &message, &status);
        pending_finish(p, &status);
    } else {
        MPI_Imrecv(p->receive.base, count, type, &message, &request);
        pending_add(p, request, false);
    }
}

static void receive_blocking(pending_t *p, const message_t *m, MPI_Datatype type)
{
    int count = form_count(p->receive.form, m->elements);
    MPI_Status status;

    MPI_Recv(p->receive.base, count, type, m->from, m->tag, m->comm, &status);
    pending_finish(p, &status);
}

/* The tag is the step's, so that receives from any rank get the same messages in the same order. */
static void receive_somehow(const message_t *message)
{
    pending_t *p = make_receive(message);
    const message_t *m = message;
    message_t from_any = *message;
    MPI_Datatype type = buffer_type(&p->receive);
    MPI_Status status;
    MPI_Request request;

    say("receive", m);
    from_any.from = MPI_ANY_SOURCE;
    if (chance(&own_random, 40))
        m = &from_any;
    switch (draw(&own_random, 8)) {
    case 0:
        receive_blocking(p, m, type);
        break;
    case 1:
        MPI_Probe(m->from, m->tag, m->comm, &status);
        receive_blocking(p, m, type);
        break;
    case 2:
        poll_message(m, &status);
        receive_blocking(p, m, type);
        break;
    case 3:
        receive_matched(p, m, type);
        break;
    default:
        MPI_Irecv(p->receive.base, form_count(p->receive.form, m->elements), type, m->from, m->tag,
                  m->comm, &request);
        pending_add(p, request, false);
    }
    form_type_release(type);
}

static void send_later(const message_t *m)
{
    pending_t *p = make_send(m);
    MPI_Datatype type = buffer_type(&p->send);

    send_nonblocking(p, m, type, false);
    form_type_release(type);
}

static void receive_later(const message_t *m)
{
    pending_t *p = make_receive(m);
    MPI_Datatype type = buffer_type(&p->receive);
    MPI_Request request;

    MPI_Irecv(p->receive.base, form_count(p->receive.form, m->elements), type, m->from, m->tag,
              m->comm, &request);
    pending_add(p, request, false);
    form_type_release(type);
}

/* ---- Steps ---- */

/* A communicator in which world rank `member` is. */
static const comm_t *comm_with(int member)
{
    const comm_t *comm = comm_draw(&shared_random);

    return comm->part[member] >= 0 ? comm : &comms[0];
}

/* Between two ranks, several with one tag: they arrive in order. */
void step_messages(void)
{
    int from = draw(&shared_random, size),
        burst = chance(&shared_random, 70) ? 1 : 1 + draw(&shared_random, 7);
    const comm_t *comm = comm_with(from);
    int members = comm_part_size(comm, from);
    message_t m = {comm->handle, comm->place[from], draw(&shared_random, members), step, 0, 0,
                   BYTES};
    int to = comm_world(comm, from, m.to);

    for (m.number = 0; m.number < burst; m.number++) {
        m.basic = (basic_t)draw(&shared_random, BASIC_COUNT);
        m.elements = draw_elements(&shared_random, 200000);
        if (rank == from)
            send_somehow(&m);
        if (rank == to)
            receive_somehow(&m);
    }
}

/* More messages than fit between two cores at once. */
void step_flood(void)
{
    int from = draw(&shared_random, size), to = draw(&shared_random, size);
    int messages = 300 + draw(&shared_random, 300), both = chance(&shared_random, 50);
    message_t m = {MPI_COMM_WORLD, from, to, step, draw(&shared_random, 9), 0, LONGS};
    message_t back = {MPI_COMM_WORLD, to, from, step, m.elements, 1, LONGS};

    for (int i = 0; i < messages; i++) {
        if (rank == to)
            receive_later(&m);
        if (both && rank == from)
            receive_later(&back);
    }
    for (int i = 0; i < messages; i++) {
        if (rank == from)
            send_later(&m);
        if (both && rank == to)
            send_later(&back);
    }
}

static void receive_fan_in(const comm_t *comm, int senders, basic_t basic, int elements)
{
    for (int i = 0; i < senders; i++) {
        message_t m = {comm->handle, MPI_ANY_SOURCE, comm->rank, step, elements, 0, basic};
        pending_t *p = pending_create("a receive from any rank");
        MPI_Datatype type = basic_type(basic);
        MPI_Request request;

        buffer_create(&p->receive, (form_t){basic, PLAIN}, elements, true);
        for (int e = 0; e < elements; e++)
            buffer_expect(&p->receive, e, value_of(0, comm->rank, e));
        p->has_status = true;
        p->source = MPI_ANY_SOURCE;
        p->tag = step;
        p->bytes = elements * (int)basic_size(basic);
        switch (draw(&own_random, 4)) {
        case 0:
            receive_blocking(p, &m, type);
            break;
        case 1:
            receive_matched(p, &m, type);
            break;
        default:
            MPI_Irecv(buffer_at(&p->receive), elements, type, MPI_ANY_SOURCE, step, m.comm,
                      &request);
            pending_add(p, request, false);
        }
    }
}

/* Many ranks send the same to one, which does not say from whom it receives. */
void step_fan_in(void)
{
    const comm_t *comm = comm_draw(&shared_random);
    basic_t basic = (basic_t)draw(&shared_random, BASIC_COUNT);
    int elements = draw_elements(&shared_random, 3000);
    uint64_t who = hash((uint64_t)step, 7, shared_random.state, 0);
    int senders = 0, to;
    MPI_Datatype type;
    message_t m;
    pending_t *p;

    if (comm->handle == MPI_COMM_NULL)
        return;
    to = (int)(who % (uint64_t)comm->size);
    for (int r = 0; r < comm->size; r++)
        senders += r != to && hash(who, (uint64_t)r, 0, 0) % 2 == 0;
    if (comm->rank == to) {
        receive_fan_in(comm, senders, basic, elements);
    } else if (hash(who, (uint64_t)comm->rank, 0, 0) % 2 == 0) {
        m = (message_t){comm->handle, comm->rank, to, step, elements, 0, basic};
        say("one of many", &m);
        p = make_send(&m);
        for (int i = 0; i < elements; i++)
            buffer_set(&p->send, i, value_of(0, to, i));
        buffer_seal(&p->send);
        type = buffer_type(&p->send);
        if (chance(&own_random, 40))
            send_blocking(p, &m, type, chance(&own_random, 40));
        else
            send_nonblocking(p, &m, type, false);
        form_type_release(type);
    }
}

/* A message with any tag from any rank; all receives on this communicator are like that. */
void step_wild(void)
{
    enum { MOST = 3000 };
    int from = draw(&shared_random, size), to = draw(&shared_random, size);
    message_t m = {wild, from, to, step, draw_elements(&shared_random, MOST), 0, BYTES};
    pending_t *p;
    MPI_Status status;
    MPI_Request request;

    if (rank == from) {
        say("wild send", &m);
        p = pending_create("a wild send");
        buffer_create(&p->send, (form_t){BYTES, PLAIN}, m.elements, false);
        for (int i = 0; i < m.elements; i++)
            buffer_set(&p->send, i, value_of(from, to, i));
        buffer_seal(&p->send);
        send_nonblocking(p, &m, MPI_BYTE, true);
    }
    if (rank != to)
        return;
    say("wild receive", &m);
    p = pending_create("a wild receive");
    p->is_wild = true;
    buffer_create(&p->receive, (form_t){BYTES, PLAIN}, MOST, true);
    if (chance(&own_random, 30)) {
        MPI_Recv(buffer_at(&p->receive), MOST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, wild,
                 &status);
        pending_finish(p, &status);
    } else {
        MPI_Irecv(buffer_at(&p->receive), MOST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, wild,
                  &request);
        pending_add(p, request, false);
    }
}

/* One waits for all that it has started, then tells the others, who poll. */
void step_poll(void)
{
    const comm_t *comm = comm_draw(&shared_random);
    uint64_t who = hash((uint64_t)step, 8, shared_random.state, 0);
    message_t m = {comm->handle, 0, comm->rank, step, 1, 0, LONGS};
    pending_t *p;
    MPI_Status status;

    if (comm->handle == MPI_COMM_NULL)
        return;
    m.from = (int)(who % (uint64_t)comm->size);
    say("poll", &m);
    if (comm->rank == m.from) {
        pending_complete(false);
        for (m.to = 0; m.to < comm->size; m.to++)
            if (m.to != comm->rank) {
                p = make_send(&m);
                send_blocking(p, &m, basic_type(LONGS), false);
            }
        return;
    }
    p = make_receive(&m);
    if (chance(&own_random, 70)) {
        poll_message(&m, &status);
        receive_blocking(p, &m, basic_type(LONGS));
    } else {
        MPI_Request request;

        MPI_Irecv(buffer_at(&p->receive), 1, basic_type(LONGS), m.from, m.tag, m.comm, &request);
        wait_somehow(&request, &status);
        pending_finish(p, &status);
    }
}

static void cancel_receive(void)
{
    char byte = 0;
    int flag;
    MPI_Request request;
    MPI_Status status;

    MPI_Irecv(&byte, 1, MPI_BYTE, MPI_ANY_SOURCE, STEPS_MAX + 1, MPI_COMM_WORLD, &request);
    if (chance(&own_random, 50))
        pending_complete_some();
    MPI_Cancel(&request);
    wait_somehow(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    if (!flag)
        fail("a receive of a message that is never sent was not cancelled");
}

/* A send is cancelled or not; the receiver is told. */
static void cancel_send(int from, int to)
{
    message_t m = {MPI_COMM_WORLD, from, to, step, draw_elements(&shared_random, 30000), 0, INTS};
    int tag = STEPS_MAX + 2, flag = 0;

    if (rank == from) {
        pending_t *p = make_send(&m);
        MPI_Datatype type = buffer_type(&p->send);
        MPI_Request request;
        MPI_Status status;

        say("cancelled send", &m);
        if (chance(&own_random, 50))
            MPI_Isend(p->send.base, form_count(p->send.form, m.elements), type, to, step, m.comm,
                      &request);
        else
            MPI_Issend(p->send.base, form_count(p->send.form, m.elements), type, to, step, m.comm,
                       &request);
        form_type_release(type);
        MPI_Cancel(&request);
        wait_somehow(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        pending_finish(p, &status);
        MPI_Send(&flag, 1, MPI_INT, to, tag, m.comm);
    } else if (rank == to) {
        MPI_Recv(&flag, 1, MPI_INT, from, tag, m.comm, MPI_STATUS_IGNORE);
        if (!flag)
            receive_somehow(&m);
    }
}

void step_cancel(void)
{
    int from = draw(&shared_random, size), to = draw(&shared_random, size);

    if (chance(&shared_random, 50) && from != to)
        cancel_send(from, to);
    else if (rank == from || rank == to)
        cancel_receive();
}

/* Persistent requests, started several times. Both ranks have as many as there are messages. */
static void run_persistent(const message_t *m, int rounds, bool is_sender)
{
    MPI_Request requests[2];
    uint64_t *data = calloc((size_t)m->elements * 2 + 1, sizeof(*data));

    if (data == NULL)
        fail("no memory for persistent requests");
    for (int i = 0; i < 2; i++) {
        uint64_t *half = data + i * m->elements;

        if (is_sender && chance(&own_random, 50))
            MPI_Send_init(half, m->elements, MPI_UINT64_T, m->to, step, m->comm, &requests[i]);
        else if (is_sender)
            MPI_Ssend_init(half, m->elements, MPI_UINT64_T, m->to, step, m->comm, &requests[i]);
        else
            MPI_Recv_init(half, m->elements, MPI_UINT64_T, m->from, step, m->comm, &requests[i]);
    }
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; is_sender && i < 2 * m->elements; i++)
            data[i] = value_of(r, i / (m->elements > 0 ? m->elements : 1), i);
        if (chance(&own_random, 50)) {
            MPI_Startall(2, requests);
        } else {
            MPI_Start(&requests[0]);
            MPI_Start(&requests[1]);
        }
        if (chance(&own_random, 50)) {
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        } else {
            wait_somehow(&requests[1], MPI_STATUS_IGNORE);
            wait_somehow(&requests[0], MPI_STATUS_IGNORE);
        }
        for (int i = 0; !is_sender && i < 2 * m->elements; i++)
            if (data[i] != value_of(r, i / m->elements, i))
                fail("element %d of round %d of a persistent receive is wrong", i, r);
    }
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&requests[i]);
    free(data);
}

void step_persistent(void)
{
    int from = draw(&shared_random, size), to = draw(&shared_random, size),
        rounds = 1 + draw(&shared_random, 4);
    message_t m = {MPI_COMM_WORLD, from, to, step, draw_elements(&shared_random, 20000), 0, LONGS};

    if (from == to)
        return;
    if (rank == from || rank == to) {
        say("persistent", &m);
        run_persistent(&m, rounds, rank == from);
    }
}

/* The messages that a rank sends in a shift, and receives in their place. */
static pending_t *make_shift(const message_t *out, const message_t *in, bool is_replaced)
{
    pending_t *p = make_receive(in);
    buffer_t *sent = is_replaced ? &p->receive : &p->send;

    p->name = "a shift";
    if (!is_replaced)
        buffer_create(&p->send, form_draw(&own_random, out->basic, out->elements), out->elements,
                      false);
    for (int i = 0; i < out->elements; i++)
        buffer_set(sent, i, content(out, i));
    for (int i = 0; i < in->elements; i++)
        buffer_expect(&p->receive, i, content(in, i));
    buffer_seal(&p->send);
    return p;
}

static void shift_replaced(const message_t *out, const message_t *in)
{
    pending_t *p = make_shift(out, in, true);
    MPI_Datatype type = buffer_type(&p->receive);
    int count = form_count(p->receive.form, in->elements);
    MPI_Request request;
    MPI_Status status;

    if (chance(&own_random, 50)) {
        MPI_Sendrecv_replace(p->receive.base, count, type, out->to, step, in->from, step, in->comm,
                             &status);
        pending_finish(p, &status);
    } else {
        MPI_Isendrecv_replace(p->receive.base, count, type, out->to, step, in->from, step, in->comm,
                              &request);
        pending_add(p, request, false);
    }
    form_type_release(type);
}

static void shift(const message_t *out, const message_t *in)
{
    pending_t *p = make_shift(out, in, false);
    MPI_Datatype send_type = buffer_type(&p->send), receive_type = buffer_type(&p->receive);
    int sent = form_count(p->send.form, out->elements),
        received = form_count(p->receive.form, in->elements);
    MPI_Request request;
    MPI_Status status;

    if (chance(&own_random, 50)) {
        MPI_Sendrecv(p->send.base, sent, send_type, out->to, step, p->receive.base, received,
                     receive_type, in->from, step, in->comm, &status);
        pending_finish(p, &status);
    } else {
        MPI_Isendrecv(p->send.base, sent, send_type, out->to, step, p->receive.base, received,
                      receive_type, in->from, step, in->comm, &request);
        pending_add(p, request, false);
    }
    form_type_release(send_type);
    form_type_release(receive_type);
}

/* Everyone to its neighbour. */
void step_shift(void)
{
    const comm_t *comm = comm_draw(&shared_random);
    basic_t basic = (basic_t)draw(&shared_random, BASIC_COUNT);
    int elements = draw_elements(&shared_random, 5000), distance = draw(&shared_random, 5);
    message_t out, in;

    if (comm->handle == MPI_COMM_NULL)
        return;
    distance %= comm->size;
    out = (message_t){
        comm->handle, comm->rank, (comm->rank + distance) % comm->size, step, elements, 0, basic};
    in = (message_t){comm->handle, (comm->rank + comm->size - distance) % comm->size,
                     comm->rank,   step,
                     elements,     0,
                     basic};
    say("shift", &out);
    if (chance(&own_random, 30))
        shift_replaced(&out, &in);
    else
        shift(&out, &in);
}

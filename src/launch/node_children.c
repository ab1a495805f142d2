/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host of a job whose ranks are processes of their own: what its processes say when they meet
 * goes to the head, and its answers come back.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/children.h"
#include "launch/meet_jobs.h"
#include "mpi/bindings/bindings.h"
#include "process/process.h"

/* ---- Processes ---- */

static void say(long number, uint32_t kind, const void *bytes, size_t size)
{
    xy_text_t text = XY_TEXT_INIT;

    node_field_add_number(&text, number);
    node_field_add_number(&text, (long)kind);
    xy_text_add_bytes(&text, bytes, size);
    if (!text.failed)
        node_send(NODE_JOIN, text.s, text.length);
    xy_text_cleanup(&text);
}

/* The head knows it by its number. */
static void *come(long number)
{
    long *own = xy_malloc(sizeof(*own));

    if (own != NULL)
        *own = number;
    return own;
}

static bool said(void *number, xy_frame_t *frame)
{
    say(*(long *)number, frame->kind, frame->bytes, frame->size);
    return true;
}

static void gone(void *number)
{
    say(*(long *)number, 0, "", 0);
    xy_free(number);
}

static const mpi_meet_events_t events = {come, said, gone};

/* An installed MPI is found by what its launcher has set, which ranks do not see apart from what
 * mpiexec sets. */
char *node_children_meet(void)
{
    char address[64];

    if (!xy_socket_address(node_link()->fd, address))
        address[0] = '\0';
    return mpi_meet_open(&events, address,
                         getenv("OMPI_COMM_WORLD_SIZE") != NULL ? "openmpi" : "mpich");
}

void node_children_tell_end(int rank, int status)
{
    xy_text_t text = XY_TEXT_INIT;

    node_field_add_number(&text, rank);
    node_field_add_number(&text, status);
    if (!text.failed)
        node_send(NODE_CHILD, text.s, text.length);
    xy_text_cleanup(&text);
}

/* ---- The head ---- */

static void input_taken(void)
{
    node_send(NODE_INPUT_TAKEN, NULL, 0);
}

xy_status_t node_children_begin(struct pollfd *fd)
{
    *fd = (struct pollfd){.fd = node_link()->fd, .events = POLLIN};
    return mpi_node_has_input() ? node_input_begin(input_taken, process_thread_without_signals)
                                : XY_OK;
}

/* Standard input is rank 0's alone: it is at its end when that has closed it. */
xy_status_t node_children_ready(void)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0)
        return xy_fail_errno(errno, "/dev/null", "open");
    close(nothing);
    node_send(NODE_READY, NULL, 0);
    return XY_OK;
}

/* The salt in front of what all must know becomes the secret of their network: no secret has come
 * over the connection. */
static bool derive_secret(char *text, size_t size)
{
    uint8_t salt[XY_SECRET_BYTES], secret[XY_SECRET_BYTES];

    if (size <= 2 * XY_SECRET_BYTES || !xy_secret_read(text, salt))
        return false;
    xy_secret_derive(mpi_node_secret(), salt, secret);
    xy_secret_write(secret, text);
    return true;
}

/* Kind, and the message to all. */
static void pass_on(xy_frame_t *frame)
{
    node_fields_t fields = node_fields(frame);
    long kind;

    if (!node_field_number(&fields, 1, 1 << 20, &kind))
        return;
    if (kind != XMPI_JOIN_ALL ||
        derive_secret(frame->bytes + (fields.at - frame->bytes), (size_t)(fields.end - fields.at)))
        mpi_meet_send((uint32_t)kind, fields.at, (size_t)(fields.end - fields.at));
}

static void take_signal(const xy_frame_t *frame, void (*forward)(int number))
{
    node_fields_t fields = node_fields(frame);
    long number;

    if (node_field_number(&fields, 1, SIGRTMAX, &number))
        forward((int)number);
}

bool node_children_listen(void (*forward)(int number))
{
    xy_channel_answer_t answer;
    xy_frame_t frame;

    while ((answer = xy_channel_read(node_link(), &frame)) == XY_CHANNEL_FRAME) {
        bool is_over = frame.kind == NODE_END;

        if (frame.kind == NODE_JOIN)
            pass_on(&frame);
        else if (frame.kind == NODE_SIGNAL)
            take_signal(&frame, forward);
        else if (frame.kind == NODE_INPUT && mpi_node_has_input())
            node_input_take(&frame);
        else if (frame.kind == NODE_PING)
            node_answer_ping(&frame);
        xy_frame_free(&frame);
        if (is_over)
            return false;
    }
    return answer != XY_CHANNEL_END;
}

/* How its processes have ended the head knows. */
void node_children_leave(int code)
{
    mpi_node_leave(code, code != 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The head of a job whose ranks are processes of their own on several hosts: they meet here
 * (joined.h), through the processes that have started them.
 */
#include <limits.h>
#include <string.h>

#include "launch/children.h"
#include "launch/joined.h"

/* One that has come, somewhere. */
typedef struct {
    int process;
    long number;
    mpi_member_t *member;
} guest_t;

static struct {
    head_t *head;
    mpi_joined_config_t config;
    const char **hosts; /* [size] */
    int *process_of;    /* [size] */
    xy_vec_t guests;    /* of guest_t */
} children;

/* ---- Before ---- */

xy_status_t head_children_split(head_t *head)
{
    head_process_t *all;
    int n = 0;

    if (!node_is_over_mpi(head->values->net) || head->is_local)
        return XY_OK;
    for (int p = 0; p < head->count; p++)
        if (head->processes[p].slots <= 0 && head->values->ppn <= 0)
            return xy_fail(XY_EUSAGE,
                           "--net mpi: '%s' is not linked with Xylem's MPI, so the launcher starts "
                           "a process for each rank and must know how many; give each host slots "
                           "(--hosts a:4,b:4) or --ppn",
                           XY_VEC_AT(head->job->parts, mpi_part_t, 0).path);
    head_share_ranks(head);
    all = xy_calloc((size_t)head->size, sizeof(*all));
    if (all == NULL)
        return xy_fail_memory("starting the processes");
    for (int p = 0; p < head->count; p++)
        for (int r = 0; r < head->processes[p].ranks; r++, n++) {
            xy_channel_init(&all[n].link, -1, NULL);
            all[n].slots = 1;
            all[n].host = xy_strdup(head->processes[p].host);
            if (all[n].host == NULL)
                return xy_fail_memory("starting the processes");
        }
    for (int p = 0; p < head->count; p++)
        xy_free(head->processes[p].host);
    xy_free(head->processes);
    head->processes = all;
    head->count = n;
    head->adapted = *head->values;
    head->adapted.ppn = 1;
    head->values = &head->adapted;
    return XY_OK;
}

/* ---- Messages to them ---- */

static void send(uint32_t kind, const void *bytes, size_t size)
{
    xy_text_t text = XY_TEXT_INIT;

    node_field_add_number(&text, (long)kind);
    xy_text_add_bytes(&text, bytes, size);
    for (int p = 0; p < children.head->count && !text.failed; p++)
        if (children.head->processes[p].link.fd >= 0)
            xy_channel_send(&children.head->processes[p].link, NODE_JOIN, text.s, text.length);
    if (text.failed)
        xy_fail_memory("connecting the processes");
    xy_text_cleanup(&text);
}

xy_status_t head_children_begin(head_t *head)
{
    int rank = 0;

    children.head = head;
    children.guests = XY_VEC_INIT(guest_t);
    children.hosts = xy_calloc((size_t)head->size, sizeof(*children.hosts));
    children.process_of = xy_calloc((size_t)head->size, sizeof(*children.process_of));
    if (children.hosts == NULL || children.process_of == NULL)
        return xy_fail_memory("starting the processes");
    for (int p = 0; p < head->count; p++)
        for (int r = 0; r < head->processes[p].ranks; r++, rank++) {
            children.hosts[rank] = head->processes[p].host;
            children.process_of[rank] = p;
        }
    children.config = (mpi_joined_config_t){.size = head->size,
                                            .values = head->values,
                                            .is_local = head->is_local,
                                            .hosts = head->is_local ? NULL : children.hosts,
                                            .send = send};
    return mpi_joined_begin(&children.config);
}

/* ---- What they say ---- */

static guest_t *find(int process, long number)
{
    for (size_t i = 0; i < children.guests.count; i++) {
        guest_t *guest = &XY_VEC_AT(&children.guests, guest_t, i);

        if (guest->process == process && guest->number == number)
            return guest;
    }
    return NULL;
}

static guest_t *find_or_add(int process, long number)
{
    guest_t new = {process, number, NULL}, *guest = find(process, number);

    if (guest != NULL)
        return guest;
    new.member = mpi_joined_come();
    if (new.member == NULL || xy_vec_append(&children.guests, &new) != XY_OK) {
        xy_fail_memory("connecting the processes");
        return NULL;
    }
    return find(process, number);
}

static void remove_guest(guest_t *guest)
{
    mpi_member_t *member = guest->member;

    *guest = XY_VEC_AT(&children.guests, guest_t, children.guests.count - 1);
    children.guests.count--;
    mpi_joined_gone(member);
}

/* Pass a message of a joined rank on, or remove the rank if it has gone; false if the job must end.
 * */
static bool take_join(int process, const xy_frame_t *frame)
{
    node_fields_t fields = node_fields(frame);
    xy_frame_t said = {0};
    guest_t *guest;
    long number, kind;
    bool goes_on;

    if (!node_field_number(&fields, 0, LONG_MAX, &number) ||
        !node_field_number(&fields, 0, 1 << 20, &kind))
        return true;
    if (kind == 0) {
        guest = find(process, number);
        if (guest != NULL)
            remove_guest(guest);
        return true;
    }
    guest = find_or_add(process, number);
    said.kind = (uint32_t)kind;
    said.size = (size_t)(fields.end - fields.at);
    said.bytes = xy_strndup(fields.at, said.size);
    goes_on = guest != NULL && said.bytes != NULL && mpi_joined_said(guest->member, &said);
    xy_frame_free(&said);
    return goes_on;
}

static void take_end(const head_t *head, int process, const xy_frame_t *frame)
{
    node_fields_t fields = node_fields(frame);
    long rank, status;

    if (node_field_number(&fields, 0, head->size - 1, &rank) &&
        node_field_number(&fields, 0, LONG_MAX, &status) && children.process_of[rank] == process)
        mpi_joined_note_end((int)rank, (int)status);
}

bool head_children_take(head_t *head, int process, const xy_frame_t *frame)
{
    if (children.head == NULL)
        return true;
    if (frame->kind == NODE_JOIN)
        return take_join(process, frame);
    take_end(head, process, frame);
    return true;
}

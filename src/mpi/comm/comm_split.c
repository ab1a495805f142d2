/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that make communicators from one communicator.
 */
#include <stdio.h>
#include <string.h>

#include "mpi/comm/calls.h"
#include "mpi/comm/make.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"
#include "mpi/virtual/virtual.h"

/* Give the program the handle of a new communicator. */
static int give(int code, const mpi_comm_t *made, MPI_Comm *newcomm)
{
    if (code == MPI_SUCCESS)
        *newcomm = made ? mpi_comm_handle(made) : MPI_COMM_NULL;
    return code;
}

int mpi_comm_copy_info(mpi_comm_t *parent, const mpi_info_t *info, mpi_comm_t *made)
{
    mpi_info_t *copy;

    if (!info)
        return MPI_SUCCESS;
    copy = mpi_info_copy(info);
    if (!copy)
        return mpi_error_memory(parent, "the hints of a communicator");
    made->info = (MPI_Info)(void *)copy;
    return mpi_settings_apply(made, copy);
}

/* A duplicate has the attributes that their copy functions let through, the topology, and the hints
 * in `info` (NULL: none). */
int part_comm_dup(MPI_Comm handle, bool has_info, MPI_Info info, MPI_Comm *newcomm)
{
    mpi_comm_t *comm = mpi_comm_of(handle), *made;
    int code;

    if (!comm)
        return mpi_comm_refuse(handle);
    code = has_info ? mpi_info_check(comm, info) : MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = mpi_comm_duplicate(comm, &made);
    if (code != MPI_SUCCESS)
        return code;
    mpi_layers_comm_duplicate(comm, made);
    code = mpi_comm_copy_info(comm, mpi_info_of(has_info ? info : comm->info), made);
    if (code == MPI_SUCCESS) {
        code = mpi_attributes_copy(XMPI_ATTR_COMM, handle, comm->attributes, &made->attributes);
        if (code != MPI_SUCCESS)
            code = mpi_error_raise(comm, code, "the copy function of an attribute failed");
    }
    if (code != MPI_SUCCESS)
        mpi_comm_release(made);
    return give(code, made, newcomm);
}

int impl_comm_split(MPI_Comm handle, int color, int key, MPI_Comm *newcomm)
{
    mpi_comm_t *comm = mpi_comm_of(handle), *made = NULL;
    int code;

    if (!comm)
        return mpi_comm_refuse(handle);
    if (color < 0 && color != MPI_UNDEFINED)
        return mpi_error(comm, MPI_ERR_ARG,
                         "the color is %d; it must be 0 or more, or MPI_UNDEFINED", color);
    code = mpi_comm_split(comm, color, key, &made);
    return give(code, made, newcomm);
}

/* Hardware that can be told apart: ranks are bound to their core. */
static const char machine_uri[] = "xylem://machine", core_uri[] = "xylem://core";

/* The resources that the rank is restricted to: one machine, and there one core. */
int impl_get_hw_resource_info(MPI_Info *hw_info)
{
    mpi_info_t *made = mpi_info_copy(NULL);

    if (!made || mpi_info_put(made, machine_uri, "true") != XY_OK ||
        mpi_info_put(made, core_uri, "true") != XY_OK) {
        mpi_info_destroy(made);
        return mpi_error_memory(NULL, "an info object");
    }
    *hw_info = (MPI_Info)(void *)made;
    return MPI_SUCCESS;
}

/* Ranks of one process share memory; in virtual time, those of one node. */
static int color_of_memory(const mpi_comm_t *comm)
{
    return mpi_job->clock != NULL ? mpi_virtual_node(comm->owner->world) : mpi_job->process;
}

/* Ranks of one core share a worker of the process. */
static int color_of_core(const mpi_comm_t *comm)
{
    if (mpi_job->clock != NULL)
        return mpi_virtual_core(comm->owner->world);
    return mpi_job->process << 16 | comm->owner->worker->index;
}

/* The color of ranks of one machine, which may be in several processes. */
static int color_of_machine(const mpi_comm_t *comm)
{
    int p = 0;

    if (mpi_job->clock != NULL)
        return color_of_memory(comm);
    while (mpi_job->hosts && strcmp(mpi_job->hosts[p], mpi_job->hosts[mpi_job->process]) != 0)
        p++;
    return mpi_job->hosts ? p : mpi_job->process;
}

/* The resource that a guided split names: those known here are memory and cores. */
static int guided_color(const mpi_comm_t *comm, MPI_Info info)
{
    const char *type = mpi_info_value(mpi_info_of(info), "mpi_hw_resource_type");

    if (!type)
        type = mpi_info_value(mpi_info_of(info), "mpi_pset_name");
    if (!type)
        return MPI_UNDEFINED;
    if (strcmp(type, "mpi_shared_memory") == 0)
        return color_of_memory(comm);
    if (strcmp(type, "mpi://WORLD") == 0)
        return 0;
    if (strcmp(type, machine_uri) == 0)
        return color_of_machine(comm);
    if (strcmp(type, "core") == 0 || strcmp(type, "hwthread") == 0 || strcmp(type, core_uri) == 0)
        return color_of_core(comm);
    return strcmp(type, "mpi://SELF") == 0 ? comm->rank : MPI_UNDEFINED;
}

/* Two jobs have nothing in common, and may have the same colors. */
static int color_of_job(const mpi_comm_t *comm, int color)
{
    int link = mpi_link_of((comm->remote ? comm->merged : comm)->group);

    return link <= 0 || color < 0 ? color : 2 * color + mpi_link_is_high(link);
}

/* All ranks share memory. The only smaller hardware that is known of every rank is its core; a
 * communicator that is on one core already has nothing below it. */
static bool is_on_one_core(const mpi_comm_t *comm)
{
    for (int i = 0; i < comm->group->size; i++) {
        int rank = mpi_group_world(comm->group, i);

        if (mpi_job->ranks[rank].worker != comm->owner->worker ||
            (mpi_job->clock != NULL &&
             mpi_virtual_core(rank) != mpi_virtual_core(comm->owner->world)))
            return false;
    }
    return true;
}

/* Split by what lies below; the standard wants it named in `info`. */
static int unguided_color(mpi_comm_t *comm, MPI_Info info, int *color_p)
{
    mpi_info_t *hints = mpi_info_of(info);

    *color_p = MPI_UNDEFINED;
    if (is_on_one_core(comm))
        return MPI_SUCCESS;
    if (hints && mpi_info_put(hints, "mpi_hw_resource_type", "core") != XY_OK)
        return mpi_error_memory(comm, "the name of the hardware");
    *color_p = color_of_core(comm);
    return MPI_SUCCESS;
}

static const char *name_of_type(int type)
{
    return type == MPI_COMM_TYPE_SHARED        ? "MPI_COMM_TYPE_SHARED"
           : type == MPI_COMM_TYPE_HW_GUIDED   ? "MPI_COMM_TYPE_HW_GUIDED"
           : type == MPI_COMM_TYPE_HW_UNGUIDED ? "MPI_COMM_TYPE_HW_UNGUIDED"
                                               : "MPI_COMM_TYPE_RESOURCE_GUIDED";
}

static void describe_type(const mpi_topic_t *topic, const mpi_topic_t *other, char *text,
                          size_t room)
{
    (void)other;
    snprintf(text, room, " with %s", name_of_type(*(const int *)topic->data));
}

/* Members that want no communicator say MPI_UNDEFINED; all others the same. */
static bool find_type(const mpi_topic_t *const *topics, int size, int *a_p, int *b_p)
{
    *a_p = -1;
    for (*b_p = 0; *b_p < size; ++*b_p) {
        int type = *(const int *)topics[*b_p]->data;

        if (type == MPI_UNDEFINED)
            continue;
        if (*a_p < 0)
            *a_p = *b_p;
        else if (type != *(const int *)topics[*a_p]->data)
            return true;
    }
    return false;
}

/* Find two members that give different split types; false if all agree. */
static bool find_type_far(const mpi_topic_t *topic, const mpi_said_t *said, int size, int own,
                          int *a_p, int *b_p)
{
    (void)topic, (void)own;
    *b_p = -1;
    for (*a_p = 0; *a_p < size; ++*a_p) {
        if (said[*a_p].more[0] == MPI_UNDEFINED)
            continue;
        if (*b_p < 0)
            *b_p = *a_p;
        else if (said[*a_p].more[0] != said[*b_p].more[0])
            return true;
    }
    return false;
}

int impl_comm_split_type(MPI_Comm handle, int type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    mpi_topic_t topic = {.data = &type,
                         .find = find_type,
                         .describe = describe_type,
                         .find_far = find_type_far,
                         .more = {type}};
    mpi_comm_t *comm = mpi_comm_of(handle), *made = NULL;
    int color, code;

    if (!comm)
        return mpi_comm_refuse(handle);
    code = mpi_info_check(comm, info);
    if (code != MPI_SUCCESS)
        return code;
    if (type == MPI_COMM_TYPE_SHARED)
        color = color_of_memory(comm);
    else if (type == MPI_COMM_TYPE_HW_UNGUIDED)
        code = unguided_color(comm, info, &color);
    else if (type == MPI_COMM_TYPE_HW_GUIDED || type == MPI_COMM_TYPE_RESOURCE_GUIDED)
        color = guided_color(comm, info);
    else if (type == MPI_UNDEFINED)
        color = MPI_UNDEFINED;
    else
        return mpi_error(comm, MPI_ERR_ARG, "%d is not a type of split", mpi_number_passed(type));
    if (code != MPI_SUCCESS)
        return code;
    comm->owner->topic = &topic;
    code = mpi_comm_split(comm, color_of_job(comm, color), key, &made);
    comm->owner->topic = NULL;
    return give(code, made, newcomm);
}

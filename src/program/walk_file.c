/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files, as in runs in virtual time: an access costs what a message of its size to itself costs,
 * and the members of collective calls come first. Nothing is read or written: the scan says that
 * values of files are not known.
 */
#include <mpi.h>
#include <string.h>

#include "program/walk_window.h"

/* extra of an access */
enum { AT = 1, READS = 2, MEETS = 4, STARTS = 8 };

/* NULL (reported): no file, or a closed one. */
static walk_file_t *file_of(walker_t *w, int64_t handle)
{
    int64_t index = handle - WALK_FILE_FIRST;

    if (index >= 0 && (uint64_t)index < w->files.count &&
        XY_VEC_AT(&w->files, walk_file_t, index).member.comm != NULL)
        return &XY_VEC_AT(&w->files, walk_file_t, index);
    process_fail(&w->process, "no file");
    return NULL;
}

/* MPI_File_open: a communicator for the file, then all meet there. */
static bool file_open(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = walk_intracomm(w, args[0]);
    walk_made_t made = {0};

    (void)site;
    if (m == NULL)
        return false;
    if (w->process.phase < 2) {
        walk_file_t file = {.amode = args[2]};

        if (!walk_split(w, args[0], 0, m->rank, &made))
            return false;
        file.member = (walk_member_t){.comm = made.comm, .rank = made.rank};
        if (xy_vec_append(&w->files, &file) != XY_OK)
            return process_fail_memory(&w->process);
        w->process.phase = 2;
    }
    return walk_agree(w, &XY_VEC_AT(&w->files, walk_file_t, w->files.count - 1).member, 2) &&
           walk_set_handle(w, args[4], WALK_FILE_FIRST + (int64_t)w->files.count - 1);
}

/* MPI_File_close: all meet; the handle becomes MPI_FILE_NULL. */
static bool file_close(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_file_t *file;
    int64_t handle;

    (void)site;
    if (!walk_get_handle(w, args[0], 0, &handle))
        return false;
    file = file_of(w, handle);
    if (file == NULL || !walk_agree(w, &file->member, 0))
        return false;
    file->member.comm = NULL;
    return walk_set_handle(w, args[0], (int64_t)(intptr_t)MPI_FILE_NULL);
}

/* A collective about the file in which all meet as often as `extra` says. */
static bool meet(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_file_t *file = file_of(w, args[0]);

    for (int32_t i = 0; file != NULL && i < walk_extra(site); i++)
        if (!walk_agree(w, &file->member, 2 * i))
            return false;
    return file != NULL;
}

/* MPI_File_sync: before it all have written, where they may write. */
static bool sync_file(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_file_t *file = file_of(w, args[0]);

    (void)site;
    return file != NULL && walk_agree(w, &file->member, 0) &&
           ((file->amode & MPI_MODE_RDONLY) != 0 || walk_agree(w, &file->member, 2));
}

/* The request of an access, complete at `end`; its status has the bytes. */
static bool give_request(walker_t *w, int64_t at, double end, uint64_t bytes)
{
    int32_t index = walk_until(w, end);

    if (index < 0)
        return false;
    walk_request_at(w, index)->kind = WALK_FILE;
    walk_request_at(w, index)->number = bytes;
    return walk_set_handle(w, at, WALK_REQUEST_FIRST + index);
}

/* Reads and writes. The bytes that a file has for a read are not known: as many as asked for. */
static bool move(walker_t *w, const code_site_t *site, int64_t *args)
{
    int32_t extra = walk_extra(site), at = 2 + (extra & AT);
    walk_file_t *file = file_of(w, args[0]);
    xy_vjob_remote_t remote = {.peer = w->rank};
    uint64_t known;
    walk_type_t type;
    double end;

    if (file == NULL || !walk_type(w, args[at + 1], &type))
        return false;
    if (args[at] < 0)
        return process_fail(&w->process, "the count is %lld", (long long)args[at]);
    remote.bytes = (uint64_t)args[at] * type.map.size;
    known = extra & READS ? (uint64_t)PROCESS_BLANK_64 : remote.bytes;
    if (w->process.phase == 0) {
        w->process.phase = 1;
        if (!xy_vjob_sync(w->walk->job, w->rank))
            return false;
    }
    if ((extra & MEETS) != 0 && !walk_agree(w, &file->member, 1))
        return false;
    if (w->process.phase <= 3) {
        if (!xy_vjob_remote(w->walk->job, w->rank, &remote, &end))
            return process_stop(&w->process);
        if ((extra & STARTS) != 0)
            return give_request(w, args[at + 2], end, known);
        w->current[0] = walk_until(w, end);
        w->process.phase = 4;
    }
    return walk_wait_one(w, w->current[0]) &&
           walk_set_status(w, args[at + 2], MPI_ANY_SOURCE, MPI_ANY_TAG, known);
}

static bool nothing(walker_t *w, const code_site_t *site, int64_t *args)
{
    (void)w, (void)site, (void)args;
    return true;
}

const walk_call_t walk_calls_file[] = {{"File_open", file_open, 0},
                                       {"File_close", file_close, 0},
                                       {"File_delete", nothing, 0},
                                       {"File_get_size", nothing, 0},
                                       {"File_sync", sync_file, 0},
                                       {"File_seek", nothing, 0},
                                       {"File_set_view", meet, 2},
                                       {"File_set_size", meet, 2},
                                       {"File_preallocate", meet, 2},
                                       {"File_set_atomicity", meet, 1},
                                       {"File_set_info", meet, 1},
                                       {"File_read", move, READS},
                                       {"File_read_all", move, READS | MEETS},
                                       {"File_read_at", move, AT | READS},
                                       {"File_read_at_all", move, AT | READS | MEETS},
                                       {"File_read_shared", move, READS},
                                       {"File_read_ordered", move, READS | MEETS},
                                       {"File_iread", move, READS | STARTS},
                                       {"File_iread_all", move, READS | STARTS},
                                       {"File_iread_at", move, AT | READS | STARTS},
                                       {"File_iread_at_all", move, AT | READS | STARTS},
                                       {"File_iread_shared", move, READS | STARTS},
                                       {"File_write", move, 0},
                                       {"File_write_all", move, MEETS},
                                       {"File_write_at", move, AT},
                                       {"File_write_at_all", move, AT | MEETS},
                                       {"File_write_shared", move, 0},
                                       {"File_write_ordered", move, MEETS},
                                       {"File_iwrite", move, STARTS},
                                       {"File_iwrite_all", move, STARTS},
                                       {"File_iwrite_at", move, AT | STARTS},
                                       {"File_iwrite_at_all", move, AT | STARTS},
                                       {"File_iwrite_shared", move, STARTS},
                                       {0}};

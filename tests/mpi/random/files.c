/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files: the members of a communicator write their blocks, side by side or by turns, and read those
 * of another one, in all ways that a call may go, from and to any layout of memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random.h"

enum { NAME = 256, ELEMENTS_MOST = 20000, WORD = sizeof(uint64_t) };

/* The state that all members agree on. */
typedef struct {
    MPI_File file;
    const comm_t *comm;
    int elements, block; /* of a member in all, and at a time where members take turns */
    bool has_view;
} shape_t;

/* An empty file that is removed when it is closed; its name comes from the first member. */
MPI_File file_open(MPI_Comm comm)
{
    const char *directory = getenv("TMPDIR");
    char name[NAME] = "";
    MPI_File file;
    int at, fd;

    MPI_Comm_rank(comm, &at);
    if (at == 0) {
        snprintf(name, sizeof(name), "%s/xylem-random-XXXXXX",
                 directory != NULL && directory[0] != '\0' ? directory : "/tmp");
        fd = mkstemp(name);
        if (fd < 0)
            fail("no file '%s'", name);
        close(fd);
    }
    MPI_Bcast(name, NAME, MPI_CHAR, 0, comm);
    MPI_File_open(comm, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
    return file;
}

/* See the elements of member `place` from now on; returns the offset of the first one. */
static MPI_Offset see(const shape_t *s, int place)
{
    MPI_Offset begin = (MPI_Offset)place * (s->has_view ? s->block : s->elements) * WORD;
    MPI_Datatype part, filetype;

    if (!s->has_view)
        return begin;
    MPI_Type_contiguous(s->block, MPI_UINT64_T, &part);
    MPI_Type_create_resized(part, 0, (MPI_Aint)s->comm->size * s->block * WORD, &filetype);
    MPI_Type_commit(&filetype);
    MPI_File_set_view(s->file, begin, MPI_UINT64_T, filetype, "native", MPI_INFO_NULL);
    MPI_Type_free(&filetype);
    MPI_Type_free(&part);
    return 0;
}

/* ---- One access, in one of several ways ---- */

enum { ALONE_WAYS = 3, TOGETHER_WAYS = 4 };

typedef struct {
    void *memory;
    int count;
    MPI_Datatype type;
    MPI_Offset at;
} access_t;

static void write_alone(MPI_File file, const access_t *a)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;

    switch (draw(&own_random, ALONE_WAYS)) {
    case 0:
        MPI_File_write_at(file, a->at, a->memory, a->count, a->type, &status);
        return;
    case 1:
        MPI_File_seek(file, a->at, MPI_SEEK_SET);
        MPI_File_write(file, a->memory, a->count, a->type, &status);
        return;
    default:
        MPI_File_iwrite_at(file, a->at, a->memory, a->count, a->type, &request);
        wait_somehow(&request, &status);
    }
}

static void read_alone(MPI_File file, const access_t *a)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;

    switch (draw(&own_random, ALONE_WAYS)) {
    case 0:
        MPI_File_read_at(file, a->at, a->memory, a->count, a->type, &status);
        return;
    case 1:
        MPI_File_seek(file, a->at, MPI_SEEK_SET);
        MPI_File_read(file, a->memory, a->count, a->type, &status);
        return;
    default:
        MPI_File_iread_at(file, a->at, a->memory, a->count, a->type, &request);
        wait_somehow(&request, &status);
    }
}

static void write_together(MPI_File file, const access_t *a, int way)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;

    if (way == 0) {
        MPI_File_write_at_all(file, a->at, a->memory, a->count, a->type, &status);
    } else if (way == 1) {
        MPI_File_seek(file, a->at, MPI_SEEK_SET);
        MPI_File_write_all(file, a->memory, a->count, a->type, &status);
    } else if (way == 2) {
        MPI_File_iwrite_at_all(file, a->at, a->memory, a->count, a->type, &request);
        wait_somehow(&request, &status);
    } else {
        MPI_File_write_at_all_begin(file, a->at, a->memory, a->count, a->type);
        MPI_File_write_at_all_end(file, a->memory, &status);
    }
}

static void read_together(MPI_File file, const access_t *a, int way)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;

    if (way == 0) {
        MPI_File_read_at_all(file, a->at, a->memory, a->count, a->type, &status);
    } else if (way == 1) {
        MPI_File_seek(file, a->at, MPI_SEEK_SET);
        MPI_File_read_all(file, a->memory, a->count, a->type, &status);
    } else if (way == 2) {
        MPI_File_iread_at_all(file, a->at, a->memory, a->count, a->type, &request);
        wait_somehow(&request, &status);
    } else {
        MPI_File_read_at_all_begin(file, a->at, a->memory, a->count, a->type);
        MPI_File_read_at_all_end(file, a->memory, &status);
    }
}

/* Write (`writes`) or read the elements of member `place` with `buffer`; `way` < 0: each member
 * by itself. */
static void access_file(const shape_t *s, buffer_t *buffer, int place, bool writes, int way)
{
    access_t a = {.type = buffer_type(buffer), .count = form_count(buffer->form, s->elements)};

    a.memory = buffer->base;
    a.at = see(s, place);
    if (writes && way < 0)
        write_alone(s->file, &a);
    else if (writes)
        write_together(s->file, &a, way);
    else if (way < 0)
        read_alone(s->file, &a);
    else
        read_together(s->file, &a, way);
    form_type_release(a.type);
}

static int draw_way(void)
{
    return draw(&shared_random, ALONE_WAYS + TOGETHER_WAYS) - ALONE_WAYS;
}

void step_file(void)
{
    shape_t s = {.comm = comm_draw(&shared_random), .block = 1 + draw(&shared_random, 50)};
    int members = s.comm->size, to_write, to_read, other;
    buffer_t buffer;

    s.elements = (1 + draw_elements(&shared_random, ELEMENTS_MOST) / s.block) * s.block;
    s.has_view = chance(&shared_random, 60);
    to_write = draw_way();
    to_read = draw_way();
    if (s.comm->handle == MPI_COMM_NULL)
        return;
    if (is_verbose)
        fprintf(stderr, "%d: step %d: a file, %d elements, ways %d and %d\n", rank, step,
                s.elements, to_write, to_read);
    s.file = file_open(s.comm->handle);
    buffer_create(&buffer, form_draw(&own_random, LONGS, s.elements), s.elements, false);
    for (int i = 0; i < s.elements; i++)
        buffer_set(&buffer, i, value_of(s.comm->rank, 0, i));
    buffer_seal(&buffer);
    access_file(&s, &buffer, s.comm->rank, true, to_write);
    buffer_check(&buffer, "a file that is written");
    buffer_destroy(&buffer);
    MPI_File_sync(s.file);
    MPI_Barrier(s.comm->handle);
    MPI_File_sync(s.file);
    other = draw(&own_random, members);
    buffer_create(&buffer, form_draw(&own_random, LONGS, s.elements), s.elements, true);
    for (int i = 0; i < s.elements; i++)
        buffer_expect(&buffer, i, value_of(other, 0, i));
    if (is_verbose)
        fprintf(stderr, "%d: step %d: read to memory of kind %d\n", rank, step, (int)buffer.memory);
    access_file(&s, &buffer, other, false, to_read);
    buffer_check(&buffer, "a file that is read");
    buffer_destroy(&buffer);
    MPI_File_close(&s.file);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files, call by call: what a file is, shared and ordered pointers, representations, hints,
 * handlers, and which error each mistake gives. Any number of ranks.
 */
#include <fcntl.h>

#include "file.h"

static int rank, size;
static char name[NAME];

static MPI_File fresh(int amode)
{
    return file_open(name, amode | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
}

/* ---- What a file is ---- */

static void check_size_and_mode(void)
{
    int amode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, found, same;
    MPI_File file = fresh(MPI_MODE_RDWR);
    MPI_Group group, world;
    MPI_Offset bytes, at;

    MPI_File_get_amode(file, &found);
    CHECK_EQUAL(found, amode);
    MPI_File_get_group(file, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &same);
    CHECK_EQUAL(same, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    CHECK_EQUAL(MPI_File_set_size(file, 1000), MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_preallocate(file, 500), MPI_SUCCESS);
    MPI_File_get_size(file, &bytes);
    CHECK_EQUAL(bytes, 1000); /* preallocation does not shorten */
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(MPI_File_preallocate(file, 5000), MPI_SUCCESS);
    MPI_File_get_size(file, &bytes);
    CHECK_EQUAL(bytes, 5000);
    CHECK_EQUAL(MPI_File_seek(file, -8, MPI_SEEK_END), MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_seek(file, 3, MPI_SEEK_CUR), MPI_SUCCESS);
    MPI_File_get_position(file, &at);
    CHECK_EQUAL(at, 4995);
    MPI_File_get_atomicity(file, &found);
    CHECK_EQUAL(found, 0);
    MPI_File_set_atomicity(file, 1);
    MPI_File_get_atomicity(file, &found);
    CHECK_EQUAL(found, 1);
    CHECK_EQUAL(MPI_File_f2c(MPI_File_c2f(file)) == file, 1);
    CHECK_EQUAL(MPI_File_sync(file), MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_close(&file), MPI_SUCCESS);
    CHECK(file == MPI_FILE_NULL);
}

static void check_view(void)
{
    int lengths[2] = {1, 2}, places[2] = {0, 3};
    MPI_File file = fresh(MPI_MODE_RDWR);
    char rep[MPI_MAX_DATAREP_STRING];
    MPI_Datatype type, etype, found;
    MPI_Offset disp, byte;
    MPI_Aint extent;

    MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(file, 10, MPI_INT, type, "internal", MPI_INFO_NULL);
    MPI_Type_free(&type);
    MPI_File_get_view(file, &disp, &etype, &found, rep);
    CHECK_EQUAL(disp, 10);
    CHECK(etype == MPI_INT && strcmp(rep, "native") == 0);
    MPI_Type_get_extent(found, &byte, &extent);
    CHECK_EQUAL(extent, 20);
    MPI_Type_free(&found);
    /* x . . x x   x . . x x: the fifth element is the second of the second tile */
    MPI_File_get_byte_offset(file, 4, &byte);
    CHECK_EQUAL(byte, 10 + 20 + 12);
    MPI_File_get_type_extent(file, MPI_DOUBLE, &extent);
    CHECK_EQUAL(extent, 8);
    MPI_File_close(&file);
}

/* ---- Shared pointers ---- */

enum { RECORDS = 5 };

/* Records of several lengths, each once, whole, in any order. */
static void check_shared(void)
{
    MPI_File file = fresh(MPI_MODE_RDWR);
    int record[4], *all = NULL, total = 0, seen = 0;
    MPI_Request request;
    MPI_Offset at;

    MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    for (int i = 0; i < RECORDS; i++) {
        for (int k = 0; k < 4; k++)
            record[k] = 100 * rank + i;
        record[0] = 2 + i % 3; /* its length */
        if (i % 2 == 0) {
            MPI_File_write_shared(file, record, record[0], MPI_INT, MPI_STATUS_IGNORE);
        } else {
            MPI_File_iwrite_shared(file, record, record[0], MPI_INT, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        total += record[0];
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(file, &at);
    CHECK_EQUAL(at, total * size);
    all = calloc((size_t)(total * size), sizeof(int));
    MPI_File_read_at(file, 0, all, total * size, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < total * size; i += all[i]) {
        CHECK(all[i] >= 2 && all[i] <= 4);
        for (int k = 2; k < all[i]; k++)
            CHECK_EQUAL(all[i + k], all[i + 1]);
        seen++;
    }
    CHECK_EQUAL(seen, RECORDS * size);
    CHECK_EQUAL(MPI_File_seek_shared(file, 3, MPI_SEEK_SET), MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_seek_shared(file, 2, MPI_SEEK_CUR), MPI_SUCCESS);
    MPI_File_get_position_shared(file, &at);
    CHECK_EQUAL(at, 5);
    CHECK_EQUAL(MPI_File_seek_shared(file, 0, MPI_SEEK_END), MPI_SUCCESS);
    MPI_File_get_position_shared(file, &at);
    CHECK_EQUAL(at, total * size);
    free(all);
    MPI_File_close(&file);
}

/* A seek that is refused leaves the pointer where it was, and an access where no file can be is
 * refused on all ranks. */
static void check_refused_pointer(void)
{
    MPI_File file = fresh(MPI_MODE_RDWR);
    MPI_Offset at = 0;
    MPI_Status status;

    CHECK_EQUAL(MPI_File_seek_shared(file, 3, MPI_SEEK_SET), MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_seek_shared(file, 7, 99), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_File_seek_shared(file, -4, MPI_SEEK_CUR), MPI_ERR_ARG);
    if (size > 1)
        CHECK_EQUAL(MPI_File_seek_shared(file, rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
    MPI_File_get_position_shared(file, &at);
    CHECK_EQUAL(at, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(MPI_File_seek_shared(file, (MPI_Offset)1 << 62, MPI_SEEK_SET), MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_write_ordered(file, &rank, 1, MPI_INT, &status), MPI_ERR_ARG);
    MPI_File_get_size(file, &at);
    CHECK_EQUAL(at, 0);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
    CHECK_EQUAL(MPI_File_seek_shared(file, (MPI_Offset)1 << 60, MPI_SEEK_SET), MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_read_ordered(file, &at, 1, MPI_INT, &status), MPI_ERR_ARG);
    MPI_File_close(&file);
}

/* In order of rank, and read back so; each rank has another amount. */
static void check_ordered(void)
{
    MPI_File file = fresh(MPI_MODE_RDWR);
    int own[64], back[64], n = rank % 7 + 1, got;
    MPI_Status status;

    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < n; i++)
            own[i] = turn * 1000 + rank;
        if (turn == 0) {
            MPI_File_write_ordered(file, own, n, MPI_INT, &status);
        } else {
            MPI_File_write_ordered_begin(file, own, n, MPI_INT);
            MPI_File_write_ordered_end(file, own, &status);
        }
        MPI_Get_count(&status, MPI_INT, &got);
        CHECK_EQUAL(got, n);
    }
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_ordered(file, back, n, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        CHECK_EQUAL(back[i], rank);
    MPI_File_read_ordered_begin(file, back, n, MPI_INT);
    MPI_File_read_ordered_end(file, back, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        CHECK_EQUAL(back[i], 1000 + rank);
    MPI_File_read_shared(file, back, 1, MPI_INT, &status); /* the end */
    MPI_Get_count(&status, MPI_INT, &got);
    CHECK_EQUAL(got, 0);
    MPI_File_close(&file);
}

static void check_append(void)
{
    MPI_File file = file_open(name, MPI_MODE_WRONLY | MPI_MODE_CREATE);
    MPI_Offset at, shared;

    MPI_File_set_size(file, 77);
    MPI_File_close(&file);
    file = fresh(MPI_MODE_RDWR | MPI_MODE_APPEND);
    MPI_File_get_position(file, &at);
    MPI_File_get_position_shared(file, &shared);
    CHECK(at == 77 && shared == 77);
    MPI_File_close(&file);
}

/* ---- Representations ---- */

static void check_external(void)
{
    struct {
        int number;
        double value;
    } in = {0x01020304, -2.5}, out = {0, 0};
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, 8}, extent, position = 0;
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, pair, strided;
    MPI_File file = fresh(MPI_MODE_RDWR);
    char bytes[12], expected[12];
    long longs[3] = {1, -2, 3}, back[3] = {0, 0, 0};
    int got;
    MPI_Status status;

    MPI_Type_create_struct(2, lengths, places, types, &pair);
    MPI_Type_commit(&pair);
    MPI_File_set_view(file, rank * 12, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL);
    CHECK_EQUAL(MPI_File_write_at_all(file, 0, &in, 1, pair, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_File_read_at(file, 0, &out, 1, pair, &status);
    CHECK(out.number == in.number && out.value == in.value);
    MPI_Get_count(&status, pair, &got);
    CHECK_EQUAL(got, 1);
    MPI_File_set_view(file, rank * 12, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, bytes, 12, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Pack_external("external32", &in, 1, pair, expected, 12, &position);
    CHECK(memcmp(bytes, expected, 12) == 0 && bytes[0] == 1 && bytes[3] == 4);
    MPI_Barrier(MPI_COMM_WORLD);
    /* A long has four bytes there: filetypes are as much smaller. */
    MPI_Type_vector(3, 1, size, MPI_LONG, &strided);
    MPI_Type_commit(&strided);
    MPI_File_set_view(file, rank * 4, MPI_LONG, strided, "external32", MPI_INFO_NULL);
    MPI_File_get_type_extent(file, MPI_LONG, &extent);
    CHECK_EQUAL(extent, 4);
    CHECK_EQUAL(MPI_File_write_all(file, longs, 3, MPI_LONG, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_File_read_at(file, 0, back, 3, MPI_LONG, MPI_STATUS_IGNORE);
    CHECK(memcmp(longs, back, sizeof(longs)) == 0);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, (size + rank) * 4, bytes, 4, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK(memcmp(bytes, "\xff\xff\xff\xfe", 4) == 0);
    longs[0] = 1L << 40; /* does not fit */
    MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL);
    CHECK_EQUAL(MPI_File_write_at(file, 9, longs, 1, MPI_LONG, MPI_STATUS_IGNORE),
                MPI_ERR_CONVERSION);
    MPI_Type_free(&strided);
    MPI_Type_free(&pair);
    MPI_File_close(&file);
}

/* Integers as decimal text of eight characters. */
static int text_extent(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    (void)state;
    *extent = type == MPI_INT ? 8 : 1;
    return MPI_SUCCESS;
}

static int text_write(void *memory, MPI_Datatype type, int count, void *in_file,
                      MPI_Offset position, void *state)
{
    char text[16];

    (void)type;
    ++*(int *)state;
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof(text), "%8d", ((const int *)memory)[position + i]);
        memcpy((char *)in_file + (size_t)i * 8, text, 8);
    }
    return MPI_SUCCESS;
}

static int text_read(void *memory, MPI_Datatype type, int count, void *in_file, MPI_Offset position,
                     void *state)
{
    char text[9] = "";

    (void)type;
    ++*(int *)state;
    for (int i = 0; i < count; i++) {
        memcpy(text, (const char *)in_file + (size_t)i * 8, 8);
        ((int *)memory)[position + i] = atoi(text);
    }
    return MPI_SUCCESS;
}

static void check_registered(void)
{
    static int calls;
    int numbers[4] = {rank, 10, -200, 3000}, back[4] = {0, 0, 0, 0}, got;
    MPI_File file = fresh(MPI_MODE_RDWR);
    MPI_Request request;
    MPI_Status status;
    char text[33] = "";

    CHECK_EQUAL(MPI_Register_datarep("text", text_read, text_write, text_extent, &calls),
                MPI_SUCCESS);
    CHECK_EQUAL(MPI_Register_datarep("text", text_read, text_write, text_extent, &calls),
                MPI_ERR_DUP_DATAREP);
    MPI_File_set_view(file, rank * 32, MPI_INT, MPI_INT, "text", MPI_INFO_NULL);
    CHECK_EQUAL(MPI_File_write_all(file, numbers, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_File_iread_at(file, 1, back, 3, MPI_INT, &request);
    MPI_Wait(&request, &status);
    CHECK(back[0] == 10 && back[1] == -200 && back[2] == 3000);
    MPI_Get_count(&status, MPI_INT, &got);
    CHECK_EQUAL(got, 3);
    CHECK_EQUAL(calls, 2);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, rank * 32 + 8, text, 24, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK(strcmp(text, "      10    -200    3000") == 0);
    MPI_File_close(&file);
}

/* ---- Hints and handlers ---- */

static void check_hints(void)
{
    MPI_Info info, used;
    MPI_File file;
    char value[64];
    int flag;

    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "8192");
    MPI_Info_set(info, "romio_cb_write", "perhaps");
    MPI_Info_set(info, "a_hint_of_another_library", "1");
    CHECK_EQUAL(MPI_File_open(MPI_COMM_WORLD, name,
                              MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info,
                              &file),
                MPI_SUCCESS);
    MPI_File_get_info(file, &used);
    MPI_Info_get(used, "cb_buffer_size", 63, value, &flag);
    CHECK(flag && strcmp(value, "8192") == 0);
    MPI_Info_get(used, "romio_cb_write", 63, value, &flag);
    CHECK(flag && strcmp(value, "automatic") == 0);
    MPI_Info_get(used, "a_hint_of_another_library", 63, value, &flag);
    CHECK(!flag);
    MPI_Info_free(&used);
    MPI_Info_set(info, "romio_cb_write", "disable");
    MPI_File_set_info(file, info);
    MPI_File_get_info(file, &used);
    MPI_Info_get(used, "romio_cb_write", 63, value, &flag);
    CHECK(flag && strcmp(value, "disable") == 0);
    MPI_Info_free(&used);
    MPI_Info_free(&info);
    MPI_File_close(&file);
}

static MPI_File seen_file;
static int seen_code;

static void see(MPI_File *file, int *code, ...)
{
    seen_file = *file;
    seen_code = *code;
}

static void pardon(MPI_File *file, int *code, ...)
{
    see(file, code);
    *code = MPI_SUCCESS;
}

/* A handler may write MPI_SUCCESS over the code; the next error has its own again. */
static void check_pardon(void)
{
    MPI_File file = fresh(MPI_MODE_RDWR);
    MPI_Errhandler handler;
    MPI_Offset at;

    MPI_File_create_errhandler(pardon, &handler);
    MPI_File_set_errhandler(file, handler);
    MPI_Errhandler_free(&handler);
    MPI_File_seek(file, 3, MPI_SEEK_SET);
    seen_code = MPI_SUCCESS;
    CHECK_EQUAL(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_SUCCESS);
    CHECK_EQUAL(seen_code, MPI_ERR_ARG);
    MPI_File_get_position(file, &at);
    CHECK_EQUAL(at, 3);
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    MPI_File_close(&file);
}

static void check_handlers(void)
{
    MPI_Errhandler handler, found;
    MPI_File file = fresh(MPI_MODE_RDWR);
    MPI_Request request;
    MPI_Status status;

    MPI_File_get_errhandler(file, &found);
    CHECK(found == MPI_ERRORS_RETURN);
    MPI_File_create_errhandler(see, &handler);
    CHECK_EQUAL(MPI_File_set_errhandler(file, handler), MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK(seen_file == file && seen_code == MPI_ERR_ARG);
    CHECK_EQUAL(MPI_File_call_errhandler(file, MPI_ERR_QUOTA), MPI_SUCCESS);
    CHECK_EQUAL(seen_code, MPI_ERR_QUOTA);
    /* An error that is found later goes the same way: into a closed descriptor no data can go. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_close(&file);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    CHECK_EQUAL(
        MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
        MPI_ERR_NO_SUCH_FILE);
    CHECK(seen_file == MPI_FILE_NULL && seen_code == MPI_ERR_NO_SUCH_FILE);
    if (access("/dev/full", W_OK) == 0) {
        CHECK_EQUAL(
            MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file),
            MPI_SUCCESS);
        CHECK_EQUAL(MPI_File_iwrite_at(file, 0, name, 1, MPI_CHAR, &request), MPI_SUCCESS);
        CHECK_EQUAL(MPI_Wait(&request, &status), MPI_ERR_NO_SPACE);
        CHECK(seen_file == file && seen_code == MPI_ERR_NO_SPACE);
        MPI_File_close(&file);
    }
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
}

/* ---- Errors ---- */

static int open_with(const char *path, int amode)
{
    MPI_File file;
    int code = MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file);

    CHECK((code == MPI_SUCCESS) == (file != MPI_FILE_NULL));
    if (code == MPI_SUCCESS)
        MPI_File_close(&file);
    return code;
}

static void check_open_errors(void)
{
    static const struct {
        int amode, code;
    } modes[] = {
        {0, MPI_ERR_AMODE},
        {MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_ERR_AMODE},
        {MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_ERR_AMODE},
        {MPI_MODE_RDONLY | MPI_MODE_EXCL, MPI_ERR_AMODE},
        {MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL, MPI_ERR_AMODE},
        {MPI_MODE_RDWR | 0x40000, MPI_ERR_AMODE},
        {MPI_MODE_RDONLY, MPI_ERR_NO_SUCH_FILE},
        {MPI_MODE_RDWR, MPI_ERR_NO_SUCH_FILE},
        {MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_SUCCESS},
        {MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_ERR_FILE_EXISTS},
        {MPI_MODE_RDONLY | MPI_MODE_UNIQUE_OPEN, MPI_SUCCESS},
    };
    MPI_File file;

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        CHECK_EQUAL(open_with(name, modes[i].amode), modes[i].code);
    CHECK_EQUAL(open_with("/", MPI_MODE_RDONLY), MPI_ERR_BAD_FILE);
    CHECK_EQUAL(open_with("", MPI_MODE_RDONLY), MPI_ERR_BAD_FILE);
    CHECK_EQUAL(MPI_File_open(MPI_COMM_NULL, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                MPI_ERR_COMM);
    CHECK_EQUAL(MPI_File_open(MPI_COMM_SELF, NULL, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                MPI_ERR_ARG);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK_EQUAL(MPI_File_delete(name, MPI_INFO_NULL), MPI_SUCCESS);
        CHECK_EQUAL(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    }
    if (geteuid() != 0)
        CHECK_EQUAL(open_with("/etc/shadow", MPI_MODE_RDONLY), MPI_ERR_ACCESS);
}

/* A head, then every second int of a row, whose bounds were set: those are the bounds of all, and
 * are less than what the data spans. Good for one copy. PnetCDF makes such types. */
static void check_small_extent(MPI_File file)
{
    enum { HEAD = 16, INTS = 3 };
    int lengths[2] = {HEAD, 1}, data[INTS], row[2 * INTS];
    MPI_Aint places[2] = {0, HEAD}, lb, extent;
    MPI_Datatype parts[2] = {MPI_BYTE}, vector, type;

    MPI_Type_vector(INTS, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 2 * INTS * (MPI_Aint)sizeof(int), &parts[1]);
    MPI_Type_create_struct(2, lengths, places, parts, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK(lb == HEAD && extent < HEAD + (2 * INTS - 1) * (MPI_Aint)sizeof(int));
    for (int i = 0; i < INTS; i++)
        data[i] = 10 + i;
    CHECK_EQUAL(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_EQUAL(
        MPI_File_write_at_all(file, HEAD, data, rank == 0 ? INTS : 0, MPI_INT, MPI_STATUS_IGNORE),
        MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_write_at(file, HEAD, data, INTS + 1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_ERR_ARG); /* beyond the first copy */
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_view(file, HEAD, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, row, 2 * INTS - 1, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * INTS - 1; i++)
        CHECK_EQUAL(row[i], i % 2 == 0 ? 10 + i / 2 : 0);
    MPI_Type_free(&vector);
    MPI_Type_free(&parts[1]);
    MPI_Type_free(&type);
}

/* Some members have data and an offset, others call with none at their pointers. */
static void check_mixed(MPI_File file)
{
    int number = 7, found = 0;

    MPI_Barrier(MPI_COMM_WORLD); /* all have read what was there */
    if (rank == 0)
        CHECK_EQUAL(MPI_File_write_at_all(file, 4, &number, 1, MPI_INT, MPI_STATUS_IGNORE), 0);
    else
        CHECK_EQUAL(MPI_File_write_all(file, NULL, 0, MPI_INT, MPI_STATUS_IGNORE), 0);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1)
        CHECK_EQUAL(MPI_File_read_at_all(file, 4, &found, 1, MPI_INT, MPI_STATUS_IGNORE), 0);
    else
        CHECK_EQUAL(MPI_File_read_all(file, NULL, 0, MPI_INT, MPI_STATUS_IGNORE), 0);
    CHECK_EQUAL(found, rank == size - 1 ? 7 : 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A filetype without data: the member takes part, with nothing. */
static void check_empty(MPI_File file)
{
    int number = 8, none = 0, place = 0;
    MPI_Datatype type = MPI_INT;

    if (rank > 0) {
        MPI_Type_indexed(1, &none, &place, MPI_INT, &type);
        MPI_Type_commit(&type);
    }
    CHECK_EQUAL(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_write_at_all(file, 0, &number, rank == 0, MPI_INT, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    if (rank > 0) {
        CHECK_EQUAL(MPI_File_write_at(file, 0, &number, 1, MPI_INT, MPI_STATUS_IGNORE),
                    MPI_ERR_ARG);
        MPI_Type_free(&type);
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS);
    number = 0;
    MPI_File_read_at_all(file, 0, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK_EQUAL(number, 8);
}

/* Filetypes that files which may be written cannot have. */
static void check_filetypes(MPI_File file)
{
    const int blocks[3][2][2] = {{{1, 1}, {5, 3}}, {{3, 1}, {0, 1}}, {{1, 1}, {-2, 2}}};

    for (int i = 0; i < 3; i++) { /* decreasing, overlapping, negative */
        MPI_Datatype type;

        MPI_Type_indexed(2, blocks[i][0], blocks[i][1], MPI_INT, &type);
        MPI_Type_commit(&type);
        CHECK_EQUAL(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), MPI_ERR_IO);
        MPI_Type_free(&type);
    }
}

static void check_access_errors(MPI_File file)
{
    MPI_Datatype type, etype;
    int buffer[4];
    MPI_Request request;

    CHECK_EQUAL(MPI_File_read_at(file, -1, buffer, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_File_read(file, buffer, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    CHECK_EQUAL(MPI_File_read(file, buffer, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CHECK_EQUAL(MPI_File_read(file, NULL, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_File_iread(file, buffer, 1, MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_File_read_at(file, INT64_MAX / 2, buffer, 1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_ERR_ARG);
    CHECK_EQUAL(MPI_File_seek(file, 0, 7), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_File_set_size(file, -1), MPI_ERR_ARG);
    MPI_Type_contiguous(2, MPI_INT, &type);
    CHECK_EQUAL(MPI_File_read(file, buffer, 1, type, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CHECK_EQUAL(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    MPI_Type_commit(&type);
    CHECK_EQUAL(MPI_File_set_view(file, 0, MPI_INT, type, "paper", MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK_EQUAL(MPI_File_set_view(file, -5, MPI_INT, type, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_EQUAL(
        MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, type, "native", MPI_INFO_NULL),
        MPI_ERR_ARG);
    check_filetypes(file);
    MPI_Type_contiguous(3, MPI_INT, &etype);
    MPI_Type_commit(&etype);
    CHECK_EQUAL(MPI_File_set_view(file, 0, etype, type, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    CHECK_EQUAL(MPI_File_set_view(file, 0, type, type, "native", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_read(file, buffer, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_File_read_all_end(file, buffer, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    CHECK_EQUAL(MPI_File_read_all_begin(file, buffer, 1, type), MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_read_all(file, buffer, 1, type, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    CHECK_EQUAL(MPI_File_write_all_end(file, buffer, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    CHECK_EQUAL(MPI_File_read_all_end(file, buffer + 1, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_File_close(&file), MPI_ERR_OTHER);
    CHECK_EQUAL(MPI_File_read_all_end(file, buffer, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_iread_at(file, 0, buffer, 1, type, &request), MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_close(&file), MPI_ERR_PENDING);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&etype);
    MPI_Type_free(&type);
}

static void check_mode_errors(void)
{
    MPI_File file = fresh(MPI_MODE_WRONLY), closed;
    int number = 1;
    MPI_Offset at;

    CHECK_EQUAL(MPI_File_read(file, &number, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    MPI_File_close(&file);
    file = file_open("/dev/null", MPI_MODE_RDONLY);
    CHECK_EQUAL(MPI_File_write(file, &number, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    CHECK_EQUAL(MPI_File_set_size(file, 1), MPI_ERR_READ_ONLY);
    closed = file;
    MPI_File_close(&file);
    CHECK_EQUAL(MPI_File_get_position(file, &at), MPI_ERR_FILE);
    CHECK_EQUAL(MPI_File_get_position(closed, &at), MPI_ERR_FILE);
    file = fresh(MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    CHECK_EQUAL(MPI_File_write(file, &number, 1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQUAL(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQUAL(MPI_File_write_shared(file, &number, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native",
                                  MPI_INFO_NULL),
                MPI_SUCCESS);
    CHECK_EQUAL(MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_File_get_size(file, &at);
    CHECK(at > size * 4);
    MPI_File_close(&file);
}

/* Ranks name different files: all are told. */
static void check_different_names(void)
{
    char other[NAME + 8];
    MPI_File file;
    int amode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, code;

    if (size == 1)
        return;
    snprintf(other, sizeof(other), "%s%s", name, rank == size - 1 ? "-other" : "");
    code = MPI_File_open(MPI_COMM_WORLD, other, amode, MPI_INFO_NULL, &file);
    CHECK(code == MPI_ERR_NOT_SAME || code == MPI_ERR_NO_SUCH_FILE || file != MPI_FILE_NULL);
    if (file != MPI_FILE_NULL) /* processes see names of their own */
        MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(other);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_File file;

    /* "threads": a rank waits for the kernel as a visitor of its worker. */
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    file_name(name, "calls");
    check_size_and_mode();
    check_view();
    check_shared();
    check_refused_pointer();
    check_ordered();
    check_append();
    check_external();
    check_registered();
    check_hints();
    check_handlers();
    check_pardon();
    check_open_errors();
    file = fresh(MPI_MODE_RDWR);
    check_small_extent(file);
    check_mixed(file);
    check_empty(file);
    MPI_File_close(&file);
    file = fresh(MPI_MODE_RDWR);
    check_access_errors(file);
    MPI_File_close(&file);
    check_mode_errors();
    check_different_names();
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small format that describes itself, written and read in parallel as libraries for such formats
 * do. A file has a header, then the variables, all in external32:
 *
 *   "XYFORM1\n", number of variables, for each: name, kind, three dimensions, offset
 *   the data of each variable in C order
 *
 * It is written in blocks of three dimensions and read in slabs of another one, by fewer ranks too,
 * and once more as plain bytes without MPI.
 */
#include <stdint.h>

#include "file.h"

enum { VARIABLES = 3, TEXT = 16, HEADER = 8 + 4 + VARIABLES * (TEXT + 4 + 4 * 8) };

typedef struct {
    char name[TEXT];
    int is_real; /* double, else int */
    long long dims[3], offset;
} variable_t;

typedef struct {
    int count;
    variable_t variables[VARIABLES];
} header_t;

static int rank, size;

/* ---- What is in it ---- */

static double value_at(int variable, const long long at[3])
{
    double value = (double)(at[0] * 10000 + at[1] * 100 + at[2]);

    return variable == 1 ? value : -value / 8;
}

static long long cells(const variable_t *v)
{
    return v->dims[0] * v->dims[1] * v->dims[2];
}

static header_t make_header(void)
{
    static const long long dims[VARIABLES][3] = {{13, 9, 20}, {7, 11, 6}, {5, 1, 3}};
    static const char *const names[VARIABLES] = {"temperature", "region", "edge"};
    header_t h = {.count = VARIABLES};
    long long offset = HEADER;

    for (int i = 0; i < VARIABLES; i++) {
        variable_t *v = &h.variables[i];

        strcpy(v->name, names[i]);
        v->is_real = i != 1;
        memcpy(v->dims, dims[i], sizeof(dims[i]));
        v->offset = offset;
        offset += cells(v) * (v->is_real ? 8 : 4);
    }
    return h;
}

/* ---- The header ---- */

static void pack(char *to, MPI_Aint *at, const void *from, int count, MPI_Datatype type)
{
    MPI_Pack_external("external32", from, count, type, to, HEADER, at);
}

static void write_header(MPI_File file, const header_t *h)
{
    char bytes[HEADER];
    MPI_Aint at = 0;

    pack(bytes, &at, "XYFORM1\n", 8, MPI_CHAR);
    pack(bytes, &at, &h->count, 1, MPI_INT);
    for (int i = 0; i < h->count; i++) {
        const variable_t *v = &h->variables[i];

        pack(bytes, &at, v->name, TEXT, MPI_CHAR);
        pack(bytes, &at, &v->is_real, 1, MPI_INT);
        pack(bytes, &at, v->dims, 3, MPI_LONG_LONG);
        pack(bytes, &at, &v->offset, 1, MPI_LONG_LONG);
    }
    CHECK_EQUAL(at, HEADER);
    if (rank == 0)
        CHECK_EQUAL(MPI_File_write_at(file, 0, bytes, HEADER, MPI_BYTE, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
}

static void unpack(const char *from, MPI_Aint *at, void *to, int count, MPI_Datatype type)
{
    MPI_Unpack_external("external32", from, HEADER, at, to, count, type);
}

static header_t read_header(MPI_File file)
{
    char bytes[HEADER];
    MPI_Aint at = 8;
    header_t h = {0};

    CHECK_EQUAL(MPI_File_read_at_all(file, 0, bytes, HEADER, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    CHECK(memcmp(bytes, "XYFORM1\n", 8) == 0);
    unpack(bytes, &at, &h.count, 1, MPI_INT);
    CHECK_EQUAL(h.count, VARIABLES);
    for (int i = 0; i < h.count; i++) {
        variable_t *v = &h.variables[i];

        unpack(bytes, &at, v->name, TEXT, MPI_CHAR);
        unpack(bytes, &at, &v->is_real, 1, MPI_INT);
        unpack(bytes, &at, v->dims, 3, MPI_LONG_LONG);
        unpack(bytes, &at, &v->offset, 1, MPI_LONG_LONG);
    }
    return h;
}

/* ---- Blocks of a variable ---- */

typedef struct {
    int sizes[3], counts[3], starts[3];
} block_t;

/* The part of a rank that is at `place` of `ranks` in each dimension. */
static block_t find_block(const variable_t *v, const int ranks[3], const int place[3])
{
    block_t b;

    for (int d = 0; d < 3; d++) {
        b.sizes[d] = (int)v->dims[d];
        b.starts[d] = b.sizes[d] * place[d] / ranks[d];
        b.counts[d] = b.sizes[d] * (place[d] + 1) / ranks[d] - b.starts[d];
    }
    return b;
}

static int block_cells(const block_t *b)
{
    return b->counts[0] * b->counts[1] * b->counts[2];
}

/* The view of a block; one without cells sees anything, and takes nothing of it. */
static void set_view(MPI_File file, const variable_t *v, const block_t *b)
{
    MPI_Datatype element = v->is_real ? MPI_DOUBLE : MPI_INT, type;

    if (block_cells(b) > 0)
        MPI_Type_create_subarray(3, b->sizes, b->counts, b->starts, MPI_ORDER_C, element, &type);
    else
        MPI_Type_contiguous(1, element, &type);
    MPI_Type_commit(&type);
    CHECK_EQUAL(MPI_File_set_view(file, v->offset, element, type, "external32", MPI_INFO_NULL),
                MPI_SUCCESS);
    MPI_Type_free(&type);
}

static void place_of(const block_t *b, int i, long long at[3])
{
    at[0] = b->starts[0] + i / (b->counts[1] * b->counts[2]);
    at[1] = b->starts[1] + i / b->counts[2] % b->counts[1];
    at[2] = b->starts[2] + i % b->counts[2];
}

static void write_variable(MPI_File file, const variable_t *v, int index)
{
    int ranks[3] = {0, 0, 0}, place[3];
    long long at[3];
    block_t b;
    double *reals;
    int *numbers, n;

    MPI_Dims_create(size, 3, ranks);
    place[0] = rank / (ranks[1] * ranks[2]);
    place[1] = rank / ranks[2] % ranks[1];
    place[2] = rank % ranks[2];
    b = find_block(v, ranks, place);
    n = block_cells(&b);
    reals = malloc(((size_t)n + 1) * sizeof(double));
    numbers = malloc(((size_t)n + 1) * sizeof(int));
    for (int i = 0; i < n; i++) {
        place_of(&b, i, at);
        reals[i] = value_at(index, at);
        numbers[i] = (int)value_at(index, at);
    }
    set_view(file, v, &b);
    if (v->is_real)
        MPI_File_write_all(file, reals, n, MPI_DOUBLE, MPI_STATUS_IGNORE);
    else
        MPI_File_write_all(file, numbers, n, MPI_INT, MPI_STATUS_IGNORE);
    free(reals);
    free(numbers);
}

/* In slabs of the last dimension, all at once, while other variables are read as well. */
static void read_variable(MPI_File file, const variable_t *v, int index, int readers)
{
    int ranks[3] = {1, 1, readers}, place[3] = {0, 0, rank}, n, got;
    block_t b = find_block(v, ranks, place);
    MPI_Datatype element = v->is_real ? MPI_DOUBLE : MPI_INT;
    MPI_Request request;
    MPI_Status status;
    long long at[3];
    void *data;

    n = block_cells(&b);
    data = malloc(((size_t)n + 1) * 8);
    set_view(file, v, &b);
    MPI_File_iread_all(file, data, n, element, &request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, element, &got);
    CHECK_EQUAL(got, n);
    for (int i = 0; i < n; i++) {
        place_of(&b, i, at);
        CHECK((v->is_real ? ((double *)data)[i] : ((int *)data)[i]) == value_at(index, at));
    }
    free(data);
}

/* ---- Without MPI ---- */

static void check_bytes(const char *name, const header_t *h)
{
    for (int i = 0; i < h->count; i++) {
        const variable_t *v = &h->variables[i];
        long long last[3] = {v->dims[0] - 1, v->dims[1] - 1, v->dims[2] - 1};
        int width = v->is_real ? 8 : 4;
        unsigned char bytes[8];
        uint64_t bits = 0;
        double real;
        FILE *file = fopen(name, "rb");

        CHECK(file != NULL);
        fseek(file, (long)(v->offset + (cells(v) - 1) * width), SEEK_SET);
        CHECK_EQUAL(fread(bytes, 1, (size_t)width, file), width);
        fclose(file);
        for (int k = 0; k < width; k++)
            bits = bits << 8 | bytes[k];
        memcpy(&real, &bits, sizeof(real));
        CHECK((v->is_real ? real : (double)(int32_t)bits) == value_at(i, last));
    }
}

int main(int argc, char **argv)
{
    header_t made = make_header(), h;
    int readers;
    MPI_Comm some;
    MPI_File file;
    char name[NAME];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    file_name(name, "format");
    file = file_open(name, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    write_header(file, &made);
    for (int i = 0; i < made.count; i++)
        write_variable(file, &made.variables[i], i);
    CHECK_EQUAL(MPI_File_close(&file), MPI_SUCCESS);
    if (rank == 0)
        check_bytes(name, &made);
    readers = size > 2 ? size - 1 : size;
    MPI_Comm_split(MPI_COMM_WORLD, rank < readers ? 0 : MPI_UNDEFINED, rank, &some);
    if (some != MPI_COMM_NULL) {
        CHECK_EQUAL(MPI_File_open(some, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_SUCCESS);
        h = read_header(file);
        for (int i = 0; i < h.count; i++)
            read_variable(file, &h.variables[i], i, readers);
        MPI_File_close(&file);
        MPI_Comm_free(&some);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK_EQUAL(MPI_File_delete(name, MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Finalize();
    return 0;
}

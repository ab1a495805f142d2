/* SPDX-License-Identifier: BSD-3-Clause */
/* The representation external32: the bytes that it has, and that they come back as they were. */
#include <complex.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <wchar.h>

#include "check.h"

static void check_bytes(const void *data, int count, MPI_Datatype type, const char *bytes, int n)
{
    char buffer[256];
    MPI_Aint position = 3, size;

    CHECK_EQUAL(MPI_Pack_external_size("external32", count, type, &size), MPI_SUCCESS);
    CHECK_EQUAL(size, n);
    memset(buffer, 0x55, sizeof buffer);
    CHECK_EQUAL(MPI_Pack_external("external32", data, count, type, buffer, 3 + n, &position),
                MPI_SUCCESS);
    CHECK_EQUAL(position, 3 + n);
    CHECK(memcmp(buffer + 3, bytes, (size_t)n) == 0);
    CHECK(buffer[2] == 0x55 && buffer[3 + n] == 0x55);
}

/* Values of known bytes. */
static void check_basic(void)
{
    const short shorts[2] = {1, -2};
    const int number = 0x01020304;
    const long longs[2] = {-2, 70000};
    const long long wide = 0x0102030405060708;
    const float single = 1.0f;
    const double two[2] = {-2.0, 1.0};
    const long double extended = -1.5L;
    const _Bool truth = 1;
    const wchar_t letter = L'A';
    const float complex both = 1.0f - 2.0f * I;
    struct {
        long value;
        int index;
    } pair = {-3, 5};

    check_bytes(shorts, 2, MPI_SHORT, "\0\1\377\376", 4);
    check_bytes(&number, 1, MPI_INT, "\1\2\3\4", 4);
    check_bytes(&number, 4, MPI_BYTE, (const char *)&number, 4);
    check_bytes(longs, 2, MPI_LONG, "\377\377\377\376\0\1\21\160", 8);
    check_bytes(&wide, 1, MPI_INT64_T, "\1\2\3\4\5\6\7\10", 8);
    check_bytes(&single, 1, MPI_FLOAT, "\77\200\0\0", 4);
    check_bytes(two, 2, MPI_DOUBLE, "\300\0\0\0\0\0\0\0\77\360\0\0\0\0\0\0", 16);
    check_bytes(&extended, 1, MPI_LONG_DOUBLE, "\277\377\200\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    check_bytes(&truth, 1, MPI_C_BOOL, "\1", 1);
    check_bytes(&truth, 1, MPI_CXX_BOOL, "\1", 1);
    check_bytes(&letter, 1, MPI_WCHAR, "\0A", 2);
    check_bytes(&both, 1, MPI_C_COMPLEX, "\77\200\0\0\300\0\0\0", 8);
    check_bytes(&pair, 1, MPI_LONG_INT, "\377\377\377\375\0\0\0\5", 8);
}

/* The table of the standard, with the optional types. */
static void check_sizes(void)
{
    const struct {
        MPI_Datatype type;
        int bytes;
    } table[] = {{MPI_PACKED, 1},
                 {MPI_BYTE, 1},
                 {MPI_CHAR, 1},
                 {MPI_SIGNED_CHAR, 1},
                 {MPI_UNSIGNED_CHAR, 1},
                 {MPI_WCHAR, 2},
                 {MPI_SHORT, 2},
                 {MPI_UNSIGNED_SHORT, 2},
                 {MPI_INT, 4},
                 {MPI_UNSIGNED, 4},
                 {MPI_LONG, 4},
                 {MPI_UNSIGNED_LONG, 4},
                 {MPI_LONG_LONG_INT, 8},
                 {MPI_UNSIGNED_LONG_LONG, 8},
                 {MPI_FLOAT, 4},
                 {MPI_DOUBLE, 8},
                 {MPI_LONG_DOUBLE, 16},
                 {MPI_C_BOOL, 1},
                 {MPI_CXX_BOOL, 1},
                 {MPI_INT8_T, 1},
                 {MPI_INT16_T, 2},
                 {MPI_INT32_T, 4},
                 {MPI_INT64_T, 8},
                 {MPI_UINT8_T, 1},
                 {MPI_UINT16_T, 2},
                 {MPI_UINT32_T, 4},
                 {MPI_UINT64_T, 8},
                 {MPI_AINT, 8},
                 {MPI_COUNT, 8},
                 {MPI_OFFSET, 8},
                 {MPI_C_COMPLEX, 8},
                 {MPI_C_DOUBLE_COMPLEX, 16},
                 {MPI_C_LONG_DOUBLE_COMPLEX, 32},
                 {MPI_CXX_FLOAT_COMPLEX, 8},
                 {MPI_CXX_DOUBLE_COMPLEX, 16},
                 {MPI_CXX_LONG_DOUBLE_COMPLEX, 32},
                 {MPI_CHARACTER, 1},
                 {MPI_LOGICAL, 4},
                 {MPI_INTEGER, 4},
                 {MPI_REAL, 4},
                 {MPI_DOUBLE_PRECISION, 8},
                 {MPI_COMPLEX, 8},
                 {MPI_DOUBLE_COMPLEX, 16},
                 {MPI_INTEGER1, 1},
                 {MPI_INTEGER2, 2},
                 {MPI_INTEGER4, 4},
                 {MPI_INTEGER8, 8},
                 {MPI_REAL4, 4},
                 {MPI_REAL8, 8},
                 {MPI_COMPLEX8, 8},
                 {MPI_COMPLEX16, 16}};

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        MPI_Aint size;

        MPI_Pack_external_size("external32", 3, table[i].type, &size);
        CHECK_EQUAL(size, 3 * table[i].bytes);
    }
}

typedef struct {
    char letter;
    long numbers[3];
    long double extended;
    short half;
    double _Complex z;
} record_t;

static MPI_Datatype record_type(void)
{
    int lengths[5] = {1, 3, 1, 1, 1};
    MPI_Aint places[5] = {offsetof(record_t, letter), offsetof(record_t, numbers),
                          offsetof(record_t, extended), offsetof(record_t, half),
                          offsetof(record_t, z)};
    MPI_Datatype types[5] = {MPI_CHAR, MPI_LONG, MPI_LONG_DOUBLE, MPI_SHORT, MPI_C_DOUBLE_COMPLEX};
    MPI_Datatype plain, record;

    MPI_Type_create_struct(5, lengths, places, types, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(record_t), &record);
    MPI_Type_commit(&record);
    MPI_Type_free(&plain);
    return record;
}

/* Records with gaps, every second one of an array. */
static void check_records(void)
{
    enum { N = 6, EXTERNAL = 1 + 3 * 4 + 16 + 2 + 16 };
    record_t in[N], out[N];
    MPI_Datatype record = record_type(), every;
    MPI_Count position = 0, size;
    char buffer[3 * EXTERNAL];

    MPI_Type_vector(3, 1, 2, record, &every);
    MPI_Type_commit(&every);
    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    for (int i = 0; i < N; i++)
        in[i] = (record_t){(char)('a' + i), {i, -i, INT_MAX - i}, sqrtl(i), (short)-i, i - I};
    MPI_Pack_external_size_c("external32", 1, every, &size);
    CHECK_EQUAL(size, 3 * EXTERNAL);
    CHECK_EQUAL(MPI_Pack_external_c("external32", in, 1, every, buffer, size, &position),
                MPI_SUCCESS);
    position = 0;
    CHECK_EQUAL(MPI_Unpack_external_c("external32", buffer, size, &position, out, 1, every),
                MPI_SUCCESS);
    CHECK_EQUAL(position, size);
    for (int i = 0; i < N; i += 2) {
        CHECK(in[i].letter == out[i].letter && in[i].half == out[i].half);
        CHECK(memcmp(in[i].numbers, out[i].numbers, sizeof in[i].numbers) == 0);
        CHECK(in[i].extended == out[i].extended && in[i].z == out[i].z);
    }
    CHECK_EQUAL(out[1].letter, 0);
    MPI_Type_free(&every);
    MPI_Type_free(&record);
}

static void check_errors(void)
{
    const long large = 1L << 40;
    char buffer[8];
    MPI_Aint position = 0;
    int number = 1;

    CHECK_EQUAL(MPI_Pack_external("external32", &large, 1, MPI_LONG, buffer, 8, &position),
                MPI_ERR_CONVERSION);
    CHECK_EQUAL(MPI_Pack_external("native", &number, 1, MPI_INT, buffer, 8, &position),
                MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Pack_external("external32", &number, 1, MPI_INT, buffer, 3, &position),
                MPI_ERR_TRUNCATE);
    CHECK_EQUAL(MPI_Unpack_external("external32", buffer, 3, &position, &number, 1, MPI_INT),
                MPI_ERR_TRUNCATE);
    CHECK_EQUAL(position, 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check_basic();
    check_sizes();
    check_records();
    check_errors();
    MPI_Finalize();
    return 0;
}

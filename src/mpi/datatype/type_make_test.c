/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making and asking datatypes: distributed arrays, the examples of the standard, contents, names,
 * lives, errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "mpi/datatype/datatype.h"
#include "testing/mpi_object.h"

static unsigned random_state;

static int random_in(int low, int high)
{
    random_state = random_state * 1103515245u + 12345u;
    return low + (int)((random_state >> 8) % (unsigned)(high - low + 1));
}

/* ---- Distributed arrays ------------------------------------------------------------------ */

static MPI_Count owner_of(int distribution, int darg, MPI_Count n, int p, MPI_Count index)
{
    MPI_Count block = distribution == MPI_DISTRIBUTE_NONE     ? n
                      : darg != MPI_DISTRIBUTE_DFLT_DARG      ? darg
                      : distribution == MPI_DISTRIBUTE_CYCLIC ? 1
                                                              : (n + p - 1) / p;

    return index / block % p;
}

/* Every element of the array belongs to exactly one process, the one the distribution says, and
 * the shares come in the order of the array. */
static void test_darray(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        int gsizes[2], distribs[2], dargs[2], psizes[2], order, taken = 0;
        unsigned char array[400];

        random_state = (unsigned)round * 31u + 5;
        order = random_in(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
        for (int d = 0; d < 2; d++) {
            int kind = random_in(0, 2);

            gsizes[d] = random_in(1, 20);
            psizes[d] = kind == 2 ? 1 : random_in(1, 4);
            distribs[d] = kind == 0   ? MPI_DISTRIBUTE_BLOCK
                          : kind == 1 ? MPI_DISTRIBUTE_CYCLIC
                                      : MPI_DISTRIBUTE_NONE;
            dargs[d] = kind == 1 && random_in(0, 1) ? random_in(1, 4) : MPI_DISTRIBUTE_DFLT_DARG;
        }
        for (int i = 0; i < 400; i++)
            array[i] = (unsigned char)i;
        for (int rank = 0; rank < psizes[0] * psizes[1]; rank++) {
            unsigned char packed[400], expected[400];
            MPI_Datatype t;
            int size, n = 0, slow = order == MPI_ORDER_C ? 0 : 1, fast = 1 - slow;

            assert_int_equal(PMPI_Type_create_darray(psizes[0] * psizes[1], rank, 2, gsizes,
                                                     distribs, dargs, psizes, order, MPI_BYTE, &t),
                             0);
            PMPI_Type_size(t, &size);
            mpi_type_pack(packed, array, 1, mpi_type_of(t), 0, (size_t)size);
            for (int s = 0; s < gsizes[slow]; s++)
                for (int f = 0; f < gsizes[fast]; f++) {
                    int at[2];
                    MPI_Count o[2];

                    at[slow] = s;
                    at[fast] = f;
                    for (int d = 0; d < 2; d++)
                        o[d] = owner_of(distribs[d], dargs[d], gsizes[d], psizes[d], at[d]);
                    if (o[0] * psizes[1] + o[1] == rank)
                        expected[n++] = array[s * gsizes[fast] + f];
                }
            assert_int_equal(size, n);
            assert_memory_equal(packed, expected, (size_t)n);
            assert_int_equal(mpi_type_of(t)->extent, gsizes[0] * gsizes[1]);
            taken += n;
            PMPI_Type_free(&t);
        }
        assert_int_equal(taken, gsizes[0] * gsizes[1]);
    }
}

/* ---- Examples of the standard ------------------------------------------------------------ */

static void test_standard_examples(void **state)
{
    MPI_Aint places[2] = {0, 8}, lb, extent;
    int lengths[2] = {1, 1}, one[2] = {3, 1}, two[2] = {4, 0}, size;
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_CHAR}, t, u;

    (void)state;
    /* {(double, 0), (char, 8)} has extent 16; three of them 48. */
    PMPI_Type_create_struct(2, lengths, places, types, &t);
    PMPI_Type_get_extent(t, &lb, &extent);
    assert_int_equal(extent, 16);
    PMPI_Type_contiguous(3, t, &u);
    PMPI_Type_get_extent(u, &lb, &extent);
    assert_int_equal(extent, 48);
    PMPI_Type_size(u, &size);
    assert_int_equal(size, 27);
    PMPI_Type_free(&u);
    /* Indexed with blocks 3 and 1 at 4 and 0: lower bound 0, upper bound 112. */
    PMPI_Type_indexed(2, one, two, t, &u);
    PMPI_Type_get_extent(u, &lb, &extent);
    assert_int_equal(lb, 0);
    assert_int_equal(extent, 112);
    PMPI_Type_free(&u);
    /* A vector with a negative stride begins below its buffer. */
    PMPI_Type_vector(1, 3, -2, t, &u);
    PMPI_Type_get_extent(u, &lb, &extent);
    assert_int_equal(lb, 0);
    PMPI_Type_free(&u);
    PMPI_Type_vector(2, 1, -2, t, &u);
    PMPI_Type_get_extent(u, &lb, &extent);
    assert_int_equal(lb, -32);
    PMPI_Type_free(&u);
    /* Resized bounds stay with the type they were given to, through dup and contiguous. */
    PMPI_Type_create_resized(MPI_INT, -3, 9, &u);
    PMPI_Type_free(&t);
    PMPI_Type_contiguous(2, u, &t);
    PMPI_Type_get_extent(t, &lb, &extent);
    assert_int_equal(lb, -3);
    assert_int_equal(extent, 18);
    PMPI_Type_free(&t);
    PMPI_Type_free(&u);
}

/* ---- Contents ---------------------------------------------------------------------------- */

static void check_contents(MPI_Datatype t, int combiner, int ni, const int *ints, int na,
                           const MPI_Aint *aints)
{
    int i, a, d, c, int_values[16];
    MPI_Aint aint_values[16];
    MPI_Datatype old[4];

    assert_int_equal(PMPI_Type_get_envelope(t, &i, &a, &d, &c), 0);
    assert_int_equal(c, combiner);
    assert_int_equal(i, ni);
    assert_int_equal(a, na);
    assert_int_equal(PMPI_Type_get_contents(t, 16, 16, 4, int_values, aint_values, old), 0);
    if (ni > 0)
        assert_memory_equal(int_values, ints, (size_t)ni * sizeof(int));
    if (na > 0)
        assert_memory_equal(aint_values, aints, (size_t)na * sizeof(MPI_Aint));
    assert_ptr_equal(old[0], MPI_INT);
    assert_int_equal(PMPI_Type_free(&t), 0);
}

static void test_contents(void **state)
{
    int lengths[2] = {3, 1}, places[2] = {5, 9}, sizes[2] = {4, 6}, subs[2] = {2, 3};
    MPI_Aint bytes[2] = {40, 4};
    MPI_Count large[3] = {7, 2, 5}, got[4];
    MPI_Datatype t, types[2] = {MPI_INT, MPI_INT}, old[1];
    int ints[4];
    MPI_Aint aints[1];
    MPI_Count ni, na, nc, nt;
    int combiner;

    (void)state;
    PMPI_Type_contiguous(7, MPI_INT, &t);
    check_contents(t, MPI_COMBINER_CONTIGUOUS, 1, (int[]){7}, 0, NULL);
    PMPI_Type_vector(7, 2, 5, MPI_INT, &t);
    check_contents(t, MPI_COMBINER_VECTOR, 3, (int[]){7, 2, 5}, 0, NULL);
    PMPI_Type_create_hvector(7, 2, 50, MPI_INT, &t);
    check_contents(t, MPI_COMBINER_HVECTOR, 2, (int[]){7, 2}, 1, (MPI_Aint[]){50});
    PMPI_Type_indexed(2, lengths, places, MPI_INT, &t);
    check_contents(t, MPI_COMBINER_INDEXED, 5, (int[]){2, 3, 1, 5, 9}, 0, NULL);
    PMPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &t);
    check_contents(t, MPI_COMBINER_HINDEXED, 3, (int[]){2, 3, 1}, 2, bytes);
    PMPI_Type_create_indexed_block(2, 3, places, MPI_INT, &t);
    check_contents(t, MPI_COMBINER_INDEXED_BLOCK, 4, (int[]){2, 3, 5, 9}, 0, NULL);
    PMPI_Type_create_hindexed_block(2, 3, bytes, MPI_INT, &t);
    check_contents(t, MPI_COMBINER_HINDEXED_BLOCK, 2, (int[]){2, 3}, 2, bytes);
    PMPI_Type_create_struct(2, lengths, bytes, types, &t);
    check_contents(t, MPI_COMBINER_STRUCT, 3, (int[]){2, 3, 1}, 2, bytes);
    PMPI_Type_create_resized(MPI_INT, -4, 12, &t);
    check_contents(t, MPI_COMBINER_RESIZED, 0, NULL, 2, (MPI_Aint[]){-4, 12});
    PMPI_Type_dup(MPI_INT, &t);
    check_contents(t, MPI_COMBINER_DUP, 0, NULL, 0, NULL);
    PMPI_Type_create_subarray(2, sizes, subs, (int[]){1, 2}, MPI_ORDER_C, MPI_INT, &t);
    check_contents(t, MPI_COMBINER_SUBARRAY, 8, (int[]){2, 4, 6, 2, 3, 1, 2, MPI_ORDER_C}, 0, NULL);

    PMPI_Type_vector_c(large[0], large[1], large[2], MPI_INT, &t);
    assert_int_equal(PMPI_Type_get_envelope_c(t, &ni, &na, &nc, &nt, &combiner), 0);
    assert_int_equal(ni + na, 0);
    assert_int_equal(nc, 3);
    assert_int_equal(PMPI_Type_get_contents_c(t, 4, 1, 4, 1, ints, aints, got, old), 0);
    assert_memory_equal(got, large, sizeof large);
    assert_int_equal(PMPI_Type_get_envelope(t, ints, ints, ints, ints), MPI_ERR_TYPE);
    PMPI_Type_free(&t);
}

/* ---- Lives, errors, calls ---------------------------------------------------------------- */

/* A type survives MPI_Type_free while an operation or another type uses it. */
static void test_references(void **state)
{
    MPI_Datatype t, kept, user;
    mpi_type_t *type;
    int size, old_size;
    MPI_Datatype old;

    (void)state;
    PMPI_Type_vector(3, 1, 2, MPI_INT, &t);
    kept = t;
    type = mpi_type_of(t);
    mpi_type_hold(type);
    PMPI_Type_contiguous(2, t, &user);
    PMPI_Type_free(&t);
    assert_ptr_equal(t, MPI_DATATYPE_NULL);
    assert_int_equal(type->size, 12);
    assert_int_equal(PMPI_Type_size(kept, &size), MPI_ERR_TYPE);
    mpi_type_release(type);
    assert_int_equal(PMPI_Type_get_contents(user, 1, 0, 1, &size, NULL, &old), 0);
    PMPI_Type_size(old, &old_size);
    assert_int_equal(old_size, 12);
    PMPI_Type_free(&user);
    PMPI_Type_free(&old);
}

static void test_errors(void **state)
{
    MPI_Datatype t = MPI_INT, null = MPI_DATATYPE_NULL;
    int n = 1, minus = -1, zero = 0;

    (void)state;
    assert_int_equal(PMPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT);
    assert_int_equal(PMPI_Type_contiguous(1, null, &t), MPI_ERR_TYPE);
    assert_int_equal(PMPI_Type_vector(1, -1, 1, MPI_INT, &t), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_indexed(1, &minus, &zero, MPI_INT, &t), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_create_subarray(1, &n, &n, &n, MPI_ORDER_C, MPI_INT, &t),
                     MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_contiguous_c(INT64_MAX, MPI_INT, &t), MPI_ERR_VALUE_TOO_LARGE);
    assert_int_equal(PMPI_Type_vector_c(INT64_MAX / 2, 4, 1, MPI_INT, &t), MPI_ERR_VALUE_TOO_LARGE);
    assert_ptr_equal(t, MPI_DATATYPE_NULL);
    t = MPI_INT;
    assert_int_equal(PMPI_Type_free(&t), MPI_ERR_TYPE);
    assert_string_equal(test_message, "MPI_INT is predefined and cannot be freed");
    assert_int_equal(PMPI_Type_commit(&null), MPI_ERR_TYPE);
}

static void test_pack_calls(void **state)
{
    int values[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0}, size, position = 0;
    char buffer[32];
    MPI_Datatype t;

    (void)state;
    test_become_rank();
    PMPI_Type_vector(3, 1, 2, MPI_INT, &t);
    assert_int_equal(PMPI_Pack(values, 1, t, buffer, 32, &position, MPI_COMM_WORLD), MPI_ERR_TYPE);
    PMPI_Type_commit(&t);
    assert_int_equal(PMPI_Pack_size(2, t, MPI_COMM_WORLD, &size), 0);
    assert_int_equal(size, 24);
    assert_int_equal(PMPI_Pack(values, 1, t, buffer, 32, &position, MPI_COMM_WORLD), 0);
    assert_int_equal(PMPI_Pack(values, 2, MPI_INT, buffer, 32, &position, MPI_COMM_WORLD), 0);
    assert_int_equal(position, 20);
    assert_int_equal(PMPI_Pack(values, 4, MPI_INT, buffer, 32, &position, MPI_COMM_WORLD),
                     MPI_ERR_TRUNCATE);
    position = 0;
    assert_int_equal(PMPI_Unpack(buffer, 32, &position, back, 5, MPI_INT, MPI_COMM_WORLD), 0);
    assert_memory_equal(back, ((int[]){1, 3, 5, 1, 2}), 20);
    PMPI_Type_free(&t);
}

static void test_names(void **state)
{
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Datatype t;
    int length;

    (void)state;
    PMPI_Type_get_name(MPI_DOUBLE_INT, name, &length);
    assert_string_equal(name, "MPI_DOUBLE_INT");
    PMPI_Type_contiguous(1, MPI_INT, &t);
    PMPI_Type_get_name(t, name, &length);
    assert_int_equal(length, 0);
    PMPI_Type_set_name(t, "row");
    PMPI_Type_get_name(t, name, &length);
    assert_string_equal(name, "row");
    PMPI_Type_free(&t);
}

/* Every predefined type is what its C type is. */
static void test_predefined(void **state)
{
    static const struct {
        MPI_Datatype type;
        int size, extent;
    } known[] = {{MPI_CHAR, 1, 1},
                 {MPI_LONG, sizeof(long), sizeof(long)},
                 {MPI_FLOAT_INT, 8, 8},
                 {MPI_DOUBLE_INT, 12, 16},
                 {MPI_SHORT_INT, 6, 8},
                 {MPI_LONG_DOUBLE_INT, sizeof(long double) + 4, sizeof(struct {
                      long double v;
                      int i;
                  })},
                 {MPI_C_BOOL, 1, 1},
                 {MPI_REAL16, 16, 16},
                 {MPI_COMPLEX32, 32, 32},
                 {MPI_WCHAR, sizeof(wchar_t), sizeof(wchar_t)}};
    int n = 0;

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int size;
        MPI_Aint lb, extent;

        assert_int_equal(PMPI_Type_size(known[i].type, &size), 0);
        assert_int_equal(PMPI_Type_get_extent(known[i].type, &lb, &extent), 0);
        assert_int_equal(size, known[i].size);
        assert_int_equal(extent, known[i].extent);
    }
    for (int i = 0; i < XMPI_TYPE_TABLE; i++)
        n += mpi_type_table[i].is_predefined;
    assert_int_equal(n, 70);
    assert_null(mpi_type_of(MPI_DATATYPE_NULL));
    assert_null(mpi_type_of(NULL));
}

/* Constructors with the k-th allocation failing, for every k, say so and leak nothing. */
static void test_memory(void **state)
{
    int sizes[2] = {4, 6}, subs[2] = {2, 3}, starts[2] = {1, 2}, places[3] = {0, 5, 7};
    MPI_Aint bytes[3] = {0, 9, 50};
    int lengths[3] = {2, 1, 3};
    MPI_Datatype types[3] = {MPI_INT, MPI_CHAR, MPI_SHORT};

    (void)state;
    for (int form = 0; form < 4; form++)
        for (long k = 1;; k++) {
            MPI_Datatype t = MPI_DATATYPE_NULL;
            int error;

            xy_memory_fail_at(k);
            if (form == 0)
                error = PMPI_Type_vector(3, 2, 4, MPI_INT, &t);
            else if (form == 1)
                error = PMPI_Type_indexed(3, lengths, places, MPI_INT, &t);
            else if (form == 2)
                error = PMPI_Type_create_struct(3, lengths, bytes, types, &t);
            else
                error = PMPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_C, MPI_INT, &t);
            if (error == MPI_SUCCESS)
                PMPI_Type_free(&t);
            else
                assert_int_equal(error, MPI_ERR_NO_MEM);
            if (!xy_memory_fail_hit())
                break;
        }
    xy_memory_fail_at(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_predefined),
        cmocka_unit_test(test_darray),
        cmocka_unit_test(test_standard_examples),
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_pack_calls),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

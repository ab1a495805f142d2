/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that need the inside: let the k-th allocation fail, for every k, in everything that makes
 * an object, and check reference counts.
 */
#include "testing/mpi_p2p.h"

#include "mpi/object/object.h"

/* One operation of the calling rank, which writes its handle or number into *out. */
typedef int (*operation_fn)(void **out);

enum { UNTOUCHED = 0x5a5a };

/* No object: a null handle, or what was there before. */
static bool is_nothing(const void *out)
{
    return out == (void *)UNTOUCHED || out == MPI_COMM_NULL || out == MPI_GROUP_NULL ||
           out == MPI_INFO_NULL;
}

/* Failing allocations give MPI_ERR_NO_MEM and no object; then it works. The first
 * allocation of collective calls is the collective's own, which ends the job: they start at 2. */
static void fail_each(operation_fn operation, long first, const char *name)
{
    for (long k = first;; k++) {
        void *out = (void *)UNTOUCHED;
        int code;

        xy_memory_fail_at(k);
        code = operation(&out);
        if (!xy_memory_fail_hit()) {
            xy_memory_fail_at(0);
            CHECK(code == MPI_SUCCESS);
            if (k == first)
                fprintf(stderr, "%s allocates nothing\n", name);
            CHECK(k > first);
            return;
        }
        xy_memory_fail_at(0);
        if (code != MPI_ERR_NO_MEM || !is_nothing(out))
            fprintf(stderr, "%s, allocation %ld: code %d\n", name, k, code);
        CHECK(code == MPI_ERR_NO_MEM);
        CHECK(is_nothing(out));
    }
}

static MPI_Group world; /* the group that others are made from */

/* MPI_Comm_group makes a handle, which takes memory. */
static int comm_group(void **out)
{
    MPI_Group made = (MPI_Group)*out;
    int code = MPI_Comm_group(MPI_COMM_WORLD, &made);

    *out = made;
    return code == MPI_SUCCESS ? MPI_Group_free((MPI_Group *)out) : code;
}

/* Handles are pointers: *out is one, and is freed when it was made. */
static int group_union(void **out)
{
    MPI_Group made = (MPI_Group)*out;
    int code = MPI_Group_union(world, MPI_GROUP_EMPTY, &made);

    *out = made;
    return code == MPI_SUCCESS ? MPI_Group_free((MPI_Group *)out) : code;
}

static int group_excl(void **out)
{
    MPI_Group made = (MPI_Group)*out;
    int code = MPI_Group_range_excl(world, 0, NULL, &made);

    *out = made;
    return code == MPI_SUCCESS ? MPI_Group_free((MPI_Group *)out) : code;
}

static int info_create(void **out)
{
    MPI_Info made = (MPI_Info)*out;
    int code = MPI_Info_create(&made);

    *out = made;
    return code == MPI_SUCCESS ? MPI_Info_free((MPI_Info *)out) : code;
}

static MPI_Info filled; /* the argument of info_set */

static int info_set(void **out)
{
    int count;
    int code = MPI_Info_set(filled, "key", "value");

    (void)out;
    MPI_Info_get_nkeys(filled, &count);
    CHECK(count == (code == MPI_SUCCESS));
    return code;
}

static int info_dup(void **out)
{
    MPI_Info made = (MPI_Info)*out;
    int code = MPI_Info_dup(MPI_INFO_ENV, &made);

    *out = made;
    return code == MPI_SUCCESS ? MPI_Info_free((MPI_Info *)out) : code;
}

static void ignore_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

static int errhandler_create(void **out)
{
    MPI_Errhandler made = (MPI_Errhandler)*out;
    int code = MPI_Comm_create_errhandler(ignore_error, &made);

    *out = made;
    return code == MPI_SUCCESS ? MPI_Errhandler_free((MPI_Errhandler *)out) : code;
}

static int keyval_create(void **out)
{
    int keyval = UNTOUCHED;
    int code = MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);

    *out = (void *)(intptr_t)keyval;
    return code == MPI_SUCCESS ? MPI_Comm_free_keyval(&keyval) : code;
}

static int free_made(int code, MPI_Comm made, void **out)
{
    *out = made;
    return code == MPI_SUCCESS ? MPI_Comm_free((MPI_Comm *)out) : code;
}

static int comm_dup(void **out)
{
    MPI_Comm made = (MPI_Comm)*out;
    int code = MPI_Comm_dup(MPI_COMM_SELF, &made);

    return free_made(code, made, out);
}

static int comm_split(void **out)
{
    MPI_Comm made = (MPI_Comm)*out;
    int code = MPI_Comm_split(MPI_COMM_SELF, 1, 1, &made);

    return free_made(code, made, out);
}

static int comm_create_group(void **out)
{
    MPI_Comm made = (MPI_Comm)*out;
    int code = MPI_Comm_create_group(MPI_COMM_WORLD, world, 0, &made);

    return free_made(code, made, out);
}

static int cart_create(void **out)
{
    MPI_Comm made = (MPI_Comm)*out;
    int code = MPI_Cart_create(MPI_COMM_SELF, 2, (int[]){1, 1}, (int[]){0, 1}, 0, &made);

    return free_made(code, made, out);
}

static void all_failures(int rank, int size)
{
    char text[MPI_MAX_INFO_VAL];
    int flag;

    (void)rank;
    (void)size;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Info_get(MPI_INFO_ENV, "arch", MPI_MAX_INFO_VAL - 1, text, &flag); /* made once */
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_free(&world); /* makes the place for freed handles, once */
    fail_each(comm_group, 1, "MPI_Comm_group");
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    fail_each(group_union, 1, "MPI_Group_union");
    fail_each(group_excl, 1, "MPI_Group_range_excl");
    fail_each(info_create, 1, "MPI_Info_create");
    MPI_Info_create(&filled);
    fail_each(info_set, 1, "MPI_Info_set");
    MPI_Info_free(&filled);
    fail_each(info_dup, 1, "MPI_Info_dup");
    fail_each(errhandler_create, 1, "MPI_Comm_create_errhandler");
    fail_each(keyval_create, 1, "MPI_Comm_create_keyval");
    fail_each(comm_dup, 2, "MPI_Comm_dup");
    fail_each(comm_split, 2, "MPI_Comm_split");
    fail_each(comm_create_group, 1, "MPI_Comm_create_group");
    fail_each(cart_create, 2, "MPI_Cart_create");
    MPI_Group_free(&world);
}

/* The group of the world is one object; every rank, handle and duplicate holds one reference, and
 * so do the last communicators that were freed. */
static void references(int rank, int size)
{
    mpi_group_t *group = mpi_self->comm_world->group;
    MPI_Group handle;
    MPI_Comm copy;

    (void)rank;
    CHECK(group->references == size);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_group(MPI_COMM_WORLD, &handle);
    CHECK(mpi_group_of(handle) == group);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(group->references == 2 * size);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Group_free(&handle);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    CHECK(mpi_comm_of(copy)->group == group);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(group->references == 2 * size);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&copy);
    for (int i = 0; i < XMPI_BURIED; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &copy);
        MPI_Comm_free(&copy);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(group->references == size);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void test_failures(void **state)
{
    (void)state;
    run_ranks(1, 1, 0, 8192, all_failures);
}

static void test_references(void **state)
{
    (void)state;
    run_ranks(7, 2, 0, 8192, references);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_references),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

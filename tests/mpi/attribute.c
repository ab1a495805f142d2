/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes: copies and deletions as the key's functions say, errors, order at the end. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

typedef struct {
    int copies, deletions, order[8], fails;
} state_t;

static int copy_plus_one(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    state_t *state = extra;
    int size; /* MPI may be called here */

    MPI_Comm_size(comm, &size);
    (void)keyval;
    state->copies++;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return state->fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int note_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    state_t *state = extra;

    (void)comm;
    (void)keyval;
    if (state->deletions < 8)
        state->order[state->deletions] = (int)(intptr_t)value;
    state->deletions++;
    return state->fails ? MPI_ERR_INTERN : MPI_SUCCESS;
}

static void check_copies(void)
{
    state_t state = {0};
    int plus, same, never, flag, number;
    MPI_Comm a, b;
    void *value;

    MPI_Comm_create_keyval(copy_plus_one, note_delete, &plus, &state);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &same, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &never, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_get_attr(a, plus, &value, &flag);
    CHECK(!flag);
    MPI_Comm_set_attr(a, plus, (void *)10);
    MPI_Comm_set_attr(a, same, (void *)20);
    MPI_Comm_set_attr(a, never, (void *)30);
    MPI_Comm_dup(a, &b);
    CHECK_EQUAL(state.copies, 1);
    MPI_Comm_get_attr(b, plus, &value, &flag);
    CHECK(flag && value == (void *)11);
    MPI_Comm_get_attr(b, same, &value, &flag);
    CHECK(flag && value == (void *)20);
    MPI_Comm_get_attr(b, never, &value, &flag);
    CHECK(!flag);
    MPI_Comm_set_attr(b, plus, (void *)12); /* deletes the old value */
    CHECK(state.deletions == 1 && state.order[0] == 11);
    number = plus;
    MPI_Comm_free_keyval(&plus); /* the attributes live on */
    CHECK_EQUAL(plus, MPI_KEYVAL_INVALID);
    MPI_Comm_free(&b);
    CHECK(state.deletions == 2 && state.order[1] == 12);
    MPI_Comm_delete_attr(a, number);
    CHECK(state.deletions == 3 && state.order[2] == 10);
    MPI_Comm_free(&a);
    CHECK_EQUAL(state.deletions, 3);
    MPI_Comm_free_keyval(&same);
    MPI_Comm_free_keyval(&never);
}

static void check_failures(void)
{
    state_t state = {0};
    int keyval, flag;
    MPI_Comm a, b = MPI_COMM_NULL;
    void *value;

    MPI_Comm_create_keyval(copy_plus_one, note_delete, &keyval, &state);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_set_errhandler(a, MPI_ERRORS_RETURN);
    MPI_Comm_set_attr(a, keyval, (void *)1);
    state.fails = 1;
    CHECK_EQUAL(MPI_Comm_dup(a, &b), MPI_ERR_OTHER);
    CHECK(b == MPI_COMM_NULL);
    CHECK_EQUAL(MPI_Comm_delete_attr(a, keyval), MPI_ERR_INTERN);
    CHECK_EQUAL(MPI_Comm_set_attr(a, keyval, (void *)2), MPI_ERR_INTERN);
    CHECK_EQUAL(MPI_Comm_free(&a), MPI_ERR_INTERN);
    CHECK(a != MPI_COMM_NULL);
    MPI_Comm_get_attr(a, keyval, &value, &flag);
    CHECK(flag && value == (void *)1);
    CHECK_EQUAL(MPI_Comm_get_attr(a, MPI_KEYVAL_INVALID, &value, &flag), MPI_ERR_KEYVAL);
    CHECK_EQUAL(MPI_Comm_set_attr(a, MPI_TAG_UB, NULL), MPI_ERR_KEYVAL);
    state.fails = 0;
    MPI_Comm_free(&a);
    MPI_Comm_free_keyval(&keyval);
}

static void check_predefined(int p)
{
    int *value, flag, code;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    CHECK(flag && *value >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag);
    CHECK(flag && *value == 1);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
    CHECK(flag && *value >= p);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    CHECK(flag && *value == MPI_ERR_LASTCODE);
    MPI_Add_error_class(&code);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    CHECK(flag && *value == code);
}

static int type_delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type;
    (void)keyval;
    (void)value;
    ++*(int *)extra;
    return MPI_SUCCESS;
}

/* On a predefined type, which ranks share: the attributes are each rank's own. */
static void check_types(int rank)
{
    int keyval, flag, deletions = 0;
    MPI_Datatype type, copy;
    void *value;

    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, type_delete, &keyval, &deletions);
    MPI_Type_set_attr(MPI_INT, keyval, (void *)(intptr_t)(rank + 1));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_get_attr(MPI_INT, keyval, &value, &flag);
    CHECK(flag && value == (void *)(intptr_t)(rank + 1));
    MPI_Type_delete_attr(MPI_INT, keyval);
    CHECK_EQUAL(deletions, 1);
    MPI_Type_get_attr(MPI_INT, keyval, &value, &flag);
    CHECK(!flag);

    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_set_attr(type, keyval, (void *)7);
    MPI_Type_get_attr(type, keyval, &value, &flag);
    CHECK(flag && value == (void *)7);
    MPI_Type_dup(type, &copy);
    MPI_Type_delete_attr(type, keyval);
    CHECK_EQUAL(deletions, 2);
    MPI_Type_free(&type);
    CHECK_EQUAL(deletions, 2);
    MPI_Type_get_attr(copy, keyval, &value, &flag);
    CHECK(flag && value == (void *)7);
    MPI_Type_free(&copy);
    CHECK_EQUAL(deletions, 3);
    MPI_Type_free_keyval(&keyval);
}

int main(int argc, char **argv)
{
    state_t state = {0};
    int p, rank, keys[3];

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_predefined(p);
    check_copies();
    check_failures();
    check_types(rank);
    for (int i = 0; i < 3; i++) {
        MPI_Keyval_create(MPI_NULL_COPY_FN, note_delete, &keys[i], &state);
        MPI_Attr_put(MPI_COMM_SELF, keys[i], (void *)(intptr_t)(i + 1));
    }
    MPI_Finalize(); /* the attributes of MPI_COMM_SELF go first, the last one set first of all */
    if (state.deletions != 3 || state.order[0] != 3 || state.order[1] != 2 || state.order[2] != 1) {
        fprintf(stderr, "attribute.c: wrong deletions at the end\n");
        return 1;
    }
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Info objects are allowed before MPI_Init and after MPI_Finalize, and belong to the holder of the
 * handle. Lists are short (hints), so a search is a walk.
 */
#include "mpi/object/info.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "mpi/object/calls.h"
#include "mpi/object/comm.h"
#include "mpi/object/env.h"
#include "mpi/object/error.h"
#include "mpi/runtime/runtime.h"

static mpi_info_t *info_new(void)
{
    mpi_info_t *info = xy_malloc(sizeof *info);

    if (info) {
        info->pairs = XY_VEC_INIT(mpi_pair_t);
        mpi_life_begin(&info->life, XMPI_LIFE_INFO);
    }
    return info;
}

static mpi_pair_t *pair_at(const mpi_info_t *info, size_t i)
{
    return &XY_VEC_AT(&info->pairs, mpi_pair_t, i);
}

static mpi_pair_t *find(const mpi_info_t *info, const char *key)
{
    for (size_t i = 0; i < info->pairs.count; i++)
        if (strcmp(pair_at(info, i)->key, key) == 0)
            return pair_at(info, i);
    return NULL;
}

const char *mpi_info_value(const mpi_info_t *info, const char *key)
{
    const mpi_pair_t *pair = info ? find(info, key) : NULL;

    return pair ? pair->value : NULL;
}

size_t mpi_info_alignment(const mpi_info_t *info)
{
    const char *text = mpi_info_value(info, "mpi_minimum_memory_alignment");
    long wanted = 0;

    if (text && xy_parse_long(text, &wanted) && wanted > 64 && (wanted & (wanted - 1)) == 0)
        return (size_t)wanted;
    return 64;
}

xy_status_t mpi_info_put(mpi_info_t *info, const char *key, const char *value)
{
    mpi_pair_t *pair = find(info, key);
    char *own_value = xy_strdup(value), *own_key;

    if (!own_value)
        return XY_ENOMEM;
    if (pair) {
        xy_free(pair->value);
        pair->value = own_value;
        return XY_OK;
    }
    own_key = xy_strdup(key);
    pair = own_key ? xy_vec_push(&info->pairs) : NULL;
    if (!pair) {
        xy_free(own_key);
        xy_free(own_value);
        return XY_ENOMEM;
    }
    pair->key = own_key;
    pair->value = own_value;
    return XY_OK;
}

void mpi_info_destroy(mpi_info_t *info)
{
    if (!info)
        return;
    for (size_t i = 0; i < info->pairs.count; i++) {
        xy_free(pair_at(info, i)->key);
        xy_free(pair_at(info, i)->value);
    }
    xy_vec_cleanup(&info->pairs);
    mpi_life_end(&info->life);
    mpi_life_bury(info);
}

mpi_info_t *mpi_info_copy(const mpi_info_t *info)
{
    mpi_info_t *copy = info_new();

    for (size_t i = 0; copy && info && i < info->pairs.count; i++) {
        if (mpi_info_put(copy, pair_at(info, i)->key, pair_at(info, i)->value) != XY_OK) {
            mpi_info_destroy(copy);
            return NULL;
        }
    }
    return copy;
}

/* Fill in how the program was started; keys without a known value are left out. */
static xy_status_t fill_env(mpi_info_t *info, const char *command)
{
    char number[16], *wdir = getcwd(NULL, 0);
    struct utsname name;
    xy_status_t status = XY_OK;

    snprintf(number, sizeof number, "%d", mpi_self ? mpi_self->comm_world->size : 1);
    if (command)
        status = mpi_info_put(info, "command", command);
    if (status == XY_OK)
        status = mpi_info_put(info, "maxprocs", number);
    if (status == XY_OK)
        status = mpi_info_put(info, "soft", number);
    if (status == XY_OK && uname(&name) == 0) {
        status = mpi_info_put(info, "host", name.nodename);
        if (status == XY_OK)
            status = mpi_info_put(info, "arch", name.machine);
    }
    if (status == XY_OK && wdir)
        status = mpi_info_put(info, "wdir", wdir);
    if (status == XY_OK)
        status = mpi_info_put(info, "thread_level",
                              mpi_job != NULL && mpi_job->moves != NULL ? "MPI_THREAD_FUNNELED"
                                                                        : "MPI_THREAD_MULTIPLE");
    free(wdir);
    return status;
}

static mpi_info_t *env_info;

static void make_env(void)
{
    bool is_alone = !mpi_job || mpi_job->adopted;
    mpi_info_t *info = info_new();

    if (info && fill_env(info, is_alone ? program_invocation_name : NULL) == XY_OK)
        env_info = info;
    else
        mpi_info_destroy(info);
}

mpi_info_t *mpi_info_of(MPI_Info handle)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    mpi_info_t *info = (mpi_info_t *)(void *)handle;

    if ((uintptr_t)handle >= 4096)
        return mpi_life_is(&info->life, XMPI_LIFE_INFO)
                   ? info
                   : mpi_life_refuse(&info->life, XMPI_LIFE_INFO);
    if (handle != MPI_INFO_ENV)
        return NULL;
    pthread_once(&once, make_env);
    return env_info;
}

int mpi_info_check(mpi_comm_t *comm, MPI_Info handle)
{
    if (handle == MPI_INFO_NULL || mpi_info_of(handle))
        return MPI_SUCCESS;
    return mpi_error(comm, MPI_ERR_INFO, "the info argument is not an info object");
}

static int refuse(MPI_Info handle)
{
    return mpi_error(NULL, MPI_ERR_INFO, "the info object is %s",
                     handle == MPI_INFO_NULL ? "MPI_INFO_NULL" : "not an info object");
}

/* Checks of the object, and of the key when there is one. */
static int check(MPI_Info handle, const char *key, bool has_key)
{
    if (!mpi_info_of(handle))
        return refuse(handle);
    if (has_key && (!key || !key[0] || strlen(key) >= MPI_MAX_INFO_KEY))
        return mpi_error(NULL, MPI_ERR_INFO_KEY, "the key is %s; it must have 1 to %d bytes",
                         !key     ? "NULL"
                         : key[0] ? "too long"
                                  : "empty",
                         MPI_MAX_INFO_KEY - 1);
    return MPI_SUCCESS;
}

static int give(mpi_info_t *info, MPI_Info *handle_p)
{
    if (!info)
        return mpi_error_memory(NULL, "an info object");
    *handle_p = (MPI_Info)(void *)info;
    return MPI_SUCCESS;
}

int impl_info_set(MPI_Info handle, const char *key, const char *value)
{
    size_t before = 0, length;
    char *trimmed;
    xy_status_t status;
    int code = check(handle, key, true);

    if (code != MPI_SUCCESS)
        return code;
    if (handle == MPI_INFO_ENV)
        return mpi_error(NULL, MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed");
    if (!value || strlen(value) >= MPI_MAX_INFO_VAL)
        return mpi_error(NULL, MPI_ERR_INFO_VALUE, "the value is %s; at most %d bytes are kept",
                         value ? "too long" : "NULL", MPI_MAX_INFO_VAL - 1);
    /* The standard strips blanks around values that the library understands; here around all. */
    length = strlen(value);
    while (isspace((unsigned char)value[before]))
        before++;
    while (length > before && isspace((unsigned char)value[length - 1]))
        length--;
    trimmed = xy_strndup(value + before, length - before);
    status = trimmed ? mpi_info_put(mpi_info_of(handle), key, trimmed) : XY_ENOMEM;
    xy_free(trimmed);
    return status == XY_OK ? MPI_SUCCESS : mpi_error_memory(NULL, "an info value");
}

int impl_info_delete(MPI_Info handle, const char *key)
{
    mpi_info_t *info;
    mpi_pair_t *pair;
    size_t place;
    int code = check(handle, key, true);

    if (code != MPI_SUCCESS)
        return code;
    info = mpi_info_of(handle);
    pair = find(info, key);
    if (!pair || handle == MPI_INFO_ENV)
        return mpi_error(NULL, MPI_ERR_INFO_NOKEY, "the info object has no key \"%s\" to delete",
                         key);
    xy_free(pair->key);
    xy_free(pair->value);
    place = (size_t)(pair - pair_at(info, 0));
    memmove(pair, pair + 1, (info->pairs.count - place - 1) * sizeof *pair);
    xy_vec_pop(&info->pairs);
    return MPI_SUCCESS;
}

/* `size` bytes of room for the text and its end; longer values are cut. */
static void copy_text(char *out, size_t size, const char *text)
{
    size_t length = strnlen(text, size - 1);

    memcpy(out, text, length);
    out[length] = '\0';
}

int impl_info_get(MPI_Info handle, const char *key, int valuelen, char *value, int *flag)
{
    const char *found;
    int code = check(handle, key, true);

    if (code != MPI_SUCCESS)
        return code;
    if (valuelen < 0)
        return mpi_error(NULL, MPI_ERR_ARG, "the length is %d", valuelen);
    found = mpi_info_value(mpi_info_of(handle), key);
    *flag = found != NULL;
    if (found)
        copy_text(value, (size_t)valuelen + 1, found);
    return MPI_SUCCESS;
}

int impl_info_get_string(MPI_Info handle, const char *key, int *buflen, char *value, int *flag)
{
    const char *found;
    int code = check(handle, key, true);

    if (code != MPI_SUCCESS)
        return code;
    if (*buflen < 0 || (*buflen > 0 && !value))
        return mpi_error(NULL, MPI_ERR_ARG, "the buffer of %d bytes is at %p", *buflen,
                         (void *)value);
    found = mpi_info_value(mpi_info_of(handle), key);
    *flag = found != NULL;
    if (!found)
        return MPI_SUCCESS;
    if (*buflen > 0)
        copy_text(value, (size_t)*buflen, found);
    *buflen = (int)strlen(found) + 1;
    return MPI_SUCCESS;
}

int impl_info_get_valuelen(MPI_Info handle, const char *key, int *valuelen, int *flag)
{
    const char *found;
    int code = check(handle, key, true);

    if (code != MPI_SUCCESS)
        return code;
    found = mpi_info_value(mpi_info_of(handle), key);
    *flag = found != NULL;
    if (found)
        *valuelen = (int)strlen(found);
    return MPI_SUCCESS;
}

int impl_info_get_nthkey(MPI_Info handle, int n, char *key)
{
    int code = check(handle, NULL, false);

    if (code != MPI_SUCCESS)
        return code;
    if (n < 0 || (size_t)n >= mpi_info_of(handle)->pairs.count)
        return mpi_error(NULL, MPI_ERR_ARG, "there is no key number %d; the object has %zu keys", n,
                         mpi_info_of(handle)->pairs.count);
    copy_text(key, MPI_MAX_INFO_KEY, pair_at(mpi_info_of(handle), (size_t)n)->key);
    return MPI_SUCCESS;
}

int impl_info_free(MPI_Info *info)
{
    if (!mpi_info_of(*info))
        return refuse(*info);
    if (*info == MPI_INFO_ENV)
        return mpi_error(NULL, MPI_ERR_INFO, "MPI_INFO_ENV cannot be freed");
    mpi_info_destroy(mpi_info_of(*info));
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

/* Create an info object with the values of MPI_INFO_ENV and the arguments of the program. */
static int info_create_env(int argc, char **argv, MPI_Info *handle_p)
{
    const char *command = argc > 0 && argv && argv[0] ? argv[0] : program_invocation_name;
    mpi_info_t *info = info_new();
    xy_text_t arguments = XY_TEXT_INIT;
    xy_status_t status;

    for (int i = 1; argv && i < argc && argv[i]; i++)
        xy_text_addf(&arguments, "%s%s", i > 1 ? " " : "", argv[i]);
    status = info ? fill_env(info, command) : XY_ENOMEM;
    if (status == XY_OK && arguments.s)
        status = arguments.failed ? XY_ENOMEM : mpi_info_put(info, "argv", arguments.s);
    xy_text_cleanup(&arguments);
    if (status != XY_OK) {
        mpi_info_destroy(info);
        info = NULL;
    }
    return give(info, handle_p);
}

int impl_info_create(MPI_Info *info)
{
    return give(info_new(), info);
}

int impl_info_create_env(int argc, char *argv[], MPI_Info *info)
{
    return info_create_env(argc, argv, info);
}

int impl_info_dup(MPI_Info info, MPI_Info *newinfo)
{
    if (!mpi_info_of(info))
        return refuse(info);
    return give(mpi_info_copy(mpi_info_of(info)), newinfo);
}

int impl_info_get_nkeys(MPI_Info info, int *nkeys)
{
    if (!mpi_info_of(info))
        return refuse(info);
    *nkeys = (int)mpi_info_of(info)->pairs.count;
    return MPI_SUCCESS;
}

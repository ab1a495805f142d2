/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Pack_external and its relatives: the representation external32, which is the same on all
 * machines. Numbers are big-endian; most have the size that they have here, and some have another.
 *
 * Data is packed as it lies in memory, in the order of the type map, and then converted, item by
 * item; unpacking is the reverse. What comes in which order is read off the constructors of the
 * type, down to the predefined types.
 */
#include <float.h>
#include <limits.h>
#include <string.h>

#include "mpi/datatype/calls.h"
#include "mpi/datatype/datatype.h"
#include "mpi/datatype/type_build.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

/* REAL*16, which long double is in external32. */
#if LDBL_MANT_DIG == 113
typedef long double quad_t;
#else
__extension__ typedef __float128 quad_t;
#endif

typedef enum { SAME, SIGNED, UNSIGNED, EXTENDED } change_t;

/* Numbers of one kind: `units` of `size` bytes here and `wide` bytes there. */
typedef struct {
    change_t change; /* in addition to swapping bytes */
    size_t units, size, wide;
} item_t;

/* Packed data here, and its external form; the one is read and the other written. */
typedef struct {
    char *here, *there;
    bool to_external;
    bool is_lost; /* a value does not fit */
} stream_t;

static bool is_complex(const mpi_type_t *type)
{
    return type->basic >= XMPI_BASIC_COMPLEX16 && type->basic <= XMPI_BASIC_COMPLEX128;
}

/* The items of a predefined type that is no pair. */
static item_t item_of(const mpi_type_t *type)
{
    size_t units = is_complex(type) ? 2 : 1;
    item_t item = {SAME, units, type->size / units, type->size / units};

    if (type->handle == MPI_LONG || type->handle == MPI_UNSIGNED_LONG) {
        item.change = type->handle == MPI_LONG ? SIGNED : UNSIGNED;
        item.wide = 4;
    } else if (type->handle == MPI_WCHAR) {
        item.change = UNSIGNED;
        item.wide = 2;
    } else if (type->basic == XMPI_BASIC_LONG_DOUBLE ||
               type->basic == XMPI_BASIC_COMPLEX_LONG_DOUBLE) {
        item.change = EXTENDED;
        item.wide = sizeof(quad_t);
    }
    return item;
}

/* The value of a pair; its index is the second of two equal items, or an int. */
static MPI_Datatype pair_value(const mpi_type_t *type)
{
    switch ((mpi_basic_t)type->basic) {
    case XMPI_BASIC_FLOAT_INT:
    case XMPI_BASIC_2FLOAT:
        return MPI_FLOAT;
    case XMPI_BASIC_DOUBLE_INT:
    case XMPI_BASIC_2DOUBLE:
        return MPI_DOUBLE;
    case XMPI_BASIC_LONG_INT:
        return MPI_LONG;
    case XMPI_BASIC_SHORT_INT:
        return MPI_SHORT;
    case XMPI_BASIC_LONG_DOUBLE_INT:
        return MPI_LONG_DOUBLE;
    default:
        return MPI_INT;
    }
}

static MPI_Datatype pair_index(const mpi_type_t *type)
{
    bool is_equal = type->basic == XMPI_BASIC_2FLOAT || type->basic == XMPI_BASIC_2DOUBLE;

    return is_equal ? pair_value(type) : MPI_INT;
}

/* ---- Size -------------------------------------------------------------------------------- */

size_t mpi_type_external_size(const mpi_type_t *type)
{
    item_t item;

    if (type->elements == 2)
        return mpi_type_external_size(mpi_type_of(pair_value(type))) +
               mpi_type_external_size(mpi_type_of(pair_index(type)));
    item = item_of(type);
    return item.units * item.wide;
}

static size_t measure(const mpi_type_t *predefined, const void *arg)
{
    (void)arg;
    return mpi_type_external_size(predefined);
}

static size_t external_size(const mpi_type_t *type)
{
    return mpi_type_measure(type, measure, NULL);
}

/* ---- Conversion of items ----------------------------------------------------------------- */

static void turn(char *to, const char *from, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (size_t i = 0; i < n; i++)
        to[i] = from[n - 1 - i];
#else
    memcpy(to, from, n);
#endif
}

static uint64_t number_read(const char *from, size_t n, bool is_signed)
{
    uint64_t value = 0;

    for (size_t i = 0; i < n; i++)
        value = value << 8 | (unsigned char)from[i];
    if (is_signed && n < 8 && (value >> (8 * n - 1) & 1) != 0)
        value |= UINT64_MAX << (8 * n);
    return value;
}

/* Big-endian; false: the value has more bytes. */
static bool number_write(char *to, size_t n, bool is_signed, uint64_t value)
{
    for (size_t i = 0; i < n; i++)
        to[n - 1 - i] = (char)(value >> (8 * i));
    return number_read(to, n, is_signed) == value;
}

/* Numbers of another size there: both are at most eight bytes. */
static bool resize(char *to, size_t to_size, const char *from, size_t from_size, bool is_signed)
{
    return number_write(to, to_size, is_signed, number_read(from, from_size, is_signed));
}

static void extended_pack(char *there, const char *here)
{
    long double value;
    quad_t quad;

    memcpy(&value, here, sizeof value);
    quad = (quad_t)value;
    turn(there, (const char *)&quad, sizeof quad);
}

static void extended_unpack(char *here, const char *there)
{
    long double value;
    quad_t quad;

    turn((char *)&quad, there, sizeof quad);
    value = (long double)quad;
    memset(here, 0, sizeof value);
    memcpy(here, &value, sizeof value);
}

/* Convert one item between memory and external32; false if the value does not fit. */
static bool unit_convert(const item_t *item, char *here, char *there, bool to_external)
{
    char turned[sizeof(uint64_t)];
    bool fits;

    if (item->change == EXTENDED && to_external) {
        extended_pack(there, here);
    } else if (item->change == EXTENDED) {
        extended_unpack(here, there);
    } else if (item->change == SAME) {
        turn(to_external ? there : here, to_external ? here : there, item->size);
    } else if (to_external) {
        turn(turned, here, item->size);
        return resize(there, item->wide, turned, item->size, item->change == SIGNED);
    } else {
        fits = resize(turned, item->size, there, item->wide, item->change == SIGNED);
        turn(here, turned, item->size);
        return fits;
    }
    return true;
}

static void items_convert(stream_t *s, item_t item, size_t count)
{
    for (size_t i = 0; i < count * item.units; i++) {
        s->is_lost |= !unit_convert(&item, s->here, s->there, s->to_external);
        s->here += item.size;
        s->there += item.wide;
    }
}

/* `count` of `type`, in the order of the type map. */
static void convert(stream_t *s, const mpi_type_t *type, size_t count)
{
    const mpi_type_t *part;
    size_t times;

    if (type->size == 0)
        return;
    if (type->is_predefined && type->elements == 1) {
        items_convert(s, item_of(type), count);
        return;
    }
    if (!type->is_predefined && type->contents.combiner != MPI_COMBINER_STRUCT) {
        mpi_type_part(type, 0, &part, &times); /* the only one */
        convert(s, part, count * times);
        return;
    }
    for (size_t n = 0; n < count; n++) {
        if (type->is_predefined) {
            convert(s, mpi_type_of(pair_value(type)), 1);
            convert(s, mpi_type_of(pair_index(type)), 1);
        }
        for (size_t i = 0; !type->is_predefined && mpi_type_part(type, i, &part, &times); i++)
            convert(s, part, times);
    }
}

bool mpi_type_convert_external(char *here, char *there, bool to_external, const mpi_type_t *type,
                               size_t count)
{
    stream_t s = {here, there, to_external, false};

    convert(&s, type, count);
    return !s.is_lost;
}

/* ---- Calls ------------------------------------------------------------------------------- */

/* On success the bytes that `count` of the type take here and in the external form. */
static int check(const char *datarep, MPI_Count count, MPI_Datatype datatype, size_t *here_p,
                 size_t *there_p)
{
    const mpi_type_t *type = mpi_type_of(datatype);

    if (strcmp(datarep, "external32") != 0)
        return mpi_error(NULL, MPI_ERR_ARG,
                         "there is no data representation \"%s\"; there is external32", datarep);
    if (count < 0)
        return mpi_error(NULL, MPI_ERR_COUNT, "the count is %lld; it must not be negative",
                         (long long)count);
    if (!type)
        return mpi_error(NULL, MPI_ERR_TYPE, "this is not a datatype");
    if (!type->is_committed)
        return mpi_error(NULL, MPI_ERR_TYPE, "%s has not been committed (MPI_Type_commit)",
                         mpi_type_name(type));
    if (__builtin_mul_overflow((size_t)count, type->size, here_p) ||
        __builtin_mul_overflow((size_t)count, external_size(type), there_p))
        return mpi_error(NULL, MPI_ERR_COUNT, "%lld elements of %zu bytes are too many",
                         (long long)count, type->size);
    return MPI_SUCCESS;
}

static int check_room(size_t bytes, MPI_Count position, MPI_Count size, const char *verb)
{
    if (position >= 0 && position <= size && bytes <= (size_t)(size - position))
        return MPI_SUCCESS;
    return mpi_error(NULL, MPI_ERR_TRUNCATE,
                     "%zu bytes are to be %s at position %lld of a buffer of %lld bytes", bytes,
                     verb, (long long)position, (long long)size);
}

static int end(const stream_t *s, char *packed, size_t there, MPI_Count *position)
{
    xy_free(packed);
    if (s->is_lost)
        return mpi_error(NULL, MPI_ERR_CONVERSION,
                         "a value does not fit into its type: external32 has 4 bytes for MPI_LONG, "
                         "2 for MPI_WCHAR");
    *position += (MPI_Count)there;
    return MPI_SUCCESS;
}

int impl_pack_external_c(const char *datarep, const void *inbuf, MPI_Count incount,
                         MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
                         MPI_Count *position)
{
    size_t here = 0, there = 0;
    int code = check(datarep, incount, datatype, &here, &there);
    char *packed;
    stream_t s;

    if (code == MPI_SUCCESS)
        code = check_room(there, *position, outsize, "written");
    if (code != MPI_SUCCESS || here == 0)
        return code;
    mpi_type_note_local(inbuf, incount, mpi_type_of(datatype), false);
    mpi_type_note_packed((char *)outbuf + *position, there, true);
    packed = xy_malloc(here);
    if (!packed)
        return mpi_error_memory(NULL, "packed data");
    mpi_type_pack(packed, inbuf, incount, mpi_type_of(datatype), 0, here);
    s = (stream_t){packed, (char *)outbuf + *position, true, false};
    convert(&s, mpi_type_of(datatype), (size_t)incount);
    return end(&s, packed, there, position);
}

int impl_unpack_external_c(const char *datarep, const void *inbuf, MPI_Count insize,
                           MPI_Count *position, void *outbuf, MPI_Count outcount,
                           MPI_Datatype datatype)
{
    size_t here = 0, there = 0;
    int code = check(datarep, outcount, datatype, &here, &there);
    char *packed;
    stream_t s;

    if (code == MPI_SUCCESS)
        code = check_room(there, *position, insize, "read");
    if (code != MPI_SUCCESS || here == 0)
        return code;
    mpi_type_note_packed((const char *)inbuf + *position, there, false);
    mpi_type_note_local(outbuf, outcount, mpi_type_of(datatype), true);
    packed = xy_malloc(here);
    if (!packed)
        return mpi_error_memory(NULL, "packed data");
    s = (stream_t){packed, (char *)(uintptr_t)inbuf + *position, false, false};
    convert(&s, mpi_type_of(datatype), (size_t)outcount);
    mpi_type_unpack(outbuf, outcount, mpi_type_of(datatype), packed, 0, here);
    return end(&s, packed, there, position);
}

int impl_pack_external(const char *datarep, const void *inbuf, int incount, MPI_Datatype datatype,
                       void *outbuf, MPI_Aint outsize, MPI_Aint *position)
{
    MPI_Count at = *position;
    int code = impl_pack_external_c(datarep, inbuf, incount, datatype, outbuf, outsize, &at);

    *position = (MPI_Aint)at;
    return code;
}

int impl_unpack_external(const char *datarep, const void *inbuf, MPI_Aint insize,
                         MPI_Aint *position, void *outbuf, int outcount, MPI_Datatype datatype)
{
    MPI_Count at = *position;
    int code = impl_unpack_external_c(datarep, inbuf, insize, &at, outbuf, outcount, datatype);

    *position = (MPI_Aint)at;
    return code;
}

int impl_pack_external_size_c(const char *datarep, MPI_Count incount, MPI_Datatype datatype,
                              MPI_Count *size)
{
    size_t here = 0, there = 0;
    int code = check(datarep, incount, datatype, &here, &there);

    if (code == MPI_SUCCESS)
        *size = (MPI_Count)there;
    return code;
}

int impl_pack_external_size(const char *datarep, int incount, MPI_Datatype datatype, MPI_Aint *size)
{
    MPI_Count bytes = 0;
    int code = impl_pack_external_size_c(datarep, incount, datatype, &bytes);

    if (code == MPI_SUCCESS)
        *size = (MPI_Aint)bytes;
    return code;
}

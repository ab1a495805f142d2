/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "random.h"

enum { GUARD = 64, FILL = 0xa5 };

/* The offsets of the elements of an item and its extent, in elements. */
static const int offsets[LAYOUT_COUNT][PER_ITEM] = {
    {0, 1, 2, 3}, {0, 1, 3, 4}, {5, 0, 2, 3}, {1, 2, 3, 4}};
static const int extents[LAYOUT_COUNT] = {4, 5, 6, 7};

static MPI_Datatype types[BASIC_COUNT][LAYOUT_COUNT];

size_t basic_size(basic_t basic)
{
    static const size_t sizes[] = {1, 4, 8, 8};

    return sizes[basic];
}

MPI_Datatype basic_type(basic_t basic)
{
    switch (basic) {
    case BYTES:
        return MPI_BYTE;
    case INTS:
        return MPI_UINT32_T;
    case LONGS:
        return MPI_UINT64_T;
    default:
        return MPI_DOUBLE;
    }
}

static MPI_Datatype make_type(MPI_Datatype basic, MPI_Aint element, layout_t layout)
{
    static const int ones[PER_ITEM] = {1, 1, 1, 1};
    MPI_Datatype inner, type;

    switch (layout) {
    case PLAIN:
        MPI_Type_dup(basic, &type);
        break;
    case STRIDED:
        MPI_Type_vector(2, 2, 3, basic, &type);
        break;
    case SCATTERED:
        MPI_Type_indexed(PER_ITEM, ones, offsets[SCATTERED], basic, &type);
        break;
    default:
        MPI_Type_create_indexed_block(1, PER_ITEM, offsets[PADDED], basic, &inner);
        MPI_Type_create_resized(inner, 0, extents[PADDED] * element, &type);
        MPI_Type_free(&inner);
    }
    MPI_Type_commit(&type);
    return type;
}

void data_begin(void)
{
    for (int b = 0; b < BASIC_COUNT; b++)
        for (int l = 0; l < LAYOUT_COUNT; l++)
            types[b][l] =
                make_type(basic_type((basic_t)b), (MPI_Aint)basic_size((basic_t)b), (layout_t)l);
}

void data_end(void)
{
    for (int b = 0; b < BASIC_COUNT; b++)
        for (int l = 0; l < LAYOUT_COUNT; l++)
            MPI_Type_free(&types[b][l]);
}

form_t form_draw(random_t *random, basic_t basic, int elements)
{
    form_t form = {basic, PLAIN};

    if (elements % PER_ITEM == 0 && chance(random, 40))
        form.layout = (layout_t)draw(random, LAYOUT_COUNT);
    return form;
}

/* A type may be freed as soon as the call that uses it has started. */
static MPI_Datatype form_type(form_t form)
{
    if (form.layout == PLAIN && chance(&own_random, 80))
        return basic_type(form.basic);
    if (chance(&own_random, 80))
        return types[form.basic][form.layout];
    return make_type(basic_type(form.basic), (MPI_Aint)basic_size(form.basic), form.layout);
}

void form_type_release(MPI_Datatype type)
{
    for (int b = 0; b < BASIC_COUNT; b++) {
        if (type == basic_type((basic_t)b))
            return;
        for (int l = 0; l < LAYOUT_COUNT; l++)
            if (type == types[b][l])
                return;
    }
    MPI_Type_free(&type);
}

int form_unit(form_t form)
{
    return form.layout == PLAIN ? 1 : PER_ITEM;
}

int form_count(form_t form, int elements)
{
    return elements / form_unit(form);
}

static size_t offset_of(form_t form, int i)
{
    int at = form.layout == PLAIN
                 ? i
                 : i / PER_ITEM * extents[form.layout] + offsets[form.layout][i % PER_ITEM];

    return (size_t)at * basic_size(form.basic);
}

static char *allocate(size_t bytes)
{
    char *memory = malloc(bytes + 2 * GUARD);

    if (memory == NULL)
        fail("no memory for %zu bytes", bytes);
    memset(memory, FILL, bytes + 2 * GUARD);
    return memory + GUARD;
}

/* Let MPI find what was written to `data`. */
static void show(const buffer_t *buffer)
{
    if (buffer->at != buffer->data)
        memory_store(buffer->memory, buffer->at - GUARD, buffer->data - GUARD,
                     buffer->bytes + 2 * GUARD);
}

void buffer_create(buffer_t *buffer, form_t form, int elements, bool is_received)
{
    int items = (elements + PER_ITEM - 1) / PER_ITEM;

    buffer->form = form;
    buffer->bytes = (size_t)items * (size_t)extents[form.layout] * basic_size(form.basic);
    buffer->data = allocate(buffer->bytes);
    buffer->memory = buffer->bytes > 0 ? memory_draw() : MEMORY_PLAIN;
    buffer->at = buffer->data;
    if (buffer->memory != MEMORY_PLAIN)
        buffer->at = memory_alloc(buffer->memory, buffer->bytes + 2 * GUARD) + GUARD;
    buffer->base = buffer->at;
    buffer->expected = is_received ? allocate(buffer->bytes) : NULL;
    buffer->sum = 0;
    show(buffer);
}

/* Take a buffer that MPI has written. */
static void take(buffer_t *buffer)
{
    if (buffer->at != buffer->data)
        memory_load(buffer->memory, buffer->at - GUARD, buffer->data - GUARD,
                    buffer->bytes + 2 * GUARD);
}

void *buffer_at(buffer_t *buffer)
{
    show(buffer);
    return buffer->at;
}

/* `type`, as much behind a base as `data` is. */
static MPI_Datatype shifted_type(MPI_Datatype type, const void *base, const char *data)
{
    MPI_Aint lower, extent, distance, from = 0;
    MPI_Datatype inner, shifted;

    MPI_Get_address(data, &distance);
    if (base != MPI_BOTTOM)
        MPI_Get_address(base, &from);
    distance -= from;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_create_hindexed_block(1, 1, &distance, type, &inner);
    MPI_Type_create_resized(inner, 0, extent, &shifted);
    MPI_Type_commit(&shifted);
    MPI_Type_free(&inner);
    return shifted;
}

MPI_Datatype buffer_type(buffer_t *buffer)
{
    MPI_Datatype type, shifted;

    if (buffer->data == NULL)
        return MPI_BYTE;
    show(buffer);
    type = form_type(buffer->form);
    if (!chance(&own_random, 20))
        return type;
    buffer->base = chance(&own_random, 50) ? MPI_BOTTOM : (void *)types;
    shifted = shifted_type(type, buffer->base, buffer->at);
    form_type_release(type);
    return shifted;
}

void buffer_refill(buffer_t *buffer, const buffer_t *from)
{
    if (buffer->bytes != from->bytes || (buffer->data == NULL) != (from->data == NULL) ||
        (buffer->expected == NULL) != (from->expected == NULL))
        fail("a buffer of %zu bytes was made again with %zu", buffer->bytes, from->bytes);
    if (from->data != NULL)
        memcpy(buffer->data, from->data, from->bytes);
    if (from->expected != NULL)
        memcpy(buffer->expected, from->expected, from->bytes);
    buffer->sum = from->sum;
    show(buffer);
}

void buffer_destroy(buffer_t *buffer)
{
    if (buffer->at != buffer->data)
        memory_free(buffer->memory, buffer->at - GUARD);
    if (buffer->data != NULL)
        free(buffer->data - GUARD);
    if (buffer->expected != NULL)
        free(buffer->expected - GUARD);
    *buffer = (buffer_t){0};
}

static void store(char *data, form_t form, int i, uint64_t value)
{
    char *at = data + offset_of(form, i);
    uint32_t word = (uint32_t)value;
    double number = (double)(value % 1000); /* sums of them are exact */

    switch (form.basic) {
    case BYTES:
        *at = (char)value;
        break;
    case INTS:
        memcpy(at, &word, sizeof(word));
        break;
    case LONGS:
        memcpy(at, &value, sizeof(value));
        break;
    default:
        memcpy(at, &number, sizeof(number));
    }
}

void buffer_set(buffer_t *buffer, int i, uint64_t value)
{
    store(buffer->data, buffer->form, i, value);
    if (buffer->expected != NULL)
        store(buffer->expected, buffer->form, i, value);
}

void buffer_expect(buffer_t *buffer, int i, uint64_t value)
{
    store(buffer->expected, buffer->form, i, value);
}

static uint64_t sum_of(const buffer_t *buffer)
{
    uint64_t sum = 14695981039346656037u;

    for (size_t i = 0; i < buffer->bytes; i++)
        sum = (sum ^ (unsigned char)buffer->data[i]) * 1099511628211u;
    return sum;
}

void buffer_seal(buffer_t *buffer)
{
    if (buffer->data != NULL && buffer->bytes <= 4096)
        buffer->sum = sum_of(buffer);
    show(buffer);
}

static void check_guards(const buffer_t *buffer, const char *what)
{
    for (int i = 0; i < GUARD; i++)
        if ((unsigned char)buffer->data[-1 - i] != FILL ||
            (unsigned char)buffer->data[buffer->bytes + (size_t)i] != FILL)
            fail("%s: wrote outside its buffer", what);
}

void buffer_check(buffer_t *buffer, const char *what)
{
    if (buffer->data == NULL)
        return;
    take(buffer);
    check_guards(buffer, what);
    if (buffer->expected == NULL) {
        if (buffer->bytes <= 4096 && sum_of(buffer) != buffer->sum)
            fail("%s: the buffer that is sent has changed", what);
        return;
    }
    if (memcmp(buffer->data, buffer->expected, buffer->bytes) == 0)
        return;
    for (size_t i = 0; i < buffer->bytes; i++)
        if (buffer->data[i] != buffer->expected[i])
            fail("%s: byte %zu of %zu is %02x and should be %02x", what, i, buffer->bytes,
                 (unsigned char)buffer->data[i], (unsigned char)buffer->expected[i]);
}

uint64_t value_at(int at_step, int from, int to, int i)
{
    uint64_t x = ((uint64_t)(unsigned)at_step << 40) ^ ((uint64_t)(unsigned)from << 26) ^
                 ((uint64_t)(unsigned)to << 13) ^ (uint64_t)(unsigned)i;

    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

uint64_t value_of(int from, int to, int i)
{
    return value_at(step + turn * STEPS_MAX, from, to, i);
}

int draw_elements(random_t *random, int limit)
{
    static const int classes[] = {1, 2, 9, 40, 200, 3000, 30000, 200000};
    int most = classes[draw(random, chance(random, 10) ? 8 : 6)];
    int elements = draw(random, (most < limit ? most : limit) + 1);

    return chance(random, 50) ? elements - elements % PER_ITEM : elements;
}

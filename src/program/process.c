/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a process, and how it begins and ends. */
#include "program/process.h"

#include <stdarg.h>
#include <stdio.h>

uint32_t process_place(const process_t *p)
{
    const xy_vec_t *at = &p->config->code->at;
    size_t pc = p->pc > 0 ? (size_t)p->pc - 1 : 0;

    return pc < at->count ? XY_VEC_AT(at, uint32_t, pc) : 0;
}

bool process_fail(process_t *p, const char *format, ...)
{
    const code_place_t *place =
        &XY_VEC_AT(&p->config->code->places, code_place_t, process_place(p));
    char text[512];
    va_list args;

    p->is_over = true;
    if (p->status != XY_OK)
        return false;
    if (p->is_silent) {
        p->status = XY_EINVAL;
        return false;
    }
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    p->status =
        xy_fail_at(XY_EINVAL, place->file, place->line, "process %d: %s", (int)p->rank, text);
    return false;
}

bool process_fail_memory(process_t *p)
{
    p->is_over = true;
    if (p->status == XY_OK)
        p->status = p->is_silent ? XY_ENOMEM : xy_fail_memory("predicting");
    return false;
}

bool process_stop(process_t *p)
{
    p->is_over = true;
    if (p->status == XY_OK)
        p->status = XY_EINVAL;
    return false;
}

bool process_fail_blank(process_t *p)
{
    const xy_vec_t *unknowns = &p->config->code->unknowns;
    xy_text_t list = XY_TEXT_INIT;

    for (size_t i = 0; i < unknowns->count; i++) {
        const code_unknown_t *u = &XY_VEC_AT(unknowns, code_unknown_t, i);

        if (u->is_memory)
            xy_text_addf(&list, "%s %s (line %ld: %s)", list.length > 0 ? "," : "", u->name,
                         u->place.line, u->reason);
    }
    if (list.failed)
        process_fail_memory(p);
    else if (list.s != NULL)
        process_fail(p,
                     "a value that is not known, perhaps a part of%s; give it with --assume "
                     "NAME[INDEX]=VALUE",
                     list.s);
    else
        process_fail(p, "a value that is not known: nothing that the description has sets it "
                        "before; 'xylem run --virtual' runs the program itself");
    xy_text_cleanup(&list);
    return false;
}

bool process_is_blank(const void *at, size_t size)
{
    const uint8_t *bytes = at;

    for (size_t i = 0; i < size; i++)
        if (bytes[i] != PROCESS_BLANK)
            return false;
    return size > 0;
}

enum { PAGE = 4096 };

/* Blank the pages of a part of a block that nobody has looked at. */
static void touch(const block_t *block, uint64_t offset, uint64_t size)
{
    for (uint64_t page = offset / PAGE; size > 0 && page <= (offset + size - 1) / PAGE; page++) {
        uint64_t left = block->size - page * PAGE;

        if (block->touched[page] == 0)
            memset(block->data + page * PAGE, PROCESS_BLANK, left < PAGE ? left : PAGE);
        block->touched[page] = 1;
    }
}

void *process_at_slow(process_t *p, uint64_t address, uint64_t size)
{
    uint64_t number = address >> PROCESS_BLOCK_BITS;
    uint64_t offset = address & ((UINT64_C(1) << PROCESS_BLOCK_BITS) - 1);
    const block_t *block;

    if (number == 0 || number > p->blocks.count) {
        process_fail(p, address < PROCESS_NULL ? "a pointer that is NULL"
                                               : "a pointer that points nowhere");
        return NULL;
    }
    block = &XY_VEC_AT(&p->blocks, block_t, number - 1);
    if (block->data == NULL) {
        process_fail(p, "memory that has been freed");
        return NULL;
    }
    if (offset > block->size || size > block->size - offset) {
        process_fail(p, "byte %llu of an array of %llu bytes", (unsigned long long)offset + size,
                     (unsigned long long)block->size);
        return NULL;
    }
    if (block->touched != NULL)
        touch(block, offset, size);
    return block->data + offset;
}

uint64_t process_room(const process_t *p, uint64_t address)
{
    uint64_t number = address >> PROCESS_BLOCK_BITS;
    uint64_t offset = address & ((UINT64_C(1) << PROCESS_BLOCK_BITS) - 1);
    const block_t *block;

    if (number == 0 || number > p->blocks.count)
        return 0;
    block = &XY_VEC_AT(&p->blocks, block_t, number - 1);
    return block->data != NULL && offset < block->size ? block->size - offset : 0;
}

char *process_string(process_t *p, uint64_t address)
{
    uint64_t number = address >> PROCESS_BLOCK_BITS, size;
    char *s = process_at(p, address, 1);
    const char *end;

    if (s == NULL)
        return NULL;
    if (number == 0)
        size = p->used - address;
    else
        size = XY_VEC_AT(&p->blocks, block_t, number - 1).size -
               (address & ((UINT64_C(1) << PROCESS_BLOCK_BITS) - 1));
    process_at(p, address, size); /* all of it is looked at */
    end = memchr(s, '\0', size);
    if (memchr(s, PROCESS_BLANK, end != NULL ? (size_t)(end - s) : size) != NULL) {
        process_fail_blank(p);
        return NULL;
    }
    if (end == NULL) {
        process_fail(p, "a string without an end");
        return NULL;
    }
    return s;
}

/* Blocks of up to a page are blanked at once, larger ones where they are touched. */
static bool blank(process_t *p, block_t *block)
{
    if (block->size <= PAGE) {
        memset(block->data, PROCESS_BLANK, block->size);
        return true;
    }
    block->touched = xy_calloc(block->size / PAGE + 1, 1);
    return block->touched != NULL || process_fail_memory(p);
}

uint64_t process_allocate(process_t *p, uint64_t size)
{
    uint64_t address = process_allocate_cleared(p, size);

    return address != 0 && blank(p, &XY_VEC_AT(&p->blocks, block_t, p->blocks.count - 1)) ? address
                                                                                          : 0;
}

uint64_t process_allocate_cleared(process_t *p, uint64_t size)
{
    block_t *block;

    if (size > p->config->heap_limit || p->heap > p->config->heap_limit - size) {
        process_fail(p,
                     "more than %llu MiB of memory; keep only arrays that steer communication in "
                     "the description",
                     (unsigned long long)(p->config->heap_limit >> 20));
        return 0;
    }
    block = xy_vec_push(&p->blocks);
    if (block != NULL)
        block->data = xy_calloc(size > 0 ? size : 1, 1); /* pages that are not used cost nothing */
    if (block == NULL || block->data == NULL) {
        process_fail_memory(p);
        return 0;
    }
    block->size = size;
    p->heap += size;
    return (uint64_t)p->blocks.count << PROCESS_BLOCK_BITS;
}

bool process_release(process_t *p, uint64_t address)
{
    uint64_t number = address >> PROCESS_BLOCK_BITS;
    block_t *block;

    if (address == 0)
        return true;
    if (number == 0 || number > p->blocks.count || address << (64 - PROCESS_BLOCK_BITS) != 0)
        return process_fail(p, "free() of memory that malloc() did not return");
    block = &XY_VEC_AT(&p->blocks, block_t, number - 1);
    if (block->data == NULL)
        return process_fail(p, "memory is freed twice");
    xy_free(block->data);
    xy_free(block->touched);
    p->heap -= block->size;
    *block = (block_t){NULL, 0, NULL};
    /* Numbers at the end are used again, so that loops do not use them up. */
    while (p->blocks.count > 0 && XY_VEC_AT(&p->blocks, block_t, p->blocks.count - 1).data == NULL)
        xy_vec_pop(&p->blocks);
    return true;
}

uint64_t process_reallocate(process_t *p, uint64_t address, uint64_t size)
{
    uint64_t number = address >> PROCESS_BLOCK_BITS, made, before;
    const void *from;

    if (address == 0)
        return process_allocate(p, size);
    if (number == 0 || number > p->blocks.count || address << (64 - PROCESS_BLOCK_BITS) != 0 ||
        XY_VEC_AT(&p->blocks, block_t, number - 1).data == NULL) {
        process_fail(p, "realloc() of memory that malloc() did not return");
        return 0;
    }
    made = process_allocate(p, size);
    if (made == 0)
        return 0;
    before = XY_VEC_AT(&p->blocks, block_t, number - 1).size;
    before = before < size ? before : size;
    from = process_at(p, address, before);
    memcpy(process_at(p, made, before), from, before);
    return process_release(p, address) ? made : 0;
}

static void put(process_t *p, uint64_t at, const void *data, size_t size)
{
    memcpy(p->memory + at, data, size);
}

/* Variables, literals, argv with its strings; then frames. */
static xy_status_t lay_out(process_t *p)
{
    const process_config_t *config = p->config;
    uint64_t at = config->code->globals, argv, strings;
    size_t size = config->code->strings.length;

    strings = at;
    at = (at + size + 7) / 8 * 8;
    argv = at;
    at += ((uint64_t)config->argc + 1) * 8;
    for (int i = 0; i < config->argc; i++)
        at += strlen(config->argv[i]) + 1;
    p->used = (at + 15) / 16 * 16;
    p->capacity = p->used + 1024;
    p->memory = xy_calloc(p->capacity, 1);
    if (p->memory == NULL)
        return XY_ENOMEM;
    if (size > 0)
        put(p, strings, config->code->strings.s, size);
    at = argv + ((uint64_t)config->argc + 1) * 8;
    for (int i = 0; i < config->argc; i++) {
        size = strlen(config->argv[i]) + 1;
        put(p, argv + 8 * (uint64_t)i, &at, 8);
        put(p, at, config->argv[i], size);
        at += size;
    }
    p->stack[0] = config->argc;
    p->stack[1] = (int64_t)argv;
    return XY_OK;
}

xy_status_t process_init(process_t *p, const process_config_t *config, int32_t rank)
{
    *p = (process_t){.config = config, .rank = rank, .pc = -1, .function = -1};
    p->frames = XY_VEC_INIT(frame_t);
    p->blocks = XY_VEC_INIT(block_t);
    p->made = XY_VEC_INIT(int32_t);
    p->stack_capacity = 32;
    p->stack = xy_calloc((size_t)p->stack_capacity, sizeof(*p->stack));
    if (p->stack != NULL && lay_out(p) == XY_OK)
        return XY_OK;
    process_cleanup(p);
    return XY_ENOMEM;
}

static bool copy_vec(xy_vec_t *to, const xy_vec_t *from)
{
    void *data;

    *to = (xy_vec_t){.size = from->size};
    if (from->count == 0)
        return true;
    data = xy_vec_push_many(to, from->count);
    if (data != NULL)
        memcpy(data, from->data, from->count * from->size);
    return data != NULL;
}

/* Each block becomes one of its own; on failure the rest is not there. */
static bool copy_blocks(process_t *p)
{
    for (size_t i = 0; i < p->blocks.count; i++) {
        block_t *block = &XY_VEC_AT(&p->blocks, block_t, i);
        const uint8_t *from = block->data, *touched = block->touched;
        uint64_t pages = block->size / PAGE + 1;

        if (from == NULL)
            continue;
        block->data = xy_malloc(block->size + 1);
        block->touched = touched != NULL ? xy_malloc(pages) : NULL;
        if (block->data == NULL || (touched != NULL && block->touched == NULL)) {
            p->blocks.count = i + 1;
            return false;
        }
        memcpy(block->data, from, block->size);
        if (touched != NULL)
            memcpy(block->touched, touched, pages);
    }
    return true;
}

xy_status_t process_copy(process_t *p, const process_t *from)
{
    bool ok;

    *p = *from;
    p->memory = xy_malloc(from->capacity);
    p->stack = xy_malloc((size_t)from->stack_capacity * sizeof(*p->stack));
    ok = copy_vec(&p->frames, &from->frames);
    ok = copy_vec(&p->made, &from->made) && ok;
    ok = copy_vec(&p->blocks, &from->blocks) && copy_blocks(p) && ok;
    ok = ok && p->memory != NULL && p->stack != NULL;
    if (!ok) {
        process_cleanup(p);
        return XY_ENOMEM;
    }
    memcpy(p->memory, from->memory, from->capacity);
    memcpy(p->stack, from->stack, (size_t)from->stack_capacity * sizeof(*p->stack));
    return XY_OK;
}

void process_cleanup(process_t *p)
{
    for (size_t i = 0; i < p->blocks.count; i++) {
        xy_free(XY_VEC_AT(&p->blocks, block_t, i).data);
        xy_free(XY_VEC_AT(&p->blocks, block_t, i).touched);
    }
    xy_vec_cleanup(&p->frames);
    xy_vec_cleanup(&p->blocks);
    xy_vec_cleanup(&p->made);
    xy_free(p->memory);
    xy_free(p->stack);
    p->memory = NULL;
    p->stack = NULL;
}

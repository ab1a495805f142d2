/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/variables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/runtime/line.h"

/* The part of libdw's interface that is used here; the library is found at run time. */
typedef struct {
    void *parts[4];
} die_t;
typedef struct {
    void *parts[4];
} attribute_t;
typedef struct {
    uint8_t code;
    uint64_t number, number2, offset;
} operation_t;

enum {
    TAG_ARRAY = 0x01,
    TAG_ENUMERATION = 0x04,
    TAG_PARAMETER = 0x05,
    TAG_MEMBER = 0x0d,
    TAG_POINTER = 0x0f,
    TAG_STRUCTURE = 0x13,
    TAG_TYPEDEF = 0x16,
    TAG_SUBRANGE = 0x21,
    TAG_BASE = 0x24,
    TAG_CONST = 0x26,
    TAG_SUBPROGRAM = 0x2e,
    TAG_VARIABLE = 0x34,
    TAG_VOLATILE = 0x35,
    TAG_RESTRICT = 0x37,
    TAG_ATOMIC = 0x47
};
enum {
    AT_LOCATION = 0x02,
    AT_BIT_SIZE = 0x0d,
    AT_UPPER_BOUND = 0x2f,
    AT_MEMBER_LOCATION = 0x38,
    AT_ENCODING = 0x3e,
    AT_FRAME_BASE = 0x40,
    AT_TYPE = 0x49
};
enum {
    ATE_BOOLEAN = 2,
    ATE_COMPLEX = 3,
    ATE_FLOAT = 4,
    ATE_SIGNED = 5,
    ATE_UNSIGNED = 7,
};
enum { OP_ADDRESS = 0x03, OP_LOAD = 0x06, OP_FRAME = 0x91, OP_FRAME_ADDRESS = 0x9c };
enum { DEPTH = 16 }; /* of types and scopes */

static struct {
    die_t *(*module_addrdie)(void *module, uint64_t address, uint64_t *bias);
    die_t *(*module_nextcu)(void *module, die_t *last, uint64_t *bias);
    int (*getscopes)(die_t *unit, uint64_t address, die_t **scopes);
    int (*tag)(die_t *die);
    const char *(*diename)(die_t *die);
    int (*child)(die_t *die, die_t *child);
    int (*siblingof)(die_t *die, die_t *next);
    attribute_t *(*attr_integrate)(die_t *die, unsigned name, attribute_t *attribute);
    die_t *(*formref_die)(attribute_t *attribute, die_t *die);
    int (*formudata)(attribute_t *attribute, uint64_t *number);
    int (*getlocation_addr)(attribute_t *attribute, uint64_t address, operation_t **operations,
                            size_t *counts, size_t room);
    int (*aggregate_size)(die_t *type, uint64_t *bytes);
} dw;

static const mpi_line_import_t symbols[] = {
    {"dwfl_module_addrdie", &dw.module_addrdie},
    {"dwfl_module_nextcu", &dw.module_nextcu},
    {"dwarf_getscopes", &dw.getscopes},
    {"dwarf_tag", &dw.tag},
    {"dwarf_diename", &dw.diename},
    {"dwarf_child", &dw.child},
    {"dwarf_siblingof", &dw.siblingof},
    {"dwarf_attr_integrate", &dw.attr_integrate},
    {"dwarf_formref_die", &dw.formref_die},
    {"dwarf_formudata", &dw.formudata},
    {"dwarf_getlocation_addr", &dw.getlocation_addr},
    {"dwarf_aggregate_size", &dw.aggregate_size},
};

/* ---- Types ---- */

/* The type that an entry refers to. False: there is none (void). */
static bool type_of(die_t *die, die_t *type)
{
    attribute_t attribute;

    return dw.attr_integrate(die, AT_TYPE, &attribute) != NULL &&
           dw.formref_die(&attribute, type) != NULL;
}

/* Without names and qualifiers. */
static bool peel(die_t *type)
{
    for (int i = 0; i < DEPTH; i++) {
        int tag = dw.tag(type);

        if (tag != TAG_TYPEDEF && tag != TAG_CONST && tag != TAG_VOLATILE && tag != TAG_RESTRICT &&
            tag != TAG_ATOMIC)
            return true;
        if (!type_of(type, type))
            return false;
    }
    return false;
}

static uint64_t number_of(die_t *die, unsigned name)
{
    attribute_t attribute;
    uint64_t number = 0;

    if (dw.attr_integrate(die, name, &attribute) == NULL || dw.formudata(&attribute, &number) != 0)
        return 0;
    return number;
}

/* Set size, kind and name of an element from a base type. */
static void set_base(die_t *type, mpi_element_t *element)
{
    uint64_t encoding = number_of(type, AT_ENCODING), bytes = 0;
    const char *name = dw.diename(type);

    if (dw.aggregate_size(type, &bytes) != 0)
        return;
    element->bytes = encoding == ATE_COMPLEX ? bytes / 2 : bytes;
    if (encoding == ATE_FLOAT || encoding == ATE_COMPLEX)
        element->kind = XMPI_ELEMENT_FLOAT;
    else if (encoding == ATE_SIGNED || encoding == ATE_UNSIGNED || encoding == ATE_BOOLEAN)
        element->kind = XMPI_ELEMENT_INTEGER; /* characters may hold anything */
    snprintf(element->name, sizeof(element->name), "%s", name != NULL ? name : "");
}

static bool is_alike(const mpi_element_t *a, const mpi_element_t *b)
{
    return a->kind == b->kind && a->bytes == b->bytes && strcmp(a->name, b->name) == 0;
}

static size_t end_of(const mpi_typed_part_t *part)
{
    return part->at + part->count * part->element.bytes;
}

/* Add `count` elements that begin at `at`; to those before, if they are alike. */
static void add_part(mpi_typed_t *v, size_t at, size_t count, const mpi_element_t *element)
{
    mpi_typed_part_t *last = v->parts > 0 ? &v->part[v->parts - 1] : NULL;

    if (count == 0 || element->kind == XMPI_ELEMENT_ANY)
        return;
    if (last != NULL && end_of(last) == at && is_alike(&last->element, element))
        last->count += count;
    else if (v->parts < XMPI_PARTS)
        v->part[v->parts++] = (mpi_typed_part_t){.at = at, .count = count, .element = *element};
}

static void add_parts(mpi_typed_t *v, die_t type, size_t at, int depth);

/* Add the elements of an array, one after the other unless they are of one basic type. */
static void add_array(mpi_typed_t *v, die_t *type, size_t at, int depth)
{
    uint64_t all = 0, bytes = 0;
    int before = v->parts;
    mpi_typed_part_t *last;
    die_t element;

    if (dw.aggregate_size(type, &all) != 0 || !type_of(type, &element) ||
        dw.aggregate_size(&element, &bytes) != 0 || bytes == 0 || all < bytes)
        return;
    add_parts(v, element, at, depth);
    last = v->parts > 0 ? &v->part[v->parts - 1] : NULL;
    if (last == NULL || end_of(last) <= at)
        return; /* it has none */
    if (v->parts - before <= 1 && last->at <= at && end_of(last) == at + bytes) {
        last->count += (all - bytes) / last->element.bytes;
        return;
    }
    for (uint64_t done = bytes; done < all && v->parts < XMPI_PARTS; done += bytes)
        add_parts(v, element, at + done, depth);
}

static void add_members(mpi_typed_t *v, die_t *type, size_t at, int depth)
{
    attribute_t attribute;
    die_t member, of;

    for (int more = dw.child(type, &member); more == 0; more = dw.siblingof(&member, &member))
        if (dw.tag(&member) == TAG_MEMBER && type_of(&member, &of) &&
            dw.attr_integrate(&member, AT_BIT_SIZE, &attribute) == NULL)
            add_parts(v, of, at + number_of(&member, AT_MEMBER_LOCATION), depth);
}

/* Add the elements of a type that begins at byte `at`. */
static void add_parts(mpi_typed_t *v, die_t type, size_t at, int depth)
{
    mpi_element_t element = {.kind = XMPI_ELEMENT_ANY};
    uint64_t bytes = 0;
    int tag;

    if (depth == DEPTH || !peel(&type))
        return;
    tag = dw.tag(&type);
    if (tag == TAG_ARRAY) {
        add_array(v, &type, at, depth + 1);
    } else if (tag == TAG_STRUCTURE) {
        add_members(v, &type, at, depth + 1);
    } else if (tag == TAG_BASE) {
        set_base(&type, &element);
        if (element.bytes > 0 && dw.aggregate_size(&type, &bytes) == 0)
            add_part(v, at, bytes / element.bytes, &element);
    } else if ((tag == TAG_ENUMERATION || tag == TAG_POINTER) &&
               dw.aggregate_size(&type, &bytes) == 0) {
        element = (mpi_element_t){.kind = XMPI_ELEMENT_INTEGER, .bytes = bytes};
        snprintf(element.name, sizeof(element.name), "%s", tag == TAG_POINTER ? "pointer" : "enum");
        add_part(v, at, 1, &element);
    }
}

/* The type of the elements of an array of arrays. False: it is not known. */
static bool peel_arrays(die_t *type)
{
    for (int i = 0; i < DEPTH && peel(type); i++)
        if (dw.tag(type) != TAG_ARRAY)
            return true;
        else if (!type_of(type, type))
            return false;
    return false;
}

const mpi_element_t *mpi_typed_element(const mpi_typed_t *v, size_t offset)
{
    bool is_uniform = v->parts == 1 && v->part[0].at == 0 && end_of(&v->part[0]) == v->stride;
    size_t size = v->is_pointer ? v->stride : v->size;

    if (v->stride == 0 || (!is_uniform && offset >= size))
        return NULL;
    offset %= v->stride;
    for (int i = 0; i < v->parts; i++)
        if (offset >= v->part[i].at && offset < end_of(&v->part[i]))
            return &v->part[i].element;
    return NULL;
}

/* ---- Variables ---- */

/* Describe a variable of a type, or the memory that it points to. */
static void describe(die_t *die, die_t type, mpi_typed_t *found)
{
    const char *name = dw.diename(die);
    uint64_t bytes = 0;

    found->is_pointer = false;
    found->step = 0;
    found->parts = 0;
    found->stride = 0;
    snprintf(found->name, sizeof(found->name), "%s", name != NULL ? name : "");
    found->size = dw.aggregate_size(&type, &bytes) == 0 ? bytes : 0;
    if (!peel(&type))
        return;
    found->is_pointer = dw.tag(&type) == TAG_POINTER;
    if (found->is_pointer && !type_of(&type, &type))
        return; /* void * */
    if (!peel_arrays(&type) || dw.aggregate_size(&type, &bytes) != 0)
        return;
    found->stride = bytes;
    add_parts(found, type, 0, 0);
}

/* The only operation of a location; false: it has others, or is not in memory here. */
static bool location_of(die_t *die, unsigned name, uint64_t address, operation_t *operation)
{
    attribute_t attribute;
    operation_t *operations;
    size_t count;

    if (dw.attr_integrate(die, name, &attribute) == NULL ||
        dw.getlocation_addr(&attribute, address, &operations, &count, 1) != 1 || count != 1)
        return false;
    *operation = operations[0];
    return true;
}

/* The place in the frame that has the address or the value which an attribute stands for. False: it
 * is found in another way. */
static bool loaded_of(die_t *die, unsigned name, uint64_t address, int64_t *place)
{
    attribute_t attribute;
    operation_t *operations;
    size_t count;

    if (dw.attr_integrate(die, name, &attribute) == NULL ||
        dw.getlocation_addr(&attribute, address, &operations, &count, 1) != 1 || count != 2 ||
        operations[0].code != OP_FRAME || operations[1].code != OP_LOAD)
        return false;
    *place = (int64_t)operations[0].number;
    return true;
}

/* Describe the bounds of an array with one dimension of variable length. False: it is another type.
 */
static bool describe_bound(die_t type, uint64_t address, mpi_typed_t *found)
{
    attribute_t attribute;
    uint64_t last;
    bool has_bound = false;
    size_t step = found->stride;
    die_t range;

    if (!peel(&type) || dw.tag(&type) != TAG_ARRAY)
        return false;
    for (int more = dw.child(&type, &range); more == 0; more = dw.siblingof(&range, &range)) {
        if (dw.tag(&range) != TAG_SUBRANGE)
            continue;
        if (!has_bound && loaded_of(&range, AT_UPPER_BOUND, address, &found->bound))
            has_bound = true;
        else if (dw.attr_integrate(&range, AT_UPPER_BOUND, &attribute) != NULL &&
                 dw.formudata(&attribute, &last) == 0)
            step *= last + 1;
        else
            return false;
    }
    found->step = has_bound ? step : 0;
    return has_bound;
}

/* Describe the variable if it lies in memory that the code at `address` knows, at a fixed place or
 * through a pointer of the frame. */
static bool find_place(die_t *die, die_t type, uint64_t address, uint64_t start, mpi_typed_t *found)
{
    operation_t operation;

    if (location_of(die, AT_LOCATION, address, &operation)) {
        describe(die, type, found);
        found->is_local = operation.code == OP_FRAME;
        found->place = (int64_t)(operation.number - (found->is_local ? 0 : start));
        return found->is_local || (operation.code == OP_ADDRESS && found->is_pointer);
    }
    if (!loaded_of(die, AT_LOCATION, address, &found->place))
        return false;
    describe(die, type, found);
    found->is_local = true;
    return describe_bound(type, address, found);
}

/* Add the variables of a scope: those of a frame, or pointers among the global ones. */
static int add_variables(die_t *scope, uint64_t address, uint64_t start, mpi_typed_t *found,
                         int room)
{
    die_t die, type;
    int count = 0;

    for (int more = dw.child(scope, &die); more == 0 && count < room;
         more = dw.siblingof(&die, &die)) {
        int tag = dw.tag(&die);

        if ((tag == TAG_VARIABLE || tag == TAG_PARAMETER) && type_of(&die, &type) &&
            find_place(&die, type, address, start, &found[count]))
            count++;
    }
    return count;
}

int mpi_variables_of_call(const char *path, size_t offset, mpi_typed_t *found, int room)
{
    uint64_t start, bias = 0, address;
    void *module = mpi_line_module(path, symbols, sizeof(symbols) / sizeof(symbols[0]), &start);
    die_t *unit = module != NULL ? dw.module_addrdie(module, start + offset, &bias) : NULL;
    die_t *scopes = NULL;
    operation_t base;
    int depth, count = 0;

    if (unit == NULL)
        return 0;
    address = start + offset - bias;
    depth = dw.getscopes(unit, address, &scopes);
    for (int i = 0; i < depth && count < room; i++) {
        count += add_variables(&scopes[i], address, start - bias, found + count, room - count);
        if (dw.tag(&scopes[i]) == TAG_SUBPROGRAM &&
            (!location_of(&scopes[i], AT_FRAME_BASE, address, &base) ||
             base.code != OP_FRAME_ADDRESS))
            count = 0; /* places count from a register */
    }
    free(scopes);
    return count;
}

/* Functions that were inlined there share the code of the one around them. */
bool mpi_variables_is_void(const char *path, size_t offset)
{
    uint64_t start, bias = 0;
    void *module = mpi_line_module(path, symbols, sizeof(symbols) / sizeof(symbols[0]), &start);
    die_t *unit = module != NULL ? dw.module_addrdie(module, start + offset, &bias) : NULL;
    die_t *scopes = NULL, type;
    bool is_void = false;
    int depth = unit != NULL ? dw.getscopes(unit, start + offset - bias, &scopes) : 0;

    for (int i = 0; i < depth; i++)
        if (dw.tag(&scopes[i]) == TAG_SUBPROGRAM)
            is_void = !type_of(&scopes[i], &type);
    free(scopes);
    return is_void;
}

/* Look below an entry for a variable with this byte. */
static bool find_global(die_t *parent, uint64_t address, uint64_t start, mpi_typed_t *found,
                        int depth)
{
    die_t die, type;

    if (depth == DEPTH)
        return false;
    for (int more = dw.child(parent, &die); more == 0; more = dw.siblingof(&die, &die)) {
        operation_t operation;
        uint64_t size = 0;

        if (dw.tag(&die) != TAG_VARIABLE) {
            if (find_global(&die, address, start, found, depth + 1))
                return true;
            continue;
        }
        if (!type_of(&die, &type) || !location_of(&die, AT_LOCATION, address, &operation) ||
            operation.code != OP_ADDRESS || dw.aggregate_size(&type, &size) != 0 ||
            address < operation.number || address - operation.number >= size)
            continue;
        found->place = (int64_t)(operation.number - start);
        describe(&die, type, found);
        return !found->is_pointer;
    }
    return false;
}

bool mpi_variables_global(const char *path, size_t offset, mpi_typed_t *found)
{
    uint64_t start, bias = 0;
    void *module = mpi_line_module(path, symbols, sizeof(symbols) / sizeof(symbols[0]), &start);
    die_t *unit = NULL;

    if (module == NULL)
        return false;
    while ((unit = dw.module_nextcu(module, unit, &bias)) != NULL)
        if (find_global(unit, start + offset - bias, start - bias, found, 0))
            return true;
    return false;
}

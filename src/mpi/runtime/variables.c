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
enum { OP_ADDRESS = 0x03, OP_FRAME = 0x91, OP_FRAME_ADDRESS = 0x9c };
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

/* The member of a structure with the byte at `*offset_p`, from which it counts then. */
static bool find_member(die_t *type, uint64_t *offset_p)
{
    die_t member, found;
    uint64_t place = 0;
    bool is_found = false;

    for (int more = dw.child(type, &member); more == 0; more = dw.siblingof(&member, &member)) {
        uint64_t at = number_of(&member, AT_MEMBER_LOCATION);

        if (dw.tag(&member) == TAG_MEMBER && at <= *offset_p && (at >= place || !is_found)) {
            found = member;
            place = at;
            is_found = true;
        }
    }
    if (!is_found || !type_of(&found, type))
        return false;
    *offset_p -= place;
    return true;
}

/* The basic element of a type at a byte of it; ANY: not known, or of several kinds (unions). True:
 * all elements of the type are alike. */
static bool find_element(die_t type, uint64_t offset, mpi_element_t *element)
{
    bool is_uniform = true;

    for (int depth = 0; depth < DEPTH && peel(&type); depth++) {
        int tag = dw.tag(&type);
        uint64_t bytes = 0;

        if (tag == TAG_BASE) {
            set_base(&type, element);
            return is_uniform;
        }
        if (tag == TAG_ENUMERATION || tag == TAG_POINTER) {
            if (dw.aggregate_size(&type, &bytes) == 0)
                *element = (mpi_element_t){.kind = XMPI_ELEMENT_INTEGER, .bytes = bytes};
            snprintf(element->name, sizeof(element->name), "%s",
                     tag == TAG_POINTER ? "pointer" : "enum");
            return is_uniform;
        }
        if (tag == TAG_ARRAY) {
            die_t whole = type;

            if (!type_of(&whole, &type) || dw.aggregate_size(&type, &bytes) != 0 || bytes == 0)
                return false;
            offset %= bytes;
            continue;
        }
        if (tag != TAG_STRUCTURE || !find_member(&type, &offset))
            return false;
        is_uniform = false;
    }
    return false;
}

/* ---- Variables ---- */

/* Describe a variable and the element at `offset` in it, or in the memory it points to. */
static void describe(die_t *die, die_t type, uint64_t offset, mpi_typed_t *found)
{
    const char *name = dw.diename(die);
    uint64_t size = 0;

    found->is_pointer = found->is_uniform = false;
    found->element = (mpi_element_t){.kind = XMPI_ELEMENT_ANY};
    snprintf(found->name, sizeof(found->name), "%s", name != NULL ? name : "");
    if (dw.aggregate_size(&type, &size) != 0)
        size = 0;
    found->size = size;
    if (!peel(&type))
        return;
    found->is_pointer = dw.tag(&type) == TAG_POINTER;
    if (found->is_pointer && !type_of(&type, &type))
        return; /* void * */
    found->is_uniform = find_element(type, offset, &found->element);
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

/* Add the variables of a scope: those of a frame, or pointers among the global ones. */
static int add_variables(die_t *scope, uint64_t address, uint64_t start, mpi_typed_t *found,
                         int room)
{
    die_t die, type;
    int count = 0;

    for (int more = dw.child(scope, &die); more == 0 && count < room;
         more = dw.siblingof(&die, &die)) {
        int tag = dw.tag(&die);
        operation_t operation;

        if ((tag != TAG_VARIABLE && tag != TAG_PARAMETER) || !type_of(&die, &type) ||
            !location_of(&die, AT_LOCATION, address, &operation))
            continue;
        describe(&die, type, 0, &found[count]);
        found[count].is_local = operation.code == OP_FRAME;
        found[count].place = (int64_t)(operation.number - (found[count].is_local ? 0 : start));
        if (found[count].is_local || (operation.code == OP_ADDRESS && found[count].is_pointer))
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
        describe(&die, type, address - operation.number, found);
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

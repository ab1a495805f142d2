/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements to code, and whole descriptions. */
#include <string.h>

#include "program/compile.h"
#include "program/process.h"

static void statement(compiler_t *c, const xy_node_t *node);
static void compile_body(compiler_t *c, const xy_node_t *first);

static expr_t *parse(compiler_t *c, const char *text)
{
    expr_t *e = NULL;

    if (c->status == XY_OK)
        c->status = expr_parse(&c->code->types, text, c->place, &e);
    return c->status == XY_OK ? e : NULL;
}

static const char *needed(compiler_t *c, const xy_node_t *node, const char *name)
{
    const char *text = xy_node_attr(node, name);

    if (text == NULL)
        compile_fail(c, "<%s> needs %s=\"...\"", xy_node_name(node->kind), name);
    return text != NULL ? text : "0";
}

/* An expression whose value is not needed. */
static void discard(compiler_t *c, const expr_t *e)
{
    if (e != NULL && (compile_byte_copy(c, e) || compile_value(c, e) != NULL))
        emit(c, OP_POP, 0, 0, 0);
}

/* A jump that is taken when the condition does not hold (or, `is_not`, when it does). */
static int32_t jump_unless(compiler_t *c, const char *text, bool is_not)
{
    const expr_t *e = parse(c, text);
    const type_t *type = e != NULL ? compile_value(c, e) : NULL;

    if (type == NULL || !emit_truth(c, type))
        return 0;
    return emit(c, is_not ? OP_JUMP_NOT : OP_JUMP_ZERO, 0, 0, 0);
}

/* Jumps that wait for their target are chained: each has the number of the one before. */
static void chain(compiler_t *c, int32_t *last)
{
    int32_t jump = emit(c, OP_JUMP, 0, 0, *last);

    *last = jump;
}

static void resolve(compiler_t *c, int32_t last, int32_t target)
{
    while (c->status == XY_OK && last >= 0) {
        insn_t *insn = &XY_VEC_AT(&c->code->insns, insn_t, last);

        last = insn->arg;
        insn->arg = target;
    }
}

static void open_loop(compiler_t *c, jumps_t *jumps, bool is_loop)
{
    *jumps = (jumps_t){.breaks = -1, .continues = -1, .is_loop = is_loop, .outer = c->jumps};
    c->jumps = jumps;
}

static void close_loop(compiler_t *c, int32_t continues)
{
    resolve(c, c->jumps->continues, continues);
    resolve(c, c->jumps->breaks, emit_here(c));
    c->jumps = c->jumps->outer;
}

/* Emits the test of an <if> and its branches. */
static void compile_if(compiler_t *c, const xy_node_t *node)
{
    int32_t other = jump_unless(c, needed(c, node, "c"), false), end;
    const xy_node_t *last = node->last;

    compile_body(c, node->child);
    if (last == NULL || last->kind != XY_NODE_ELSE) {
        emit_target(c, other);
        return;
    }
    end = emit(c, OP_JUMP, 0, 0, 0);
    emit_target(c, other);
    compile_body(c, last->child);
    emit_target(c, end);
}

/* Compiles the first part of a for loop: declarations, which join the current scope, or an
 * expression. */
static void for_start(compiler_t *c, const char *text)
{
    const type_t *type = NULL;
    expr_t *e = NULL;

    if (c->status == XY_OK && *text != '\0')
        c->status = expr_parse_start(&c->code->types, text, c->place, &type, &e);
    if (type == NULL) {
        discard(c, e);
        return;
    }
    for (; e != NULL && c->status == XY_OK; e = e->next) {
        const expr_t *name = e->kind == EXPR_ASSIGN ? e->a : e;

        if (name->kind != EXPR_NAME || e->op != OPERATOR_NONE)
            compile_fail(c, "'%s' declares no variables that a loop can have", text);
        else
            compile_variable(c, name->text, name->length, type,
                             e->kind == EXPR_ASSIGN ? e->b : NULL);
    }
}

/* Emits a for loop; variables of its start are out of scope afterwards. */
static void compile_for(compiler_t *c, const xy_node_t *node)
{
    const char *start = xy_node_attr(node, "start"), *test = xy_node_attr(node, "test"),
               *step = xy_node_attr(node, "step");
    variable_t *scope = c->scope;
    int32_t top, out = -1, next;
    jumps_t jumps;

    for_start(c, start != NULL ? start : "");
    top = emit_here(c);
    if (test != NULL && *test != '\0')
        out = jump_unless(c, test, false);
    open_loop(c, &jumps, true);
    compile_body(c, node->child);
    next = emit_here(c);
    compile_at(c, node, NULL);
    if (step != NULL && *step != '\0')
        discard(c, parse(c, step));
    emit(c, OP_AGAIN, 0, 0, top);
    if (out >= 0)
        emit_target(c, out);
    close_loop(c, next);
    c->scope = scope;
}

static void compile_while(compiler_t *c, const xy_node_t *node)
{
    int32_t top = emit_here(c), out = jump_unless(c, needed(c, node, "c"), false);
    jumps_t jumps;

    open_loop(c, &jumps, true);
    compile_body(c, node->child);
    compile_at(c, node, NULL);
    emit(c, OP_AGAIN, 0, 0, top);
    emit_target(c, out);
    close_loop(c, top);
}

/* Emits a do-while loop: `continue` jumps to the test. */
static void compile_repeat(compiler_t *c, const xy_node_t *node)
{
    int32_t top = emit_here(c), next, out;
    jumps_t jumps;

    open_loop(c, &jumps, true);
    compile_body(c, node->child);
    next = emit_here(c);
    compile_at(c, node, NULL);
    out = jump_unless(c, needed(c, node, "c"), false);
    emit(c, OP_AGAIN, 0, 0, top);
    emit_target(c, out);
    close_loop(c, next);
}

/* Compares with the values of all cases of a switch, in the order in which its code has them: they
 * may stand inside of other statements of it. */
static void compare_cases(compiler_t *c, const xy_node_t *first, int32_t slot)
{
    for (const xy_node_t *n = first; n != NULL && c->status == XY_OK; n = n->next) {
        int32_t *jump = n->kind == XY_NODE_CASE ? xy_vec_push(&c->cases->jumps) : NULL;
        const expr_t *e;

        if (n->kind != XY_NODE_SWITCH)
            compare_cases(c, n->child, slot);
        if (n->kind != XY_NODE_CASE)
            continue;
        emit(c, OP_LOCAL_64, 0, 0, slot);
        e = parse(c, needed(c, n, "value"));
        if (jump == NULL)
            compile_fail_memory(c);
        else if (e != NULL && compile_value_as(c, e, type_basic(TYPE_I64))) {
            emit(c, OP_EQUAL_I64, 0, 0, 0);
            *jump = emit(c, OP_JUMP_NOT, 0, 0, 0);
        }
    }
}

/* Compare with each case and jump; what follows is the code of all of them. */
static void compile_switch(compiler_t *c, const xy_node_t *node)
{
    cases_t cases = {.jumps = XY_VEC_INIT(int32_t), .outer = c->cases};
    const expr_t *e = parse(c, needed(c, node, "c"));
    int32_t slot;
    jumps_t jumps;

    c->frame = (c->frame + 7) / 8 * 8;
    slot = c->frame;
    c->frame += 8;
    if (c->frame > c->function->frame)
        c->function->frame = c->frame;
    if (e != NULL && compile_value_as(c, e, type_basic(TYPE_I64))) {
        emit(c, OP_SET_LOCAL_64, 0, 0, slot);
        emit(c, OP_POP, 0, 0, 0);
    }
    c->cases = &cases;
    compare_cases(c, node->child, slot);
    cases.otherwise = emit(c, OP_JUMP, 0, 0, 0);
    open_loop(c, &jumps, false);
    compile_body(c, node->child);
    if (!cases.has_default)
        emit_target(c, cases.otherwise);
    close_loop(c, 0); /* a continue inside is one of the loop around */
    c->cases = cases.outer;
    xy_vec_cleanup(&cases.jumps);
}

static void compile_case(compiler_t *c, const xy_node_t *node)
{
    if (c->cases == NULL) {
        compile_fail(c, "<%s> outside of a switch", xy_node_name(node->kind));
    } else if (node->kind == XY_NODE_CASE) {
        emit_target(c, XY_VEC_AT(&c->cases->jumps, int32_t, c->cases->next++));
    } else {
        emit_target(c, c->cases->otherwise);
        c->cases->has_default = true;
    }
}

static void compile_leave(compiler_t *c, const xy_node_t *node)
{
    jumps_t *jumps = c->jumps;

    if (node->kind == XY_NODE_CONTINUE)
        while (jumps != NULL && !jumps->is_loop)
            jumps = jumps->outer;
    if (jumps == NULL)
        compile_fail(c, "<%s> outside of a loop", xy_node_name(node->kind));
    else
        chain(c, node->kind == XY_NODE_BREAK ? &jumps->breaks : &jumps->continues);
}

/* Returns the label of a name, which is added if it is new; NULL without memory. */
static label_t *find_label(compiler_t *c, const char *name)
{
    label_t *l = c->labels;

    while (l != NULL && strcmp(l->name, name) != 0)
        l = l->next;
    if (l != NULL)
        return l;
    l = xy_arena_alloc(c->code->arena, sizeof(*l));
    if (l == NULL) {
        compile_fail_memory(c);
        return NULL;
    }
    *l = (label_t){.name = name, .at = -1, .jumps = -1, .place = c->place, .next = c->labels};
    c->labels = l;
    return l;
}

static void compile_goto(compiler_t *c, const xy_node_t *node)
{
    label_t *l = find_label(c, needed(c, node, "label"));

    if (l != NULL && l->at >= 0)
        emit(c, OP_AGAIN, 0, 0, l->at);
    else if (l != NULL)
        chain(c, &l->jumps);
}

static void compile_label(compiler_t *c, const xy_node_t *node)
{
    label_t *l = find_label(c, needed(c, node, "name"));

    if (l == NULL)
        return;
    if (l->at >= 0)
        compile_fail(c, "a second label '%s' in a function", l->name);
    l->at = emit_here(c);
    resolve(c, l->jumps, l->at);
}

static void check_labels(compiler_t *c)
{
    for (const label_t *l = c->labels; l != NULL && c->status == XY_OK; l = l->next)
        if (l->at < 0) {
            c->place = l->place;
            compile_fail(c, "there is no <label> '%s' in this function", l->name);
        }
}

/* Emits a return with the value converted to the type of the function; 0 is the value of a function
 * without a result. */
static void compile_return(compiler_t *c, const xy_node_t *node)
{
    const char *text = xy_node_attr(node, "c");
    const expr_t *e = text != NULL && *text != '\0' ? parse(c, text) : NULL;

    if (e != NULL && c->function->result->kind != TYPE_VOID) {
        if (!compile_value_as(c, e, c->function->result))
            return;
    } else {
        discard(c, e);
        emit_integer(c, 0);
    }
    emit(c, OP_RETURN, 0, 0, 0);
}

static const type_t *node_type(compiler_t *c, const xy_node_t *node)
{
    const type_t *type = NULL;

    if (c->status == XY_OK)
        c->status = expr_parse_type(&c->code->types, needed(c, node, "type"), c->place, &type);
    return c->status == XY_OK ? type : NULL;
}

static void compile_declaration(compiler_t *c, const xy_node_t *node)
{
    const type_t *type = node_type(c, node);
    const char *name = needed(c, node, "name"), *text = xy_node_attr(node, "value");
    expr_t *value = NULL;

    if (text != NULL && c->status == XY_OK)
        c->status = expr_parse_value(&c->code->types, text, c->place, &value);
    if (type != NULL && c->status == XY_OK)
        compile_variable(c, name, strlen(name), type, value);
}

static const code_assume_t *find_assumed(const compiler_t *c, const char *name)
{
    for (size_t i = 0; i < c->assumed_count; i++)
        if (strcmp(c->assumed[i].name, name) == 0)
            return &c->assumed[i];
    return NULL;
}

/* Emit an expression that is printed from parts of the description. */
static void compile_text(compiler_t *c, const xy_text_t *text)
{
    if (text->failed)
        compile_fail_memory(c);
    else
        discard(c, parse(c, text->s));
}

/* Is it NAME[...] or NAME.member, a part of the memory of this name? */
static bool is_element(const char *assumed, const char *name)
{
    size_t length = strlen(name);

    return strncmp(assumed, name, length) == 0 &&
           (assumed[length] == '[' || assumed[length] == '.');
}

/* Memory whose contents are not known: blank it, so that a process that reads it fails, and set the
 * elements that are given with --assume. */
static void compile_unknown_memory(compiler_t *c, const char *name, const char *target,
                                   const char *bytes)
{
    xy_text_t text = XY_TEXT_INIT;

    xy_text_addf(&text, "memset(&(%s), %d, sizeof(%s)), memset(&(%s), %d, %s)", target,
                 PROCESS_BLANK, target, target, PROCESS_BLANK, bytes);
    compile_text(c, &text);
    for (size_t i = 0; i < c->assumed_count; i++)
        if (is_element(c->assumed[i].name, name)) {
            xy_text_cleanup(&text);
            xy_text_addf(&text, "%s = %s", c->assumed[i].name, c->assumed[i].text);
            compile_text(c, &text);
        }
    xy_text_cleanup(&text);
}

/* Emits the assignment of an unknown value: the one given with --assume, else the recorded one, and
 * adds it to the list of unknown values. */
static void compile_unknown(compiler_t *c, const xy_node_t *node)
{
    code_unknown_t unknown = {
        .name = needed(c, node, "name"), .reason = needed(c, node, "reason"), .place = c->place};
    const char *target = xy_node_attr(node, "target"), *bytes = xy_node_attr(node, "bytes");
    const code_assume_t *assumed = find_assumed(c, unknown.name);
    expr_t recorded = {.kind = EXPR_RECORDED, .integer = (int64_t)c->code->unknowns.count};
    expr_t set = {.kind = EXPR_ASSIGN, .b = &recorded};
    const type_t *type;

    unknown.is_memory = target != NULL && bytes != NULL;
    unknown.is_given = assumed != NULL || target == NULL || unknown.is_memory;
    if (unknown.is_memory)
        compile_unknown_memory(c, unknown.name, target, bytes);
    else if (target != NULL)
        set.a = parse(c, target);
    if (assumed != NULL && target != NULL)
        set.b = parse(c, assumed->text);
    type = set.a != NULL && c->status == XY_OK ? compile_type_of(c, set.a) : NULL;
    if (type != NULL && (assumed != NULL || type_is_arithmetic(type)))
        discard(c, &set);
    else if (type != NULL)
        emit(c, OP_UNKNOWN, 0, 0, recorded.integer);
    if (xy_vec_append(&c->code->unknowns, &unknown) != XY_OK)
        compile_fail_memory(c);
}

/* Emits one statement; errors are left in `c->status`. */
static void statement(compiler_t *c, const xy_node_t *node)
{
    compile_at(c, node, NULL);
    switch (node->kind) {
    case XY_NODE_VARIABLE:
        compile_declaration(c, node);
        break;
    case XY_NODE_DO:
        discard(c, parse(c, needed(c, node, "c")));
        break;
    case XY_NODE_BLOCK:
        compile_body(c, node->child);
        break;
    case XY_NODE_IF:
        compile_if(c, node);
        break;
    case XY_NODE_FOR:
        compile_for(c, node);
        break;
    case XY_NODE_WHILE:
        compile_while(c, node);
        break;
    case XY_NODE_REPEAT:
        compile_repeat(c, node);
        break;
    case XY_NODE_SWITCH:
        compile_switch(c, node);
        break;
    case XY_NODE_CASE:
    case XY_NODE_DEFAULT:
        compile_case(c, node);
        break;
    case XY_NODE_BREAK:
    case XY_NODE_CONTINUE:
        compile_leave(c, node);
        break;
    case XY_NODE_GOTO:
        compile_goto(c, node);
        break;
    case XY_NODE_LABEL:
        compile_label(c, node);
        break;
    case XY_NODE_RETURN:
        compile_return(c, node);
        break;
    case XY_NODE_MPI:
        compile_mpi(c, node);
        break;
    case XY_NODE_KERNEL:
    case XY_NODE_COMPUTE:
    case XY_NODE_TEAM:
        compile_kernel(c, node);
        break;
    case XY_NODE_UNKNOWN:
        compile_unknown(c, node);
        break;
    default: /* parameters, and an <else>, which its <if> compiles */
        break;
    }
}

static void compile_body(compiler_t *c, const xy_node_t *first)
{
    variable_t *scope = c->scope;

    /* Room in the frame is not used again: what a variable holds before it is set is not known. */
    for (const xy_node_t *n = first; n != NULL && c->status == XY_OK; n = n->next)
        statement(c, n);
    c->scope = scope;
}

/* ---- Functions and the whole ---- */

static int count_parameters(const xy_node_t *node)
{
    int count = 0;

    for (const xy_node_t *n = node->child; n != NULL; n = n->next)
        count += n->kind == XY_NODE_PARAMETER;
    return count;
}

/* Arrays are given to functions as pointers to their first elements. */
static const type_t *parameter_type(compiler_t *c, const xy_node_t *node)
{
    const type_t *type;

    compile_at(c, node, NULL);
    type = node_type(c, node);
    if (type != NULL && type->kind == TYPE_ARRAY)
        type = type_pointer(&c->code->types, type->of);
    return type != NULL ? type : compile_fail_memory(c);
}

/* Adds a function with its result and parameter types; its body is compiled later. */
static void declare_function(compiler_t *c, const xy_node_t *node)
{
    function_t *f = xy_vec_push(&c->code->functions);
    const char *type = xy_node_attr(node, "type");
    int i = 0;

    compile_at(c, node, NULL);
    if (f == NULL) {
        compile_fail_memory(c);
        return;
    }
    f->node = node;
    f->name = needed(c, node, "name");
    f->count = count_parameters(node);
    f->parameters = xy_arena_alloc(c->code->arena, (size_t)(f->count + 1) * sizeof(type_t *));
    f->offsets = xy_arena_alloc(c->code->arena, (size_t)(f->count + 1) * sizeof(int32_t));
    if (f->parameters == NULL || f->offsets == NULL)
        compile_fail_memory(c);
    if (c->status == XY_OK)
        c->status =
            expr_parse_type(&c->code->types, type != NULL ? type : "void", c->place, &f->result);
    for (const xy_node_t *n = node->child; n != NULL && c->status == XY_OK; n = n->next)
        if (n->kind == XY_NODE_PARAMETER)
            f->parameters[i++] = parameter_type(c, n);
}

/* Emits the parameters and the body of a function, and rounds its frame up to 16 bytes. */
static void compile_function(compiler_t *c, size_t index)
{
    function_t *f = &XY_VEC_AT(&c->code->functions, function_t, index);
    variable_t *scope = c->scope;
    int i = 0;

    c->function = f;
    c->frame = c->depth = 0;
    c->is_top = false;
    f->entry = emit_here(c);
    for (const xy_node_t *n = f->node->child; n != NULL && c->status == XY_OK; n = n->next) {
        const char *name = n->kind == XY_NODE_PARAMETER ? needed(c, n, "name") : NULL;

        if (name == NULL)
            continue;
        compile_variable(c, name, strlen(name), f->parameters[i], NULL);
        if (c->status == XY_OK)
            f->offsets[i++] = c->scope->offset;
    }
    c->labels = NULL;
    compile_body(c, f->node->child);
    check_labels(c);
    compile_at(c, f->node, NULL);
    emit_integer(c, 0);
    emit(c, OP_RETURN, 0, 0, 0);
    f->frame = (f->frame + 15) / 16 * 16;
    f->depth += f->count + 4;
    c->scope = scope;
}

static const type_t *innermost(const type_t *type)
{
    while (type->kind == TYPE_ARRAY)
        type = type->of;
    return type;
}

/* Adds a struct type with its fields; fields need a constant size. */
static void declare_struct(compiler_t *c, const xy_node_t *node)
{
    const char *text = needed(c, node, "name");
    type_t *structure = xy_hash_get(&c->code->types.structs, XY_HASH_KEY(text));

    compile_at(c, node, NULL);
    if (structure == NULL || structure->fields != NULL) {
        compile_fail(c, "a second struct %s", text);
        return;
    }
    for (const xy_node_t *n = node->child; n != NULL && c->status == XY_OK; n = n->next) {
        const char *name = needed(c, n, "name");
        const type_t *type;

        compile_at(c, n, NULL);
        type = node_type(c, n);
        if (type == NULL)
            return;
        if (type->size == 0 || type->length != NULL || type->kind == TYPE_VOID ||
            innermost(type) == structure || structure->size > TYPE_SIZE_MAX - type->size)
            compile_fail(c, "'%s' has no size that a struct can have", name);
        else if (!type_field_add(&c->code->types, structure, name, type))
            compile_fail_memory(c);
    }
}

/* Variables of the program, set before main() by a function of their own. */
static void compile_globals(compiler_t *c, const xy_node_t *root)
{
    static const xy_node_t nowhere = {.kind = XY_NODE_FUNCTION, .file = ""};
    function_t *f = xy_vec_push(&c->code->functions);
    const type_t *i32 = type_basic(TYPE_I32);
    const expr_t one = {.kind = EXPR_INTEGER, .integer = 1, .type = i32};

    if (f == NULL) {
        compile_fail_memory(c);
        return;
    }
    c->code->start = (int32_t)c->code->functions.count - 1;
    *f = (function_t){.name = "", .node = &nowhere, .result = type_basic(TYPE_VOID)};
    compile_at(c, &nowhere, NULL);
    c->function = f;
    c->is_top = true;
    c->code->globals = CODE_OPTARG;
    compile_variable(c, "optarg", 6, type_pointer(&c->code->types, type_basic(TYPE_I8)), NULL);
    compile_variable(c, "optind", 6, i32, &one);
    compile_variable(c, "opterr", 6, i32, &one);
    compile_variable(c, "optopt", 6, i32, NULL);
    for (const xy_node_t *n = root->child; n != NULL && c->status == XY_OK; n = n->next)
        if (n->kind == XY_NODE_VARIABLE)
            statement(c, n);
    emit_integer(c, 0);
    emit(c, OP_RETURN, 0, 0, 0);
    f->depth += 4;
}

/* Sets the index of main(), and fails for a missing main() and for two functions of one name. */
static void find_main(compiler_t *c)
{
    for (size_t i = 0; i < c->code->functions.count; i++) {
        const function_t *f = &XY_VEC_AT(&c->code->functions, function_t, i);

        for (size_t j = 0; j < i; j++)
            if (strcmp(XY_VEC_AT(&c->code->functions, function_t, j).name, f->name) == 0) {
                c->place = (place_t){f->node->file, f->node->line};
                compile_fail(c, "a second function %s()", f->name);
            }
        if (strcmp(f->name, "main") == 0)
            c->code->main = (int32_t)i;
    }
    if (c->code->main >= 0 && XY_VEC_AT(&c->code->functions, function_t, c->code->main).count > 2)
        compile_fail(c, "main() takes argc and argv");
    if (c->code->main < 0 && c->status == XY_OK)
        c->status = xy_fail(XY_EINVAL, "the description has no function main()");
}

/* Compile the entry of a process: set the variables, call main() with the arguments on the stack,
 * end. */
static void compile_entry(compiler_t *c)
{
    static const xy_node_t nowhere = {.kind = XY_NODE_FUNCTION, .file = ""};
    int count = XY_VEC_AT(&c->code->functions, function_t, c->code->main).count;

    compile_at(c, &nowhere, NULL);
    c->code->entry = emit_here(c);
    emit(c, OP_CALL, 0, 0, c->code->start);
    emit(c, OP_POP, 0, 0, 0);
    for (; count < 2; count++)
        emit(c, OP_POP, 0, 0, 0);
    emit(c, OP_CALL, 0, 0, c->code->main);
    emit(c, OP_END, 0, 0, 0);
}

/* Literals come behind the variables. */
static void place_strings(compiler_t *c)
{
    for (size_t i = 0; i < c->code->insns.count; i++) {
        insn_t *insn = &XY_VEC_AT(&c->code->insns, insn_t, i);

        if (insn->op == OP_ADDRESS_GLOBAL && insn->x == 1)
            insn->arg += (int32_t)c->code->globals;
    }
}

static bool is_name_of(const code_unknown_t *unknown, const char *assumed)
{
    return unknown->is_memory ? is_element(assumed, unknown->name)
                              : strcmp(unknown->name, assumed) == 0;
}

/* Returns XY_EUSAGE if an --assume option names no unknown value of the description. */
static xy_status_t check_assumed(const compiler_t *c)
{
    xy_text_t names = XY_TEXT_INIT;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < c->assumed_count && st == XY_OK; i++) {
        bool is_used = false;

        for (size_t j = 0; j < c->code->unknowns.count; j++)
            is_used |=
                is_name_of(&XY_VEC_AT(&c->code->unknowns, code_unknown_t, j), c->assumed[i].name);
        if (is_used)
            continue;
        for (size_t j = 0; j < c->code->unknowns.count; j++)
            xy_text_addf(&names, "%s %s%s", j > 0 ? "," : "; there are:",
                         XY_VEC_AT(&c->code->unknowns, code_unknown_t, j).name,
                         XY_VEC_AT(&c->code->unknowns, code_unknown_t, j).is_memory ? "[]" : "");
        st = xy_fail(XY_EUSAGE, "the description has no unknown value '%s'%s", c->assumed[i].name,
                     names.s != NULL ? names.s : "; all values are known");
    }
    xy_text_cleanup(&names);
    return st;
}

/* Compiles all of a description: types and heads of functions first, then globals and bodies. */
static void compile_program(compiler_t *c, const xy_node_t *root)
{
    /* Their names first: they may point to each other. */
    for (const xy_node_t *n = root->child; n != NULL && c->status == XY_OK; n = n->next)
        if (n->kind == XY_NODE_STRUCT &&
            type_struct(&c->code->types, needed(c, n, "name"), strlen(needed(c, n, "name"))) ==
                NULL &&
            type_struct_add(&c->code->types, needed(c, n, "name")) == NULL)
            compile_fail_memory(c);
    for (const xy_node_t *n = root->child; n != NULL && c->status == XY_OK; n = n->next)
        if (n->kind == XY_NODE_STRUCT)
            declare_struct(c, n);
    for (const xy_node_t *n = root->child; n != NULL && c->status == XY_OK; n = n->next)
        if (n->kind == XY_NODE_FUNCTION)
            declare_function(c, n);
    find_main(c);
    if (c->status == XY_OK)
        compile_globals(c, root);
    for (size_t i = 0; i + 1 < c->code->functions.count && c->status == XY_OK; i++)
        compile_function(c, i);
    if (c->status == XY_OK)
        compile_entry(c);
    place_strings(c);
    if (c->status == XY_OK)
        c->status = check_assumed(c);
}

/* Allocates an empty code object; the caller owns it. */
static xy_status_t create(code_t **code_p)
{
    code_t *code = xy_calloc(1, sizeof(*code));

    if (code == NULL)
        return xy_fail_memory("compiling a description");
    code->insns = XY_VEC_INIT(insn_t);
    code->at = XY_VEC_INIT(uint32_t);
    code->pool = XY_VEC_INIT(int64_t);
    code->dims = XY_VEC_INIT(code_dim_t);
    code->places = XY_VEC_INIT(code_place_t);
    code->functions = XY_VEC_INIT(function_t);
    code->sites = XY_VEC_INIT(code_site_t);
    code->unknowns = XY_VEC_INIT(code_unknown_t);
    code->main = -1;
    if (xy_arena_create(&code->arena) != XY_OK || types_init(&code->types, code->arena) != XY_OK) {
        xy_arena_destroy(code->arena);
        xy_free(code);
        return xy_fail_memory("compiling a description");
    }
    *code_p = code;
    return XY_OK;
}

xy_status_t code_compile(const xy_program_t *program, const code_assume_t *assumed, size_t count,
                         code_t **code_p)
{
    compiler_t c = {.assumed = assumed, .assumed_count = count};
    xy_status_t st = create(&c.code);

    if (st != XY_OK)
        return st;
    compile_program(&c, xy_program_root(program));
    if (c.status != XY_OK) {
        code_destroy(c.code);
        return c.status;
    }
    *code_p = c.code;
    return XY_OK;
}

void code_destroy(code_t *code)
{
    if (code == NULL)
        return;
    types_cleanup(&code->types);
    xy_vec_cleanup(&code->insns);
    xy_vec_cleanup(&code->at);
    xy_vec_cleanup(&code->pool);
    xy_vec_cleanup(&code->dims);
    xy_vec_cleanup(&code->places);
    xy_vec_cleanup(&code->functions);
    xy_vec_cleanup(&code->sites);
    xy_vec_cleanup(&code->unknowns);
    xy_text_cleanup(&code->strings);
    xy_arena_destroy(code->arena);
    xy_free(code);
}

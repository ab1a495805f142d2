/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements of clang's tree. */
#include <string.h>

#include "program/scan_clang.h"
#include "program/scan_openmp.h"

static scan_stmt_t *new_stmt(xy_scan_t *scan, CXCursor cursor, scan_stmt_kind_t kind)
{
    scan_stmt_t *s = scan_alloc(scan, sizeof(*s));

    s->kind = kind;
    s->at = scan_place(scan, cursor);
    return s;
}

/* A statement, behind the declarations of the values without a name in it. */
static scan_stmt_t *read_with_literals(xy_scan_t *scan, CXCursor cursor)
{
    scan_stmt_t *outer = scan->literals, *s, *list = NULL, *next;

    scan->literals = NULL;
    s = scan_read_stmt(scan, cursor);
    list = s;
    for (scan_stmt_t *l = scan->literals; l != NULL; l = next) { /* the last comes first */
        next = l->next;
        l->next = list;
        list = l;
    }
    scan->literals = outer;
    return list;
}

/* A label's statement follows it in the block: `case 1: case 2: f();` becomes three entries. */
static scan_stmt_t **append(xy_scan_t *scan, CXCursor cursor, scan_stmt_t **end)
{
    enum CXCursorKind kind = clang.getCursorKind(cursor);
    scan_child_t *c = NULL;

    if (kind == CXCursor_CaseStmt || kind == CXCursor_DefaultStmt) {
        c = scan_children(scan, cursor);
        *end = new_stmt(scan, cursor, kind == CXCursor_CaseStmt ? SCAN_S_CASE : SCAN_S_DEFAULT);
        if (kind == CXCursor_CaseStmt && c != NULL) {
            (*end)->cond = scan_read_expr(scan, c->cursor);
            c = c->next;
        }
        if (c != NULL && c->next != NULL) /* case 1 ... 5 */
            scan_fail(scan, XY_EINVAL, (*end)->at, "a range of cases is not understood");
        if (c != NULL)
            (*end)->at.last = scan_place(scan, c->cursor).first;
        end = &(*end)->next;
        return c != NULL ? append(scan, c->cursor, end) : end;
    }
    *end = read_with_literals(scan, cursor);
    while (*end != NULL)
        end = &(*end)->next;
    if (kind == CXCursor_LabelStmt) {
        c = scan_children(scan, cursor);
        return c != NULL ? append(scan, c->cursor, end) : end;
    }
    return end;
}

static scan_stmt_t *read_block(xy_scan_t *scan, CXCursor cursor)
{
    scan_stmt_t *s = new_stmt(scan, cursor, SCAN_S_BLOCK), **end = &s->body;

    for (scan_child_t *c = scan_children(scan, cursor); c != NULL; c = c->next)
        end = append(scan, c->cursor, end);
    return s;
}

/* `int a = 1, b;`: one statement for each name. */
static scan_stmt_t *read_decls(xy_scan_t *scan, CXCursor cursor)
{
    scan_stmt_t *first = NULL, **end = &first;

    for (scan_child_t *c = scan_children(scan, cursor); c != NULL; c = c->next)
        if (clang.getCursorKind(c->cursor) == CXCursor_VarDecl) {
            *end = new_stmt(scan, cursor, SCAN_S_DECL);
            (*end)->decl = scan_read_decl(scan, c->cursor);
            scan_read_variable(scan, (*end)->decl, c->cursor);
            end = &(*end)->next;
        }
    return first != NULL ? first : new_stmt(scan, cursor, SCAN_S_EMPTY);
}

/* clang leaves out what is not there in `for (;;)`: the two semicolons say which parts are. */
static void find_semicolons(xy_scan_t *scan, CXCursor cursor, long semicolon[2])
{
    CXTranslationUnit unit = scan->unit;
    CXToken *tokens = NULL;
    unsigned count = 0;
    int depth = 0, found = 0;

    semicolon[0] = semicolon[1] = -1;
    clang.tokenize(unit, clang.getCursorExtent(cursor), &tokens, &count);
    for (unsigned i = 0; i < count && found < 2; i++) {
        CXString spelling = clang.getTokenSpelling(unit, tokens[i]);
        const char *s = clang.getCString(spelling);
        unsigned offset;

        depth += (strcmp(s, "(") == 0) - (strcmp(s, ")") == 0);
        if (depth == 1 && strcmp(s, ";") == 0) {
            clang.getExpansionLocation(clang.getTokenLocation(unit, tokens[i]), NULL, NULL, NULL,
                                       &offset);
            semicolon[found++] = (long)offset;
        }
        clang.disposeString(spelling);
    }
    clang.disposeTokens(unit, tokens, count);
}

/* Finds the block of `({ ... })`, also in parentheses or behind __extension__. */
static bool find_block(xy_scan_t *scan, CXCursor cursor, CXCursor *block_p)
{
    enum CXCursorKind kind = clang.getCursorKind(cursor);
    scan_child_t *c = scan_children(scan, cursor);

    if (c == NULL || c->next != NULL)
        return false;
    if (kind == CXCursor_StmtExpr)
        *block_p = c->cursor;
    return kind == CXCursor_StmtExpr ||
           ((kind == CXCursor_ParenExpr || kind == CXCursor_UnexposedExpr ||
             kind == CXCursor_UnaryOperator || kind == CXCursor_CStyleCastExpr) &&
            find_block(scan, c->cursor, block_p));
}

/* An expression as a statement. One that ends with `({ ... })`, as assert() does, is a block: its
 * value is not used. */
static scan_stmt_t *as_stmt(xy_scan_t *scan, CXCursor cursor)
{
    scan_child_t *c = scan_children(scan, cursor);
    CXCursor block;
    scan_stmt_t *s;

    if (!scan_is_expression(cursor))
        return scan_read_stmt(scan, cursor);
    if (find_block(scan, cursor, &block))
        return scan_read_stmt(scan, block);
    if (clang.getCursorKind(cursor) == CXCursor_ParenExpr && c != NULL)
        return as_stmt(scan, c->cursor);
    if (clang.getCursorKind(cursor) == CXCursor_BinaryOperator && c != NULL && c->next != NULL &&
        find_block(scan, c->next->cursor, &block)) {
        s = new_stmt(scan, cursor, SCAN_S_BLOCK);
        s->body = as_stmt(scan, c->cursor);
        s->body->next = as_stmt(scan, c->next->cursor);
        return s;
    }
    s = new_stmt(scan, cursor, SCAN_S_EXPR);
    s->cond = scan_read_expr(scan, cursor);
    scan_openmp_mark(scan, s);
    return s;
}

/* Read the body of a loop or a condition: declarations of its values without a name, and its
 * labels, belong to it. */
static scan_stmt_t *read_body(xy_scan_t *scan, CXCursor cursor)
{
    scan_stmt_t *s = NULL, *block;

    append(scan, cursor, &s);
    if (s->next == NULL && s->kind != SCAN_S_CASE && s->kind != SCAN_S_DEFAULT)
        return s;
    block = new_stmt(scan, cursor, SCAN_S_BLOCK);
    block->body = s;
    return block;
}

/* The condition or step of a loop is looked at again and again. */
static scan_expr_t *read_again(xy_scan_t *scan, CXCursor cursor)
{
    const scan_stmt_t *before = scan->literals;
    scan_expr_t *e = scan_read_expr(scan, cursor);

    if (scan->literals != before)
        scan_fail(scan, XY_EINVAL, e->at,
                  "a value without a name, (type){...}, is not understood here: give it one");
    return e;
}

/* Reads a for loop; the positions of its semicolons tell which parts are missing. */
static scan_stmt_t *read_for(xy_scan_t *scan, CXCursor cursor)
{
    scan_stmt_t *s = new_stmt(scan, cursor, SCAN_S_FOR);
    scan_child_t *children = scan_children(scan, cursor);
    int count = 0, part = 0;
    long semicolon[2];

    for (scan_child_t *c = children; c != NULL; c = c->next)
        count++;
    find_semicolons(scan, cursor, semicolon);
    for (scan_child_t *c = children; c != NULL; c = c->next, part++) {
        long at = scan_place(scan, c->cursor).first;

        if (c->next == NULL) {
            s->body = read_body(scan, c->cursor);
            break;
        }
        if (count < 4 && semicolon[1] >= 0)
            part = at > semicolon[1] ? 2 : at > semicolon[0] ? 1 : 0;
        if (part == 0)
            s->init = as_stmt(scan, c->cursor);
        else if (part == 1)
            s->cond = read_again(scan, c->cursor);
        else
            s->step = read_again(scan, c->cursor);
    }
    return s;
}

/* Conditions and parts in the order in which clang has them. */
static scan_stmt_t *read_control(xy_scan_t *scan, CXCursor cursor, scan_stmt_kind_t kind)
{
    scan_stmt_t *s = new_stmt(scan, cursor, kind);
    scan_child_t *c = scan_children(scan, cursor);
    bool is_loop = kind == SCAN_S_DO || kind == SCAN_S_WHILE;

    if (kind == SCAN_S_DO && c != NULL) {
        s->body = read_body(scan, c->cursor);
        c = c->next;
    }
    if (c != NULL) {
        s->cond = is_loop ? read_again(scan, c->cursor)
                          : scan_named(scan, scan_read_expr(scan, c->cursor));
        c = c->next;
    }
    if (kind != SCAN_S_DO && c != NULL) {
        s->body = read_body(scan, c->cursor);
        c = c->next;
    }
    if (c != NULL)
        s->other = read_body(scan, c->cursor);
    scan_openmp_mark(scan, s);
    return s;
}

/* Reads a goto, or a label without its statement. */
static scan_stmt_t *read_goto(xy_scan_t *scan, CXCursor cursor)
{
    scan_stmt_t *s = new_stmt(scan, cursor, SCAN_S_GOTO);

    s->is_label = clang.getCursorKind(cursor) == CXCursor_LabelStmt;
    if (s->is_label)
        s->label = scan_string(scan, clang.getCursorSpelling(cursor));
    for (scan_child_t *c = scan_children(scan, cursor); !s->is_label && c != NULL; c = c->next)
        if (clang.getCursorKind(c->cursor) == CXCursor_LabelRef)
            s->label = scan_string(scan, clang.getCursorSpelling(c->cursor));
    if (s->is_label) { /* without the statement behind it, which follows */
        scan_child_t *inner = scan_children(scan, cursor);

        if (inner != NULL)
            s->at.last = scan_place(scan, inner->cursor).first;
    }
    return s;
}

/* Read the statement after an attribute or a #pragma; or one that is not understood, with the
 * statements inside. */
static scan_stmt_t *read_other(xy_scan_t *scan, CXCursor cursor)
{
    scan_child_t *inner = NULL;
    scan_stmt_t *s;
    int count = 0;

    for (scan_child_t *c = scan_children(scan, cursor); c != NULL; c = c->next)
        if (scan_is_expression(c->cursor) || clang.isStatement(clang.getCursorKind(c->cursor))) {
            inner = c;
            count++;
        }
    if (clang.getCursorKind(cursor) == CXCursor_UnexposedStmt && count == 1)
        return as_stmt(scan, inner->cursor);
    s = new_stmt(scan, cursor, SCAN_S_OTHER);
    s->cond = scan_alloc(scan, sizeof(*s->cond));
    s->cond->kind = SCAN_E_OTHER;
    s->cond->at = s->at;
    s->cond->text = "a statement that is not understood";
    s->cond->type = scan_read_type(scan, clang.getCursorType(cursor));
    s->cond->args = scan_read_inner(scan, cursor);
    return s;
}

scan_stmt_t *scan_read_stmt(xy_scan_t *scan, CXCursor cursor)
{
    switch (clang.getCursorKind(cursor)) {
    case CXCursor_CompoundStmt:
        return read_block(scan, cursor);
    case CXCursor_DeclStmt:
        return read_decls(scan, cursor);
    case CXCursor_IfStmt:
        return read_control(scan, cursor, SCAN_S_IF);
    case CXCursor_WhileStmt:
        return read_control(scan, cursor, SCAN_S_WHILE);
    case CXCursor_DoStmt:
        return read_control(scan, cursor, SCAN_S_DO);
    case CXCursor_SwitchStmt:
        return read_control(scan, cursor, SCAN_S_SWITCH);
    case CXCursor_ReturnStmt:
        return read_control(scan, cursor, SCAN_S_RETURN);
    case CXCursor_ForStmt:
        return read_for(scan, cursor);
    case CXCursor_BreakStmt:
        return new_stmt(scan, cursor, SCAN_S_BREAK);
    case CXCursor_ContinueStmt:
        return new_stmt(scan, cursor, SCAN_S_CONTINUE);
    case CXCursor_NullStmt:
        return new_stmt(scan, cursor, SCAN_S_EMPTY);
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
    case CXCursor_LabelStmt:
        return read_goto(scan, cursor);
    default:
        return scan_is_expression(cursor) ? as_stmt(scan, cursor) : read_other(scan, cursor);
    }
}

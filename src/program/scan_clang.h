/* SPDX-License-Identifier: BSD-3-Clause */
/* libclang, loaded when a program is first scanned: `clang.getCursorKind` is
 * clang_getCursorKind. */
#ifndef XY_PROGRAM_SCAN_CLANG_H
#define XY_PROGRAM_SCAN_CLANG_H

#if __has_include(<clang-c/Index.h>)
#include <clang-c/Index.h>

#include "program/scan_internal.h"

#define SCAN_CLANG_FUNCTIONS(X)                                                                    \
    X(createIndex)                                                                                 \
    X(disposeIndex)                                                                                \
    X(parseTranslationUnit2)                                                                       \
    X(disposeTranslationUnit)                                                                      \
    X(getTranslationUnitCursor)                                                                    \
    X(getNumDiagnostics)                                                                           \
    X(getDiagnostic)                                                                               \
    X(disposeDiagnostic)                                                                           \
    X(getDiagnosticSeverity)                                                                       \
    X(getDiagnosticLocation)                                                                       \
    X(getDiagnosticSpelling)                                                                       \
    X(getCString)                                                                                  \
    X(disposeString)                                                                               \
    X(visitChildren)                                                                               \
    X(getCursorKind)                                                                               \
    X(getCursorType)                                                                               \
    X(getCursorSpelling)                                                                           \
    X(getCursorReferenced)                                                                         \
    X(getCursorUSR)                                                                                \
    X(getCursorLinkage)                                                                            \
    X(hashCursor)                                                                                  \
    X(getCursorExtent)                                                                             \
    X(getCursorLocation)                                                                           \
    X(getCursorBinaryOperatorKind)                                                                 \
    X(getCursorUnaryOperatorKind)                                                                  \
    X(getRangeStart)                                                                               \
    X(getRangeEnd)                                                                                 \
    X(getExpansionLocation)                                                                        \
    X(Location_isInSystemHeader)                                                                   \
    X(getFileName)                                                                                 \
    X(getCanonicalType)                                                                            \
    X(getTypeDeclaration)                                                                          \
    X(getTypeSpelling)                                                                             \
    X(getPointeeType)                                                                              \
    X(getArrayElementType)                                                                         \
    X(getArraySize)                                                                                \
    X(getResultType)                                                                               \
    X(isConstQualifiedType)                                                                        \
    X(getEnumConstantDeclValue)                                                                    \
    X(getFieldDeclBitWidth)                                                                        \
    X(Type_getAlignOf)                                                                             \
    X(Type_getSizeOf)                                                                              \
    X(Cursor_Evaluate)                                                                             \
    X(EvalResult_getKind)                                                                          \
    X(EvalResult_getAsLongLong)                                                                    \
    X(EvalResult_getAsDouble)                                                                      \
    X(EvalResult_dispose)                                                                          \
    X(Cursor_getNumArguments)                                                                      \
    X(Cursor_getArgument)                                                                          \
    X(Cursor_getVarDeclInitializer)                                                                \
    X(Cursor_getStorageClass)                                                                      \
    X(Cursor_isNull)                                                                               \
    X(Cursor_isAnonymousRecordDecl)                                                                \
    X(isExpression)                                                                                \
    X(isStatement)                                                                                 \
    X(isCursorDefinition)                                                                          \
    X(tokenize)                                                                                    \
    X(getTokenSpelling)                                                                            \
    X(getTokenLocation)                                                                            \
    X(disposeTokens)

typedef struct {
#define SCAN_CLANG_MEMBER(name) __typeof__(clang_##name) *name;
    SCAN_CLANG_FUNCTIONS(SCAN_CLANG_MEMBER)
#undef SCAN_CLANG_MEMBER
} scan_clang_t;

extern scan_clang_t clang;

typedef struct scan_child {
    CXCursor cursor;
    struct scan_child *next;
} scan_child_t;

/* The children of a cursor, a list in the arena: none of clang's frames is on the stack while they
 * are looked at. */
scan_child_t *scan_children(xy_scan_t *scan, CXCursor cursor);
char *scan_string(xy_scan_t *scan, CXString string); /* into the arena */
scan_place_t scan_place(xy_scan_t *scan, CXCursor cursor);
const scan_type_t *scan_read_type(xy_scan_t *scan, CXType type);
/* A parameter `int a[]` is a pointer that libclang calls an array. */
const scan_type_t *scan_decayed(xy_scan_t *scan, const scan_type_t *type);
scan_decl_t *scan_read_decl(xy_scan_t *scan, CXCursor cursor);
/* Its parameters, and its body where it has one. */
void scan_read_function(xy_scan_t *scan, scan_decl_t *decl, CXCursor cursor);
/* Its initial value and the sizes of its dimensions. */
void scan_read_variable(xy_scan_t *scan, scan_decl_t *decl, CXCursor cursor);
scan_expr_t *scan_read_expr(xy_scan_t *scan, CXCursor cursor);
/* The name of a variable for a list in braces; anything else as it is. */
scan_expr_t *scan_named(xy_scan_t *scan, scan_expr_t *e);
/* Effects inside of something that is not understood: calls and assignments, a list. */
scan_expr_t *scan_read_inner(xy_scan_t *scan, CXCursor cursor);
scan_stmt_t *scan_read_stmt(xy_scan_t *scan, CXCursor cursor);
bool scan_is_expression(CXCursor cursor);

#endif
#endif

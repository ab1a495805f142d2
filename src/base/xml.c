/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree is built from libxml2's SAX2 events rather than from its own tree, which takes three
 * times the memory. Element and attribute names stay in libxml2's dictionary, which the document
 * keeps; attributes of an element and their values share one piece of the arena.
 *
 * What makes a file from anywhere safe: declarations of entities and attributes end the parse (they
 * are the ways in which a small file can grow without bound), no callback loads anything, and
 * bytes, elements and depth are counted.
 */
#include "base/xml.h"

#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

const xy_xml_limits_t xy_xml_default_limits = {
    .bytes = (size_t)1 << 30, .nodes = 100000000, .depth = 256};

#if XYLEM_HAVE_LIBXML2

#include <libxml/parser.h>
#include <libxml/parserInternals.h>

enum { MAX_DEPTH = 256 }; /* the limit of libxml2 itself */

struct xy_xml {
    xy_arena_t *arena;
    xmlDictPtr names;
    xy_xml_node_t *root;
    const char *path;
};

typedef struct {
    xy_xml_node_t *node;
    xy_xml_node_t *last_child;
    xy_text_t text;
} level_t;

typedef struct {
    xy_xml_t *doc;
    xmlParserCtxtPtr context;
    xy_xml_limits_t limits;
    size_t nodes;
    int depth;
    xy_status_t status; /* the first failure; it was reported */
    level_t levels[MAX_DEPTH];
} builder_t;

static long current_line(const builder_t *b)
{
    return b->context->input != NULL ? b->context->input->line : 0;
}

static void stop(builder_t *b, xy_status_t status)
{
    b->status = status;
    xmlStopParser(b->context);
}

static void stop_memory(builder_t *b)
{
    stop(b, xy_fail_memory("reading XML"));
}

/* "prefix:name", or the name itself: it is in the dictionary already. */
static const char *qualified(builder_t *b, const xmlChar *prefix, const xmlChar *name)
{
    return (const char *)(prefix == NULL ? name : xmlDictQLookup(b->doc->names, prefix, name));
}

/* libxml2 gives five pointers per attribute: name, prefix, URI, start and end of the value. */
static bool add_attributes(builder_t *b, xy_xml_node_t *node, int count, const xmlChar **given)
{
    size_t bytes = (size_t)count * sizeof(xy_xml_attr_t);
    xy_xml_attr_t *attrs;
    char *values;

    if (count == 0)
        return true;
    for (int i = 0; i < count; i++)
        bytes += (size_t)(given[5 * i + 4] - given[5 * i + 3]) + 1;
    attrs = xy_arena_alloc(b->doc->arena, bytes);
    if (attrs == NULL)
        return false;
    values = (char *)(attrs + count);
    for (int i = 0; i < count; i++) {
        size_t length = (size_t)(given[5 * i + 4] - given[5 * i + 3]);

        memcpy(values, given[5 * i + 3], length);
        attrs[i].name = qualified(b, given[5 * i + 1], given[5 * i]);
        attrs[i].value = values;
        attrs[i].next = i + 1 < count ? &attrs[i + 1] : NULL;
        values += length + 1;
        if (attrs[i].name == NULL)
            return false;
    }
    node->attr = attrs;
    return true;
}

/* Append an element to the children of the innermost open one and open it. */
static void link_node(builder_t *b, xy_xml_node_t *node)
{
    level_t *above = b->depth > 0 ? &b->levels[b->depth - 1] : NULL;
    level_t *level = &b->levels[b->depth++];

    if (above == NULL) {
        b->doc->root = node;
    } else {
        node->parent = above->node;
        if (above->last_child == NULL)
            above->node->child = node;
        else
            above->last_child->next = node;
        above->last_child = node;
    }
    level->node = node;
    level->last_child = NULL;
    level->text.length = 0;
}

/* SAX2 callback at the start of an element: add it to the tree, or stop at a limit. */
static void on_start(void *arg, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                     int namespace_count, const xmlChar **namespaces, int attribute_count,
                     int defaulted_count, const xmlChar **attributes)
{
    builder_t *b = arg;
    xy_xml_node_t *node;

    (void)uri, (void)namespace_count, (void)namespaces, (void)defaulted_count;
    if (b->status != XY_OK)
        return;
    if (b->nodes == b->limits.nodes) {
        stop(b, xy_fail_at(XY_ELIMIT, b->doc->path, current_line(b),
                           "more than %zu elements; split the file", b->limits.nodes));
        return;
    }
    if (b->depth == b->limits.depth) {
        stop(b, xy_fail_at(XY_ELIMIT, b->doc->path, current_line(b),
                           "elements are nested more than %d deep", b->limits.depth));
        return;
    }
    node = xy_arena_alloc(b->doc->arena, sizeof(*node));
    if (node == NULL || !add_attributes(b, node, attribute_count, attributes) ||
        (node->name = qualified(b, prefix, name)) == NULL) {
        stop_memory(b);
        return;
    }
    node->text = "";
    node->line = current_line(b);
    b->nodes++;
    link_node(b, node);
}

/* SAX2 callback at the end of an element: store its text, unless it consists of blanks. */
static void on_end(void *arg, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
    builder_t *b = arg;
    level_t *level;

    (void)name, (void)prefix, (void)uri;
    if (b->status != XY_OK || b->depth == 0)
        return;
    level = &b->levels[--b->depth];
    if (level->text.failed) {
        stop_memory(b);
        return;
    }
    /* Indentation between elements is no text. */
    if (level->text.length == 0 || strspn(level->text.s, " \t\r\n") == level->text.length)
        return;
    level->node->text = xy_arena_strndup(b->doc->arena, level->text.s, level->text.length);
    if (level->node->text == NULL)
        stop_memory(b);
}

static void on_characters(void *arg, const xmlChar *characters, int length)
{
    builder_t *b = arg;

    if (b->status == XY_OK && b->depth > 0)
        xy_text_add_bytes(&b->levels[b->depth - 1].text, (const char *)characters, (size_t)length);
}

static void refuse_entity(builder_t *b)
{
    if (b->status == XY_OK)
        stop(b, xy_fail_at(XY_EPARSE, b->doc->path, current_line(b),
                           "the file defines an entity, which is refused; write its text instead"));
}

static void on_entity_decl(void *arg, const xmlChar *name, int type, const xmlChar *public_id,
                           const xmlChar *system_id, xmlChar *content)
{
    (void)name, (void)type, (void)public_id, (void)system_id, (void)content;
    refuse_entity(arg);
}

static void on_unparsed_entity_decl(void *arg, const xmlChar *name, const xmlChar *public_id,
                                    const xmlChar *system_id, const xmlChar *notation)
{
    (void)name, (void)public_id, (void)system_id, (void)notation;
    refuse_entity(arg);
}

static void on_attribute_decl(void *arg, const xmlChar *element, const xmlChar *name, int type,
                              int kind, const xmlChar *value, xmlEnumerationPtr tree)
{
    builder_t *b = arg;

    (void)element, (void)name, (void)type, (void)kind, (void)value;
    xmlFreeEnumeration(tree);
    if (b->status == XY_OK)
        stop(b, xy_fail_at(XY_EPARSE, b->doc->path, current_line(b),
                           "the file defines attributes (<!ATTLIST), which is refused; remove it"));
}

/* Asked only for names that XML itself does not define. */
static xmlEntityPtr on_get_entity(void *arg, const xmlChar *name)
{
    builder_t *b = arg;

    if (b->status == XY_OK)
        stop(b,
             xy_fail_at(XY_EPARSE, b->doc->path, current_line(b),
                        "the entity '&%s;' is unknown; write '&' as '&amp;'", (const char *)name));
    return NULL;
}

#if LIBXML_VERSION >= 21200
static void on_error(void *arg, const xmlError *error)
#else
static void on_error(void *arg, xmlErrorPtr error)
#endif
{
    builder_t *b = arg;
    const char *message = error->message != NULL ? error->message : "unknown error";

    if (b->status != XY_OK || error->level < XML_ERR_ERROR || error->domain == XML_FROM_NAMESPACE)
        return;
    if (error->code == XML_ERR_NO_MEMORY) {
        stop_memory(b);
        return;
    }
    stop(b, xy_fail_at(XY_EPARSE, b->doc->path, error->line > 0 ? error->line : current_line(b),
                       "not valid XML: %.*s", (int)strcspn(message, "\n"), message));
}

static const xmlSAXHandler handlers = {
    .initialized = XML_SAX2_MAGIC,
    .startElementNs = on_start,
    .endElementNs = on_end,
    .characters = on_characters,
    .ignorableWhitespace = on_characters, /* the same: libxml2 then does not guess which it is */
    .cdataBlock = on_characters,
    .entityDecl = on_entity_decl,
    .unparsedEntityDecl = on_unparsed_entity_decl,
    .attributeDecl = on_attribute_decl,
    .getEntity = on_get_entity,
    .getParameterEntity = on_get_entity,
    .serror = on_error,
};

typedef struct {
    const char *data;
    size_t left;
} source_t;

/* libxml2 asks for pieces: given all at once, it would limit documents to 10 MB. */
static int read_piece(void *arg, char *buffer, int size)
{
    source_t *source = arg;
    size_t n = source->left < (size_t)size ? source->left : (size_t)size;

    memcpy(buffer, source->data, n);
    source->data += n;
    source->left -= n;
    return (int)n;
}

/* Parse the document into the tree; an error is reported with its line. */
static xy_status_t run_parser(builder_t *b, const char *data, size_t size)
{
    source_t source = {.data = data, .left = size};
    xmlSAXHandler sax = handlers;
    xmlParserCtxtPtr context =
        xmlCreateIOParserCtxt(&sax, b, read_piece, NULL, &source, XML_CHAR_ENCODING_NONE);

    if (context == NULL)
        return xy_fail_memory("reading XML");
    /* NOENT makes "&amp;" in attributes an '&'; no other entity can exist. */
    xmlCtxtUseOptions(context, XML_PARSE_NONET | XML_PARSE_NOENT);
    b->context = context;
    b->doc->names = context->dict;
    xmlDictReference(context->dict);
    xmlParseDocument(context);
    if (b->status == XY_OK && (!context->wellFormed || b->doc->root == NULL))
        b->status = xy_fail_at(XY_EPARSE, b->doc->path, current_line(b), "not valid XML");
    if (context->myDoc != NULL)
        xmlFreeDoc(context->myDoc);
    xmlFreeParserCtxt(context);
    return b->status;
}

static xy_xml_t *create_document(const char *path)
{
    xy_xml_t *doc = xy_calloc(1, sizeof(*doc));

    if (doc == NULL)
        return NULL;
    if (xy_arena_create(&doc->arena) != XY_OK ||
        (doc->path = xy_arena_strndup(doc->arena, path, strlen(path))) == NULL) {
        xy_xml_free(doc);
        return NULL;
    }
    return doc;
}

/* Parse the document into `doc` with a builder of its own, which is freed before the return. */
static xy_status_t build_tree(const char *data, size_t size, const xy_xml_limits_t *limits,
                              xy_xml_t *doc)
{
    builder_t *b = xy_calloc(1, sizeof(*b));
    xy_status_t st;

    if (b == NULL)
        return xy_fail_memory("reading XML");
    b->doc = doc;
    b->limits = *limits;
    if (b->limits.depth > MAX_DEPTH)
        b->limits.depth = MAX_DEPTH;
    st = run_parser(b, data, size);
    for (int i = 0; i < MAX_DEPTH; i++)
        xy_text_cleanup(&b->levels[i].text);
    xy_free(b);
    return st;
}

xy_status_t xy_xml_parse(const char *data, size_t size, const char *path,
                         const xy_xml_limits_t *limits, xy_xml_t **doc_p)
{
    xy_xml_t *doc;
    xy_status_t st;
    char text[32];

    if (size > limits->bytes)
        return xy_fail_at(XY_ELIMIT, path, 0, "the file is larger than the limit of %s",
                          xy_format_size(limits->bytes, text));
    if (size == 0)
        return xy_fail_at(XY_EPARSE, path, 0, "the file is empty; an XML document was expected");
    doc = create_document(path);
    if (doc == NULL)
        return xy_fail_memory("reading XML");
    st = build_tree(data, size, limits, doc);
    if (st != XY_OK) {
        xy_xml_free(doc);
        return st;
    }
    *doc_p = doc;
    return XY_OK;
}

void xy_xml_free(xy_xml_t *doc)
{
    if (doc == NULL)
        return;
    if (doc->names != NULL)
        xmlDictFree(doc->names);
    xy_arena_destroy(doc->arena);
    xy_free(doc);
}

const xy_xml_node_t *xy_xml_root(const xy_xml_t *doc)
{
    return doc->root;
}

const char *xy_xml_path(const xy_xml_t *doc)
{
    return doc->path;
}

#else

struct xy_xml {
    char unused;
};

xy_status_t xy_xml_parse(const char *data, size_t size, const char *path,
                         const xy_xml_limits_t *limits, xy_xml_t **doc_p)
{
    (void)data, (void)size, (void)limits, (void)doc_p;
    return xy_fail_at(XY_EUNSUPPORTED, path, 0,
                      "XML cannot be read: this build has no libxml2; build again with it");
}

void xy_xml_free(xy_xml_t *doc)
{
    (void)doc;
}

/* No document can exist. */
const xy_xml_node_t *xy_xml_root(const xy_xml_t *doc)
{
    (void)doc;
    return NULL;
}

const char *xy_xml_path(const xy_xml_t *doc)
{
    (void)doc;
    return "";
}

#endif

xy_status_t xy_xml_read(const char *path, const xy_xml_limits_t *limits, xy_xml_t **doc_p)
{
    xy_status_t st;
    size_t size;
    char *data;

    st = xy_file_read(path, limits->bytes, &data, &size);
    if (st != XY_OK)
        return st;
    st = xy_xml_parse(data, size, strcmp(path, "-") == 0 ? "standard input" : path, limits, doc_p);
    xy_free(data);
    return st;
}

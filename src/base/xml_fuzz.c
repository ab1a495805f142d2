/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes: the reader answers with a tree whose every part can be read, or with one message. */
#include <stdlib.h>
#include <string.h>

#include "base/xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int messages;

static void count_message(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status;
    if (strchr(message, '\n') != NULL)
        abort();
    messages++;
}

static size_t visit(const xy_xml_t *doc, const xy_xml_node_t *node, int depth)
{
    size_t bytes = strlen(node->name) + strlen(node->text);
    double real = 0;

    if (depth > 256)
        abort();
    for (const xy_xml_attr_t *attr = node->attr; attr != NULL; attr = attr->next) {
        bytes += strlen(attr->name) + strlen(attr->value);
        if (xy_xml_attr_double(doc, node, attr->name, -1e300, 1e300, &real) == XY_OK &&
            !(real >= -1e300 && real <= 1e300))
            abort();
    }
    for (const xy_xml_node_t *child = node->child; child != NULL; child = child->next) {
        if (child->parent != node)
            abort();
        bytes += visit(doc, child, depth + 1);
    }
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const xy_xml_limits_t limits = {.bytes = 1 << 20, .nodes = 10000, .depth = 256};
    xy_xml_t *doc;
    xy_status_t st;

    xy_error_handler_set(count_message, NULL);
    messages = 0;
    st = xy_xml_parse((const char *)data, size, "fuzz", &limits, &doc);
    if ((st == XY_OK) != (messages == 0) || messages > 1)
        abort();
    if (st != XY_OK)
        return 0;
    /* A file cannot grow by being read: names and text come from its bytes (at most three of
     * UTF-8 for one of another encoding). */
    if (visit(doc, xy_xml_root(doc), 1) > 3 * size + 16)
        abort();
    xy_xml_free(doc);
    return 0;
}

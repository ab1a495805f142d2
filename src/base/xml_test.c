/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/xml.h"
#include "testing/base.h"

static xy_status_t parse(const char *text, xy_xml_t **doc_p)
{
    testing_listen();
    return xy_xml_parse(text, strlen(text), "f.xml", &xy_xml_default_limits, doc_p);
}

#if XYLEM_HAVE_LIBXML2

static void test_tree(void **state)
{
    const xy_xml_node_t *root, *a, *b;
    xy_xml_t *doc;

    (void)state;
    assert_int_equal(
        parse("<?xml version=\"1.0\"?>\n<!-- c -->\n<m:machine xmlns:m='u' name='x&amp;"
              "y&#33;' m:z=''>\n  <a i='1'/>\n\n  <b>text <![CDATA[<raw>]]><c/> more"
              "</b>\n</m:machine>\n",
              &doc),
        XY_OK);
    root = xy_xml_root(doc);
    assert_string_equal(xy_xml_path(doc), "f.xml");
    assert_string_equal(root->name, "m:machine");
    assert_string_equal(root->text, "");
    assert_int_equal(root->line, 3);
    assert_null(root->parent);
    assert_string_equal(xy_xml_attr(root, "name"), "x&y!");
    assert_string_equal(xy_xml_attr(root, "m:z"), "");
    assert_null(xy_xml_attr(root, "z"));
    a = root->child;
    assert_string_equal(a->name, "a");
    assert_int_equal(a->line, 4);
    assert_ptr_equal(a->parent, root);
    assert_null(a->child);
    b = a->next;
    assert_int_equal(b->line, 6);
    assert_string_equal(b->text, "text <raw> more");
    assert_string_equal(b->child->name, "c");
    assert_null(b->next);
    assert_null(b->attr);
    xy_xml_free(doc);
    xy_xml_free(NULL);
}

/* Buffers are shared by elements of one level; what is in them is not. */
static void test_text_of_siblings(void **state)
{
    const xy_xml_node_t *node;
    xy_xml_t *doc;

    (void)state;
    assert_int_equal(parse("<a><b>long text</b><b/><b>x</b><b> </b></a>", &doc), XY_OK);
    node = xy_xml_root(doc)->child;
    assert_string_equal(node->text, "long text");
    assert_string_equal(node->next->text, "");
    assert_string_equal(node->next->next->text, "x");
    assert_string_equal(node->next->next->next->text, "");
    xy_xml_free(doc);
}

/* Every refusal is one message with the file, the line and something to recognise it by. */
static void test_refusals(void **state)
{
    static const struct {
        const char *text;
        xy_status_t status;
        const char *said;
    } cases[] = {
        {"", XY_EPARSE, "f.xml: the file is empty"},
        {" \n", XY_EPARSE, "f.xml:"},
        {"\x7f"
         "ELF\x02\x01",
         XY_EPARSE, "f.xml:1: not valid XML"},
        {"<a>\n<b>\n</a>", XY_EPARSE, "f.xml:3: not valid XML: Opening and ending tag mismatch"},
        {"<a>\n<b>\n", XY_EPARSE, "f.xml:3: not valid XML: Premature end"},
        {"<a/>\n<b/>", XY_EPARSE, "f.xml:2: not valid XML: Extra content"},
        {"<a b='1' b='2'/>", XY_EPARSE, "f.xml:1: not valid XML: Attribute b redefined"},
        {"<a>&foo;</a>", XY_EPARSE, "f.xml:1: the entity '&foo;' is unknown"},
        {"<!DOCTYPE a SYSTEM 'x.dtd'>\n<a b='&foo;'/>", XY_EPARSE, "f.xml:2: the entity '&foo;'"},
        {"<a b='\xff'/>", XY_EPARSE, "f.xml:1: not valid XML: Input is not proper UTF-8"},
        {"<!DOCTYPE l [\n<!ENTITY a 'ha'>\n<!ENTITY b '&a;&a;&a;&a;'>]>\n<l>&b;</l>", XY_EPARSE,
         "f.xml:2: the file defines an entity"},
        {"<!DOCTYPE l [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><l>&a;</l>", XY_EPARSE,
         "f.xml:1: the file defines an entity"},
        {"<!DOCTYPE l [<!ENTITY % a SYSTEM 'http://127.0.0.1:1/x'> %a;]><l/>", XY_EPARSE,
         "f.xml:1: the file defines an entity"},
        {"<!DOCTYPE l [<!NOTATION g SYSTEM 'g'><!ENTITY a SYSTEM 'x' NDATA g>]><l/>", XY_EPARSE,
         "f.xml:1: the file defines an entity"},
        {"<!DOCTYPE l [<!ATTLIST l a (x|y) 'x'>]><l/>", XY_EPARSE,
         "f.xml:1: the file defines attributes"},
    };
    xy_xml_t *doc = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(parse(cases[i].text, &doc), cases[i].status);
        assert_int_equal(testing_said_count, 1);
        if (strncmp(testing_said, cases[i].said, strlen(cases[i].said)) != 0)
            fail_msg("'%s' gives '%s'", cases[i].text, testing_said);
        assert_null(doc);
    }
}

/* The files of hwloc name a DTD; it is not loaded. */
static void test_external_subset_is_not_loaded(void **state)
{
    xy_xml_t *doc;

    (void)state;
    assert_int_equal(
        parse("<!DOCTYPE topology SYSTEM \"/nonexistent/hwloc2.dtd\">\n<topology/>", &doc), XY_OK);
    assert_int_equal(testing_said_count, 0);
    xy_xml_free(doc);
}

static char *nested(int depth)
{
    xy_text_t text = XY_TEXT_INIT;

    for (int i = 0; i < depth; i++)
        xy_text_add(&text, "<a>");
    for (int i = 0; i < depth; i++)
        xy_text_add(&text, "</a>");
    assert_false(text.failed);
    return text.s;
}

static void test_limits(void **state)
{
    xy_xml_limits_t limits = {.bytes = 100, .nodes = 3, .depth = 2};
    xy_xml_t *doc;
    char *text;

    (void)state;
    testing_listen();
    assert_int_equal(xy_xml_parse("<a><b/><c/></a>", 15, "f", &limits, &doc), XY_OK);
    xy_xml_free(doc);
    assert_int_equal(xy_xml_parse("<a><b/><c/><d/></a>", 19, "f", &limits, &doc), XY_ELIMIT);
    assert_string_equal(testing_said, "f:1: more than 3 elements; split the file");
    assert_int_equal(xy_xml_parse("<a>\n<b><c/></b></a>", 19, "f", &limits, &doc), XY_ELIMIT);
    assert_string_equal(testing_said, "f:2: elements are nested more than 2 deep");
    limits.bytes = 14;
    assert_int_equal(xy_xml_parse("<a><b/><c/></a>", 15, "f", &limits, &doc), XY_ELIMIT);
    assert_string_equal(testing_said, "f: the file is larger than the limit of 14 B");
    assert_int_equal(testing_said_count, 3);

    text = nested(256);
    assert_int_equal(parse(text, &doc), XY_OK);
    xy_xml_free(doc);
    xy_free(text);
    text = nested(257);
    assert_int_equal(parse(text, &doc), XY_ELIMIT);
    assert_int_equal(testing_said_count, 1);
    xy_free(text);
}

/* Larger than the 10 MB up to which libxml2 looks by default. */
static void test_large_document(void **state)
{
    xy_text_t text = XY_TEXT_INIT;
    const xy_xml_node_t *node;
    xy_xml_t *doc;
    long i = 0, id;

    (void)state;
    xy_text_add(&text, "<m>\n");
    for (int k = 0; k < 200000; k++)
        xy_text_addf(&text, "  <core id=\"%d\" name=\"a core with a name that makes it long\"/>\n",
                     k);
    xy_text_add(&text, "</m>\n");
    assert_false(text.failed);
    assert_true(text.length > 12000000);
    assert_int_equal(parse(text.s, &doc), XY_OK);
    for (node = xy_xml_root(doc)->child; node != NULL; node = node->next, i++) {
        assert_int_equal(xy_xml_attr_long(doc, node, "id", 0, 1000000, &id), XY_OK);
        assert_int_equal(id, i);
        assert_int_equal(node->line, i + 2);
    }
    assert_int_equal(i, 200000);
    xy_xml_free(doc);
    xy_text_cleanup(&text);
}

static void test_typed_attributes(void **state)
{
    const xy_xml_node_t *root;
    uint64_t size = 5;
    double real = 5;
    long whole = 5;
    xy_xml_t *doc;

    (void)state;
    assert_int_equal(parse("<m\n n='12' x='1e3' s='2KiB' bad='1z' nan='nan' neg='-1'/>", &doc),
                     XY_OK);
    root = xy_xml_root(doc);
    assert_int_equal(xy_xml_attr_long(doc, root, "absent", 0, 9, &whole), XY_OK);
    assert_int_equal(xy_xml_attr_double(doc, root, "absent", 0, 9, &real), XY_OK);
    assert_int_equal(xy_xml_attr_size(doc, root, "absent", &size), XY_OK);
    assert_int_equal(xy_xml_attr_long(doc, root, "bad", 0, 9, &whole), XY_EPARSE);
    assert_string_equal(testing_said, "f.xml:2: bad=\"1z\" of <m> is not a whole number");
    assert_int_equal(xy_xml_attr_long(doc, root, "n", 0, 11, &whole), XY_ELIMIT);
    assert_string_equal(testing_said, "f.xml:2: n=\"12\" of <m> is outside 0 to 11");
    assert_int_equal(xy_xml_attr_double(doc, root, "nan", 0, 9, &real), XY_EPARSE);
    assert_int_equal(xy_xml_attr_double(doc, root, "neg", 0, 9, &real), XY_ELIMIT);
    assert_int_equal(xy_xml_attr_size(doc, root, "neg", &size), XY_EPARSE);
    assert_int_equal(testing_said_count, 5);
    assert_true(whole == 5 && real == 5 && size == 5);
    assert_int_equal(xy_xml_attr_long(doc, root, "n", 12, 12, &whole), XY_OK);
    assert_int_equal(xy_xml_attr_double(doc, root, "x", 0, 1e9, &real), XY_OK);
    assert_int_equal(xy_xml_attr_size(doc, root, "s", &size), XY_OK);
    assert_true(whole == 12 && real == 1000 && size == 2048);
    xy_xml_free(doc);
}

static void test_names(void **state)
{
    static const char *const attrs[] = {"name", "count", NULL};
    static const char *const children[] = {"node", "link", NULL};
    xy_xml_t *doc;

    (void)state;
    assert_int_equal(parse("<m nmae='x'>\n<lnik/></m>", &doc), XY_OK);
    assert_int_equal(xy_xml_check_names(doc, xy_xml_root(doc), attrs, NULL), XY_EPARSE);
    assert_string_equal(testing_said,
                        "f.xml:1: unknown attribute 'nmae' in <m>; did you mean 'name'?");
    assert_int_equal(xy_xml_check_names(doc, xy_xml_root(doc), NULL, children), XY_EPARSE);
    assert_string_equal(testing_said,
                        "f.xml:2: unknown element 'lnik' in <m>; did you mean 'link'?");
    assert_int_equal(xy_xml_check_names(doc, xy_xml_root(doc), NULL, NULL), XY_OK);
    xy_xml_free(doc);
    assert_int_equal(parse("<m name='x'><link/><node/></m>", &doc), XY_OK);
    assert_int_equal(xy_xml_check_names(doc, xy_xml_root(doc), attrs, children), XY_OK);
    xy_xml_free(doc);
}

/* The reader reads escaped text back; characters that XML cannot hold become U+FFFD or are dropped.
 */
static void test_escape_round_trip(void **state)
{
    static const char *const cases[][2] = {
        {"a<b>&\"c'", NULL},
        {"tab\tline\nreturn\r.", NULL},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", NULL},
        {"bell\a\x1b[31m\x7f", "bell[31m\x7f"},
        {"\xff\xef\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *expected = cases[i][1] != NULL ? cases[i][1] : cases[i][0];
        size_t size;
        char *text;
        FILE *file = open_memstream(&text, &size);
        xy_xml_t *doc;

        fputs("<m a=\"", file);
        xy_xml_escape(file, cases[i][0]);
        fputs("\">", file);
        xy_xml_escape(file, cases[i][0]);
        fputs("</m>", file);
        fclose(file);
        assert_int_equal(parse(text, &doc), XY_OK);
        assert_string_equal(xy_xml_attr(xy_xml_root(doc), "a"), expected);
        assert_string_equal(xy_xml_root(doc)->text, expected);
        xy_xml_free(doc);
        free(text);
    }
}

static void test_without_memory(void **state)
{
    xy_xml_t *doc = NULL;
    long k;

    (void)state;
    for (k = 1;; k++) {
        xy_memory_fail_at(k);
        if (parse("<a b='1'>text<c d='2'>more</c></a>", &doc) == XY_OK)
            break;
        assert_true(xy_memory_fail_hit());
        assert_int_equal(testing_said_count, 1);
        assert_null(doc);
    }
    assert_false(xy_memory_fail_hit());
    xy_memory_fail_at(0);
    assert_true(k > 4);
    xy_xml_free(doc);
}

static void test_read_failures(void **state)
{
    xy_xml_t *doc = NULL;

    (void)state;
    testing_listen();
    assert_int_equal(xy_xml_read("/nonexistent.xml", &xy_xml_default_limits, &doc), XY_ENOENT);
    assert_int_equal(xy_xml_read("/", &xy_xml_default_limits, &doc), XY_EINVAL);
    assert_int_equal(testing_said_count, 2);
    assert_null(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_text_of_siblings),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_external_subset_is_not_loaded),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_large_document),
        cmocka_unit_test(test_typed_attributes),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_escape_round_trip),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_read_failures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void test_unsupported(void **state)
{
    xy_xml_t *doc = NULL;

    (void)state;
    assert_int_equal(parse("<a/>", &doc), XY_EUNSUPPORTED);
    assert_int_equal(testing_said_count, 1);
    assert_null(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unsupported)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Machine files from anywhere: whatever the bytes, an error or a machine that reads back equal.
 * hwloc's files are left out: reading them is hwloc's work. */
#include <stdlib.h>
#include <string.h>

#include "machine/machine_equal.h"
#include "machine/machine_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

/* Aborts unless the machine survives writing and reading unchanged. */
static void check_round_trip(const xy_machine_t *m)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    xy_machine_t *back;

    if (file == NULL)
        return;
    if (xy_machine_print_xml(m, file) != XY_OK || fclose(file) != 0 ||
        xy_machine_parse(text, length, "back", &back) != XY_OK || !testing_machine_equal(m, back))
        abort();
    xy_machine_destroy(back);
    free(text);
}

/* Reads a machine from a document and, if it is valid, prints it in every form. */
static void check(const xy_xml_t *doc)
{
    FILE *sink = fopen("/dev/null", "w");
    xy_machine_t *m;

    if (sink != NULL && machine_file_parse(doc, xy_xml_root(doc), &m) == XY_OK) {
        xy_machine_print_tree(m, 3, sink);
        xy_machine_print_svg(m, sink);
        xy_machine_print_json(m, sink);
        check_round_trip(m);
        xy_machine_destroy(m);
    }
    if (sink != NULL)
        fclose(sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xy_xml_t *doc;

    machine_objects_limit = 20000;
    xy_error_handler_set(ignore, NULL);
    if (xy_xml_parse((const char *)data, size, "fuzz", &xy_xml_default_limits, &doc) == XY_OK) {
        if (strcmp(xy_xml_root(doc)->name, "machine") == 0)
            check(doc);
        xy_xml_free(doc);
    }
    return 0;
}

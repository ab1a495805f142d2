/* SPDX-License-Identifier: BSD-3-Clause */
/* Built without libclang. */
#include "program/scan.h"

#include <string.h>

xy_status_t xy_scan_run(const xy_scan_options_t *options, int count, const char *const *paths,
                        xy_scan_t **scan_p)
{
    (void)options, (void)count, (void)paths, (void)scan_p;
    return xy_fail(XY_EUNSUPPORTED, "built without libclang: install libclang-19-dev and build "
                                    "again");
}

void xy_scan_free(xy_scan_t *scan)
{
    (void)scan;
}

const xy_program_t *xy_scan_program(const xy_scan_t *scan)
{
    (void)scan;
    return NULL;
}

int xy_scan_unknowns(const xy_scan_t *scan, FILE *file)
{
    (void)scan, (void)file;
    return 0;
}

void xy_scan_list(const xy_scan_t *scan, FILE *file)
{
    (void)scan, (void)file;
}

xy_status_t xy_scan_show(xy_scan_t *scan, xy_scan_style_t style, FILE *file)
{
    (void)scan, (void)style, (void)file;
    return XY_EUNSUPPORTED;
}

bool xy_scan_is_source(const char *path)
{
    size_t n = strlen(path);

    return n > 2 && strcmp(path + n - 2, ".c") == 0;
}

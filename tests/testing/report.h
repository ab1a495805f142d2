/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles for the tests of the component. */
#ifndef XY_TESTING_REPORT_H
#define XY_TESTING_REPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include "report/report.h"
#include "testing/base.h"

static inline xy_profile_record_t *testing_record(xy_profile_t *p, uint32_t rank,
                                                  const char *function, const char *place)
{
    xy_profile_record_t *r = xy_vec_push(&p->records);

    assert_non_null(r);
    r->rank = rank;
    r->calls = 1;
    assert_true(xy_profile_site(p, function, place, &r->site));
    return r;
}

static inline char *testing_text(const xy_profile_t *p)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    assert_non_null(file);
    xy_profile_write(p, file);
    fclose(file);
    return text;
}

#endif

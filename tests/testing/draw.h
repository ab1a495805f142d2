/* SPDX-License-Identifier: BSD-3-Clause */
/* For unit tests that draw: reading the written text. */
#ifndef XY_TESTING_DRAW_H
#define XY_TESTING_DRAW_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "draw/draw.h"

typedef struct {
    char *text;
    size_t size;
    FILE *file; /* to write to */
} testing_drawing_t;

static inline void testing_drawing_open(testing_drawing_t *d)
{
    d->file = open_memstream(&d->text, &d->size);
    if (d->file == NULL)
        abort();
}

/* The first fault of a picture, or NULL: no well-formed XML, or a number that is none. */
static inline const char *testing_drawing_fault(testing_drawing_t *d)
{
    xy_xml_t *doc;
    xy_status_t st;

    fflush(d->file);
    if (strstr(d->text, "nan") != NULL || strstr(d->text, "\"inf") != NULL)
        return "a number that is none";
    st = xy_xml_parse(d->text, d->size, "picture", &xy_xml_default_limits, &doc);
    if (st == XY_EUNSUPPORTED)
        return NULL; /* built without libxml2 */
    if (st != XY_OK)
        return "no XML";
    xy_xml_free(doc);
    return NULL;
}

static inline void testing_drawing_close(testing_drawing_t *d)
{
    fclose(d->file);
    free(d->text);
}

static inline int testing_count(const char *text, const char *word)
{
    int n = 0;

    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        n++;
    return n;
}

#endif

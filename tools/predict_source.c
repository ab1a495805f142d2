/* SPDX-License-Identifier: BSD-3-Clause */
/* The description that is predicted: read, or made from C sources. */
#include <string.h>

#include "predict.h"

/* -IDIR and -DNAME as the compiler takes them, ended by NULL, in fresh memory. */
static xy_status_t add_flags(const xy_vec_t *list, const char *flag, xy_vec_t *flags)
{
    for (size_t i = 0; i < list->count; i++) {
        char *text = xy_sprintf("%s%s", flag, XY_VEC_AT(list, const char *, i));

        if (text == NULL || xy_vec_append(flags, &text) != XY_OK) {
            xy_free(text);
            return xy_fail_memory("scanning a program");
        }
    }
    return XY_OK;
}

/* Scans the source files into a program description. */
static xy_status_t scan(predict_t *p, int count, char **paths, xy_vec_t *flags, char **include_p)
{
    xy_vec_t kernels = XY_VEC_INIT(const char *);
    xy_scan_options_t o = {0};
    xy_status_t st = add_flags(&p->v->includes, "-I", flags);

    if (st == XY_OK)
        st = add_flags(&p->v->defines, "-D", flags);
    for (size_t i = 0; i < p->v->kernels.count && st == XY_OK; i++)
        st = xy_vec_append(&kernels, &XY_VEC_AT(&p->v->kernels, const char *, i));
    if (st == XY_OK && (xy_vec_push(flags) == NULL || xy_vec_push(&kernels) == NULL))
        st = xy_fail_memory("scanning a program");
    if (st == XY_OK && (*include_p = xy_beside("../include")) == NULL)
        st = xy_fail_memory("scanning a program");
    o.flags = flags->data;
    o.kernels = kernels.data;
    o.include = *include_p;
    o.threads = p->v->threads;
    if (st == XY_OK)
        st = xy_scan_run(&o, count, (const char *const *)paths, &p->scan);
    if (st == XY_OK)
        p->program = xy_scan_program(p->scan);
    xy_vec_cleanup(&kernels);
    return st;
}

xy_status_t predict_read(predict_t *p, int count, char **paths)
{
    xy_vec_t flags = XY_VEC_INIT(char *);
    char *include = NULL;
    xy_status_t st;

    for (int i = 1; i < count; i++)
        if (xy_scan_is_source(paths[i]) != xy_scan_is_source(paths[0]) ||
            !xy_scan_is_source(paths[i]))
            return xy_fail(XY_EUSAGE,
                           "%s: one description, or C sources alone; arguments of the "
                           "program go with --arg",
                           paths[i]);
    if (!xy_scan_is_source(paths[0])) {
        st = xy_program_read(paths[0], &p->read);
        p->program = p->read;
        return st;
    }
    st = scan(p, count, paths, &flags, &include);
    for (size_t i = 0; i < flags.count; i++)
        xy_free(XY_VEC_AT(&flags, char *, i));
    xy_vec_cleanup(&flags);
    xy_free(include);
    return st;
}

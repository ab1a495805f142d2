/* SPDX-License-Identifier: BSD-3-Clause */
#include "verbs.h"

#include <string.h>

extern const xy_command_t verb_advise;
extern const xy_command_t verb_bench;
extern const xy_command_t verb_calibrate;
extern const xy_command_t verb_cc;
extern const xy_command_t verb_choose;
extern const xy_command_t verb_cxx;
extern const xy_command_t verb_explain;
extern const xy_command_t verb_gdb;
extern const xy_command_t verb_help;
extern const xy_command_t verb_info;
extern const xy_command_t verb_machine;
extern const xy_command_t verb_monitor;
extern const xy_command_t verb_place;
extern const xy_command_t verb_predict;
extern const xy_command_t verb_report;
extern const xy_command_t verb_run;
extern const xy_command_t verb_scan;
extern const xy_command_t verb_stencil;
extern const xy_command_t verb_top;
extern const xy_command_t verb_view;

const xy_command_t *const verbs[] = {
    &verb_run,     &verb_cc,      &verb_cxx,  &verb_gdb,     &verb_machine, &verb_calibrate,
    &verb_monitor, &verb_place,   &verb_scan, &verb_predict, &verb_choose,  &verb_bench,
    &verb_stencil, &verb_explain, &verb_view, &verb_report,  &verb_advise,  &verb_top,
    &verb_info,    &verb_help,    NULL,
};

enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

xy_status_t verb_find(const char *name, const xy_command_t **verb_p)
{
    const char *names[VERB_COUNT];
    const char *nearest;

    for (size_t i = 0; verbs[i] != NULL; i++)
        if (strcmp(verbs[i]->name, name) == 0) {
            *verb_p = verbs[i];
            return XY_OK;
        }
    for (size_t i = 0; i < VERB_COUNT; i++)
        names[i] = verbs[i] != NULL ? verbs[i]->name : NULL;
    nearest = xy_nearest_word(name, names);
    if (nearest != NULL)
        return xy_fail(XY_EUSAGE, "unknown verb '%s'; did you mean '%s'? See 'xylem --help'", name,
                       nearest);
    return xy_fail(XY_EUSAGE, "unknown verb '%s'; see 'xylem --help'", name);
}

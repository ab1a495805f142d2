/* SPDX-License-Identifier: BSD-3-Clause */
/* The command: finds the verb and calls it. What verbs do is library code. */
#include <fcntl.h>
#include <unistd.h>
#include <xylem.h>

#include "program.h"
#include "verbs.h"

/* A standard descriptor that the parent closed would be given to the first file opened, and
 * messages would land in it. Standard output is opened for reading, so that writing fails and is
 * reported. */
static void hold_standard_descriptors(void)
{
    static const int modes[] = {O_RDONLY, O_RDONLY, O_WRONLY};

    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            return;
}

/* Runs a verb, or one of the options that stand before verbs. */
static xy_status_t dispatch(const program_values_t *values, int argc, char **argv)
{
    const xy_command_t *verb;
    xy_status_t st;

    if (values->version) {
        printf("xylem %s\n", xylem_version());
        return XY_OK;
    }
    if (values->man)
        return program_man(argc > 0 ? argv[0] : NULL, stdout);
    if (values->complete)
        return program_complete(argc, argv, stdout);
    if (argc == 0)
        return xy_fail(XY_EUSAGE, "no verb was given; see 'xylem --help'");
    st = verb_find(argv[0], &verb);
    return st == XY_OK ? xy_command_run(verb, argc - 1, argv + 1) : st;
}

int main(int argc, char **argv)
{
    program_values_t values;
    xy_help_t help = XY_HELP_NONE;
    int count = 0;
    xy_status_t st;

    hold_standard_descriptors();
    xy_out_guard_signals();
    st = xy_options_parse(&program, argc > 0 ? argc - 1 : 0, argv + (argc > 0), &values, &count,
                          &help);
    if (st == XY_OK && help != XY_HELP_NONE)
        program_help(help, stdout);
    else if (st == XY_OK)
        st = dispatch(&values, count, argv + 1);
    xy_options_cleanup(&program, &values);
    if (st == XY_OK)
        st = xy_stdout_check();
    return xy_status_exit_code(st);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that calls a function of the program by name. */
int program_value(void);
int callback_run(void);

int callback_run(void)
{
    return program_value() + 100;
}

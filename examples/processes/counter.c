/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain program that counts on being alone: in a global variable, with its own environment,
 * buffer of standard output, exit functions and exit code. It knows nothing of the host that runs
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long turns; /* a hundred copies of it in one host */
static char word[64] = "nobody";

static void say_goodbye(void)
{
    printf("%s has counted to %ld\n", word, turns);
}

int main(int argc, char **argv)
{
    long last = argc > 1 ? strtol(argv[1], NULL, 10) : 10;
    const char *number = getenv("NUMBER");

    if (number == NULL)
        return 99;
    snprintf(word, sizeof(word), "process %s", number);
    if (setenv("NUMBER", "overwritten", 1) != 0 || atexit(say_goodbye) != 0)
        return 100;
    while (turns < last) {
        turns++;
        usleep(100); /* other processes of the core run meanwhile */
    }
    number = getenv("NUMBER");
    if (turns != last || number == NULL || strcmp(number, "overwritten") != 0)
        exit(101);
    exit((int)(strtol(word + strlen("process "), NULL, 10) % 3));
}

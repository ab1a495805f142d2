/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts in arrays of arrays, in place edits, escapes, formats with widths, and searches. */
#include <ctype.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char b[1024];
static void say(long v)
{
    MPI_Bcast(b, (int)v, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void upper(char *s)
{
    for (; *s; s++)
        *s = (char)toupper((unsigned char)*s);
}

static char *reverse(char *s)
{
    size_t n = strlen(s);

    for (size_t i = 0; i < n / 2; i++) {
        char c = s[i];
        s[i] = s[n - 1 - i];
        s[n - 1 - i] = c;
    }
    return s;
}

static int replace(char *s, char from, char to)
{
    int n = 0;

    for (char *p = s; (p = strchr(p, from)) != NULL; n++)
        *p++ = to;
    return n;
}

int main(int argc, char **argv)
{
    char words[4][12] = {"alpha", "be\tta", {'g', 'a', 'm'}, ""}, line[80], *p;
    const char *parts[] = {"one"
                           "two",
                           "t\"h\\ree", "\x41\102C", "a\0b"};

    MPI_Init(&argc, &argv);
    for (int i = 0; i < 4; i++)
        say((long)strlen(words[i]) + 1), say((long)strlen(parts[i]) + 10);
    upper(words[0]), say(words[0][2]), say(strcmp(words[0], "ALPHA") == 0);
    strcat(strcpy(line, words[0]), words[2]), say(strlen(line));
    say(reverse(line)[0]), say(replace(line, 'A', '-')), say(strcspn(line, "-"));
    say(sprintf(line, "%5d|%-6s|%05.2f|%c|%%|%#x|%+d", 42, "ab", 3.14159, 'z', 255, 7));
    say(line[3]), say(strstr(line, "0x") - line), say((p = strrchr(line, '|')) ? p - line : 0);
    say(snprintf(line, 8, "%s-%s", "longer", "text")), say(strlen(line));
    strncpy(line, "abcdef", 3), line[3] = 0, say(strlen(line)), say(line[4] & 127);
    strncat(line, "12345", 2), say(strlen(line)), say(atoi(line + 3));
    memset(line, 'x', 9), line[9] = 0, say(strspn(line, "x"));
    memmove(line + 2, "yz", 2), say(line[3]), say(strncmp(line, "xxyzz", 4) == 0);
    say(strchr(line, 0) - line);
    for (p = line; *p && *p == 'x'; ++p)
        ;
    say(p - line), say(isalpha('q') != 0), say(isspace('\t') != 0), say(ispunct('!') != 0),
        say(isxdigit('g') != 0);
    say(tolower('Q')), say(strcmp("a", "b") < 0), say(strcmp("b", "a") > 0), say(abs(-12));
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Text as XML has it. A file of its own: who only writes needs no XML library. */
#include <string.h>

#include "base/text.h"
#include "base/xml.h"

/* Write an ASCII character as XML text or attribute value; other control characters are left out.
 * */
static void escape_ascii(FILE *file, char c)
{
    switch (c) {
    case '&':
        fputs("&amp;", file);
        break;
    case '<':
        fputs("&lt;", file);
        break;
    case '>':
        fputs("&gt;", file);
        break;
    case '"':
        fputs("&quot;", file);
        break;
    case '\'':
        fputs("&apos;", file);
        break;
    case '\t':
    case '\n':
    case '\r':
    case 0x7f:
        /* As they are, readers would turn blanks of other kinds into spaces in an attribute; the
         * last is allowed in XML but not fit for a terminal. */
        fprintf(file, "&#%d;", c);
        break;
    default:
        if ((unsigned char)c >= ' ')
            putc(c, file);
    }
}

void xy_xml_escape(FILE *file, const char *value)
{
    size_t n;

    while (*value != '\0') {
        n = xy_utf8_length(value);
        if (n == 1)
            escape_ascii(file, *value);
        else if (n == 0 || strncmp(value, "\xef\xbf\xbe", 3) == 0 ||
                 strncmp(value, "\xef\xbf\xbf", 3) == 0)
            fputs("\xef\xbf\xbd", file); /* not a character of XML: U+FFFD */
        else
            fwrite(value, 1, n, file);
        value += n > 0 ? n : 1;
    }
}

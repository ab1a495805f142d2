/* SPDX-License-Identifier: BSD-3-Clause */
#include <xylem.h>

/* The build says its version once more, in CMakeLists.txt (package files are made from that one);
 * the two may not drift apart. */
_Static_assert(XYLEM_VERSION_MAJOR == XYLEM_BUILD_MAJOR, "xylem.h and CMakeLists.txt differ");
_Static_assert(XYLEM_VERSION_MINOR == XYLEM_BUILD_MINOR, "xylem.h and CMakeLists.txt differ");
_Static_assert(XYLEM_VERSION_PATCH == XYLEM_BUILD_PATCH, "xylem.h and CMakeLists.txt differ");

#define TEXT_OF(x)         #x
#define TEXT(x)            TEXT_OF(x)
#define DOTTED(a, b, c)    TEXT(a) "." TEXT(b) "." TEXT(c)
#define VERSION_BY_NUMBERS DOTTED(XYLEM_VERSION_MAJOR, XYLEM_VERSION_MINOR, XYLEM_VERSION_PATCH)

const char *xylem_version(void)
{
    return VERSION_BY_NUMBERS;
}

int xylem_is_compatible(int major, int minor)
{
    if (major != XYLEM_VERSION_MAJOR)
        return 0;
    if (XYLEM_VERSION_MAJOR == 0)
        return minor == XYLEM_VERSION_MINOR;
    return minor <= XYLEM_VERSION_MINOR;
}

# SPDX-License-Identifier: BSD-3-Clause
"""Text of C without its comments, at the same places."""
import re

# A literal is kept whole, so that /* inside a string begins no comment.
PIECES = re.compile(r'(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<literal>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\')', re.S)


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    """The text with blanks instead of comments: the same length, the same lines."""
    return PIECES.sub(lambda m: blank(m[0]) if m["comment"] else m[0], text)


def without_literals(text):
    """The text with blanks instead of comments, strings, characters and preprocessor lines."""
    plain = PIECES.sub(lambda m: blank(m[0]), text)
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: blank(m[0]), plain, flags=re.M)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the man page of a public header from its comments.

    tools/header_man.py HEADER VERSION DATE OUTPUT

A header is read as it is written: a comment that opens with `----` is a section, any other comment
describes the declarations that follow it up to the next empty line.
"""
import re
import sys
from pathlib import Path

COMMENT = re.compile(r"/\*(.*?)\*/", re.S)
SKIPPED = re.compile(r"^(#|extern \"C\"|}|\s*$)")


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("~", "\\(ti").replace("^", "\\(ha")
    return "\n".join(("\\&" + line) if line.startswith(".") else line for line in text.split("\n"))


def clean(comment):
    """The text of a comment without its stars."""
    lines = [re.sub(r"^\s*\*? ?", "", line).rstrip() for line in comment.split("\n")]
    return "\n".join(lines).strip("\n")


def paragraphs(text):
    """Running text as paragraphs, indented lines as they are."""
    out = []
    for block in re.split(r"\n\s*\n", text):
        if all(line.startswith("  ") for line in block.split("\n")):
            out += [".PP", ".nf", ".RS 4", escape(re.sub(r"^  ", "", block, flags=re.M)), ".RE", ".fi"]
        else:
            out += [".PP", escape(" ".join(line.strip() for line in block.split("\n")))]
    return out


def tokens(text):
    """('comment', text) and ('code', text), with comments inside declarations left there."""
    chunks, depth, current = [], 0, []
    for line in text.split("\n"):
        opens_comment = re.match(r"^/\*", line)
        if opens_comment and depth == 0 and current and not any(current):
            current = []
        current.append(line)
        joined = "\n".join(current)
        if joined.count("/*") > joined.count("*/"):
            continue
        bare = COMMENT.sub("", joined)
        depth = bare.count("{") - bare.count("}")
        if depth > 0:
            continue
        if not line.strip() or bare.strip() == "":
            if joined.strip():
                chunks.append(joined.strip("\n"))
            if not line.strip():
                chunks.append("")
            current = []
    if any(line.strip() for line in current):
        chunks.append("\n".join(current).strip("\n"))
    return chunks


def without_marks(code):
    """Declarations without XYLEM_API; continued lines move left with them."""
    code = code.replace("__attribute__((visibility(\"default\"))) ", "")
    lines, shift = [], 0
    for line in code.split("\n"):
        if line.startswith("XYLEM_API "):
            line, shift = line[len("XYLEM_API "):], len("XYLEM_API ")
        elif shift and line.startswith(" " * shift):
            line = line[shift:]
        else:
            shift = 0
        if line.strip():
            lines.append(line)
    return lines


def render(path, version, date):
    text = path.read_text(encoding="utf-8")
    opening = COMMENT.findall(text)[1]
    body = text.split("#endif", 1)[1] if "__cplusplus" in text else text
    body = re.sub(r"#ifdef __cplusplus.*?#endif", "", body, flags=re.S)
    body = re.sub(r"^#endif\s*$", "", body, flags=re.M)
    name = path.name
    out = [f'.TH {name.upper()} 3 "{date}" "Xylem {version}" "Xylem manual"', ".SH NAME",
           f"{name} \\- {escape(clean(opening).split(chr(10))[0].rstrip('.').split(': ', 1)[-1])}", ".SH SYNOPSIS", ".nf",
           f"\\fB#include <{name}>\\fR", ".fi", ".SH DESCRIPTION"]
    out += paragraphs("\n".join(clean(opening).split("\n")[1:]).strip("\n"))
    for chunk in tokens(body):
        comment = COMMENT.match(chunk)
        lead = comment.group(1) if comment else ""
        code = chunk[comment.end():].strip("\n") if comment else chunk
        if re.match(r"\s*----", lead):
            title, _, rest = clean(lead).strip("- ").partition(".")
            out += [f".SH {escape(title.split(':')[0].upper())}"]
            out += paragraphs(re.sub(r"^[\s-]*\n*", "", f"{title}.{rest}".replace("----", "", 1)))
        elif code.startswith("#define XYLEM_API"):
            continue # of no interest to a reader
        elif lead:
            out += paragraphs(clean(lead))
        lines = without_marks(code)
        if lines:
            out += [".PP", ".nf", ".RS 4"] + [escape(line) for line in lines] + [".RE", ".fi"]
    out += [".SH SEE ALSO", "xylem(1), xylem\\-place(1), xylem\\-stencil(1), mpiexec(1)"]
    text = "\n".join(out) + "\n"
    return re.sub(r"^(\.SH .*\n)\.PP\n", r"\1", text, flags=re.M) # a section begins a paragraph anyway


def main(arguments):
    if len(arguments) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    header, version, date, output = arguments
    Path(output).write_text(render(Path(header), version, date), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

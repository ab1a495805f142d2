#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check the form of the documentation.

    tests/check_docs.py [ROOT]        links, sizes, sentences, phrases and claims of the pages at ROOT
    tests/check_docs.py --self-test   see that each kind of mistake is noticed

Links between pages must lead to a file and a heading that exist. A page has at most 12 KiB, all of docs but the course 330 KB, a
sentence at most 40 words; larger pages are listed below with their limit. Phrases that the style does not allow are listed, too. The pages say that all
functions of MPI are implemented if and only if functions.def agrees. Each limit in the README leads to pages that have its names, and
each time there is a rounded one of the measurements; at least one row shows a case in which Xylem is slower.
"""
import re
import sys
import tempfile
from pathlib import Path

PAGE_BYTES = 12 * 1024
ALL_BYTES = 330_000  # without the course
LARGER = {"findings.md": 13, "performance.md": 16}  # in KiB: a generated page, a collection of measurements
SENTENCE_WORDS = 40
# Private words and passives of saying: nowhere, in comments neither. The others: on pages and in texts of programs.
SAYING = [r"\bmended\b", r"\b(?:its|their) kin\b", r"\bbrothers\b", r"\b(?:is|are|was|were) told\b", r"\b(?:is|are|was|were) said\b",
          r"\bfor want of\b", r"\bat hand\b", r"\bwhat one gets\b", r"\bTODO\b", r"\b(?:is|are) over\b(?! [\d`])", r"\bhas over\b",
          r"\bwho asks\b", r"\bgo(?:es|ing)? on\b", r"\b[Ww]hoever\b", r"\bgiv(?:es?|ing) way\b", r"\bin turns\b", r"\bthe affair of\b",
          r"\bthe business of\b", r"\(said\)"]
PHRASES = [*SAYING, r"\blets? others\b", r"\bwhich (?:is|are|was|were) \d", r"(?m)^Of [A-Z]\w+,", r"\bis all of\b", r"\bwith all that\b",
           r"\btakes? more$", r"\bwhat there is\b", r"\ball that is\b", r"\bcomes? home\b", r"\bdoes not get on\b", r"\bsays? so\b",
           r"\bmeans? what\b", r"\bwhat (?:is|was|are|were) asked\b", r"\b(?:is|was|are|were) not looked (?:at|for|into)\b",
           r"\bin front of the C library\b", r"\bhas since\b", r"\bpreviously\b", r"\bformerly\b", r"\bnot been measured again\b",
           r"\bno longer (?:need|have|true|the)\b", r"\b(?:it|there) (?:used|has come) to\b"]
MEASURED = ("docs/performance.md", "docs/measurements.md")
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
CLAIM = "All functions of MPI 5.0 are implemented"


def without_code(text):
    """The text with code blocks and pictures blanked, line by line."""
    lines, fence = [], False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fence = not fence
            line = ""
        lines.append("" if fence or line.startswith("    ") else line)
    return lines


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    for line in without_code(text):
        heading = re.match(r"#+ (.*)", line)
        if heading:
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            found.add(re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-"))
    return found


def link_problems(page, text):
    """Links that lead nowhere."""
    for link in re.findall(r"\]\(([^)\s]+)\)", "\n".join(without_code(text))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists():
            yield f"the link {link} leads to no file"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
            yield f"the link {link} leads to no heading"


def sentences(text):
    """The sentences of paragraphs and list items; tables and headings end one."""
    blocks, block = [], []
    for line in without_code(text) + [""]:
        is_new = not line.strip() or re.match(r"\s*(?:[-*] |\||#|!\[)", line)
        if is_new and block:
            blocks.append(" ".join(block))
            block = []
        if line.strip() and not re.match(r"\s*(?:\||#|!\[)", line):
            block.append(line.strip())
    for paragraph in blocks:
        plain = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", paragraph))
        yield from re.split(r"(?<=[.:;?!])\)?\*{0,2}\s+(?=[A-Z`*(\[]|code)", plain)


def page_problems(page, root):
    """Complaints about one page."""
    text = page.read_text(encoding="utf-8")
    name = str(page.relative_to(root))
    for problem in link_problems(page, text):
        yield f"{name}: {problem}"
    if page.name == "NEWS.md":
        return
    limit = 1024 * LARGER[page.name] if page.name in LARGER else PAGE_BYTES
    if len(text.encode()) > limit and "docs" in page.parts:
        yield f"{name}: has {len(text.encode())} bytes, at most {limit} are allowed"
    prose = re.sub(r"\n(?=[\w`(\[]|  \w)", " ", "\n".join(without_code(text)))  # phrases may be broken by the end of a line
    for pattern in PHRASES:
        for found in re.finditer(pattern, prose):
            yield f"{name}: do not write '{found[0]}'"
    for sentence in sentences(text):
        if len(sentence.split()) > SENTENCE_WORDS:
            yield f"{name}: {len(sentence.split())} words in '{sentence[:60]}...', at most {SENTENCE_WORDS} are allowed"


def size_problems(root):
    """Are guides, reference and measurements together small enough?"""
    size = sum(len(page.read_bytes()) for page in root.glob("docs/*.md"))
    if size > ALL_BYTES:
        yield f"docs: has {size} bytes, at most {ALL_BYTES} are allowed; shorten or remove what is said twice"


def claim_problems(root):
    """Does what the pages say about missing functions agree with the table of functions?"""
    table = (root / "src/mpi/bindings/functions.def").read_text(encoding="utf-8")
    missing = re.findall(r"^none .*?(\w+)\(", table, re.M)
    for name in ("README.md", "docs/mpi.md"):
        claims = CLAIM in " ".join((root / name).read_text(encoding="utf-8").split())
        if claims and missing:
            yield f"{name}: says '{CLAIM}', but functions.def has none of {', '.join(missing)}"
        elif not claims and not missing:
            yield f"{name}: does not say '{CLAIM}', although functions.def has all"


def section(text, title):
    """The lines below a heading of the second level."""
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def limit_problems(root):
    """Do the pages that the limits of the README lead to have the names in them?"""
    limits = section((root / "README.md").read_text(encoding="utf-8"), "Limits")
    for item in re.split(r"\n(?=- )", limits.strip()) if limits else []:
        pages = [root / page for page in re.findall(r"\]\(([^)#\s]+)", item)]
        text = " ".join(page.read_text(encoding="utf-8") for page in pages if page.exists())
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", item)
        if not pages:
            yield f"README.md: the limit '{plain[:40]}...' leads to no page"
        for name in {*re.findall(r"`([^`]+)`", plain), *re.findall(r"\b(?!\w+\.md)(?:[A-Z][a-z]*[A-Z]\w*|[A-Z]\d+)\b", plain)}:
            if name not in text:
                yield f"README.md: a limit names {name}, which the pages it leads to do not have"


def time_problems(root):
    """Are the times of the README measured ones, and is Xylem slower in one row?"""
    table = section((root / "README.md").read_text(encoding="utf-8"), "How fast it is")
    rows = re.findall(r"(?m)^\|.*\| ([\d.]+) (\w+) \| ([\d.]+) (\w+) \|$", table)
    measured = " ".join((root / page).read_text(encoding="utf-8") for page in MEASURED if rows)
    for row in rows:
        for number, unit in (row[:2], row[2:]):
            half = 0.501 * 10 ** -len(number.partition(".")[2])
            if not any(abs(float(found) - float(number)) <= half for found in re.findall(rf"(?<![\d.])(\d+\.?\d*) {unit}\b", measured)):
                yield f"README.md: {number} {unit} is not measured in {' or '.join(MEASURED)}"
    if rows and not any(float(a) * SECONDS[b] > float(c) * SECONDS[d] for a, b, c, d in rows):
        yield "README.md: the table has no row in which Xylem is slower"


def check(root):
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/*.md"), *root.glob("packaging/*.md")]
    return [*(problem for page in sorted(pages) for problem in page_problems(page, root)), *claim_problems(root),
            *limit_problems(root), *time_problems(root), *size_problems(root)]


def self_test():
    """(file, what is appended to it, complaints expected)"""
    cases = [
        ("docs/a.md", "", 0), ("docs/a.md", "[x](b.md)", 1), ("docs/a.md", "[x](a.md#one-two)", 0), ("docs/a.md", "[x](#three)", 1),
        ("docs/a.md", "```\n[x](b.md)\n```\n", 0), ("docs/a.md", "It is mended.", 1), ("docs/a.md", "word " * 41, 1),
        ("docs/a.md", "word " * 39 + "word. " + "Word " * 40, 0), ("docs/a.md", "| " + "word " * 50 + "|", 0),
        ("docs/a.md", "Word.\n" * 2100, 1), ("docs/performance.md", "Word.\n" * 2100, 0), ("docs/performance.md", "Word.\n" * 60000, 2),
        ("docs/a.md", "The tasks are over.", 1), ("docs/a.md", "The tasks are\nover.", 1), ("docs/a.md", "The speeds are over 9.", 0),
        ("src/mpi/bindings/functions.def", "none int Send(void)\n", 2), ("README.md", "[x](docs/c.md)", 1),
        ("README.md", "\n## Limits\n\n- Not with OpenCL ([x](docs/a.md)).\n- Never.\n", 2),
        ("README.md", "\n## Limits\n\n- Not with `One, `.\n  ([x](docs/a.md)).\n", 0),
        ("README.md", "\n## How fast it is\n\n| a | 2.7 s | 1 s |\n", 1), ("README.md", "\n## How fast it is\n\n| a | 1 s | 2.68 s |\n", 2),
    ]
    bad = 0
    for name, added, expected in cases:
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            (root / "src/mpi/bindings").mkdir(parents=True)
            (root / "docs").mkdir()
            start = {"README.md": CLAIM + ".\n\n", "docs/mpi.md": CLAIM + ".\n", "docs/a.md": "# One, `two`\n\n", "docs/performance.md": "2.68 s, 2.5 us\n", "docs/measurements.md": "",
                     "src/mpi/bindings/functions.def": "self int Recv(void)\n"}
            for path, text in start.items():
                (root / path).write_text(text + (added if path == name else ""), encoding="utf-8")
            found = check(root)
        if len(found) != expected:
            print(f"{name} with '{added[:40]}': expected {expected} complaints, got {found}")
            bad += 1
    print(f"self-test: {len(cases)} cases, {bad} misjudged")
    return 1 if bad else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    found = check(Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve())
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: GPL-2.0-only
"""Mutants: what they say, and where they stand in the source.

A mutant is a step left out or a wrong step. Its file, selftests/drm/vfence/mutants/NAME for the driver
and selftests/tool/mutants/NAME for what is in tools, has one sentence, what is known about it ("Killed-by: program.test", "Guest: det"), and its edits:

    hw/vgpu_cmp.c: cmp_thread()
     context
    -	text that is there
    +	text that takes its place

An edit names a file and a function, or a type or an array, and no line numbers: the lines with ' '
and '-' stand together in that place, once. A text that is not there may be indented differently, as
a rename moves continuation lines.
"""

import os
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
DRIVER = "drivers/gpu/drm/vfence"
FOLDER = TOP / "selftests/drm/vfence/mutants"
TOOLS = "tools"
FOLDER_OF_TOOLS = TOP / "selftests/tool/mutants"


def source(folder, path):
    """Return the file that a mutant of the source in a folder names."""
    here = TOP / folder / path
    # The headers that driver, tests and tools share stand beside the folder of the driver.
    return TOP / path if folder == DRIVER and not here.exists() else here


class Stale(Exception):
    """An edit does not fit the source; the text says why."""


class Edit:
    """Lines of one place that are replaced."""

    def __init__(self, path, place, lines):
        self.path, self.place = path, place
        self.old = [line[1:] for line in lines if line[0] in " -"]
        self.new = [line[1:] for line in lines if line[0] in " +"]
        self.only_adds = all(line[0] != "-" for line in lines)

    def find(self, lines):
        """Return first and last line of the text in a file."""
        first, last = find_place(lines, self)
        at = occurrences(self.old, lines, first, last)
        if not at:
            at = occurrences([line.strip() for line in self.old],
                             [line.strip() for line in lines], first, last)
        if len(at) != 1:
            raise Stale(f"{self.path}: {self.place}: the text is there {len(at)} times")
        return at[0], at[0] + len(self.old)


def occurrences(text, lines, first, last):
    """Return where the text begins in some lines of a file."""
    return [i for i in range(first, last - len(text) + 1) if lines[i:i + len(text)] == text]


class Mutant:
    """One file of the folder."""

    def __init__(self, path):
        self.name, self.fields, self.edits = path.name, {}, []
        head, _, body = path.read_text().partition("\n---\n")
        lines = head.split("\n")
        self.sentence = lines[0]
        for line in lines[1:]:
            if match := re.match(r"([A-Z][a-z-]+): (.*)", line):
                self.fields.setdefault(match.group(1), []).extend(match.group(2).split())
        for block in re.split(r"\n(?=[a-zA-Z_/]+\.(?:[ch]|py): )", body.strip("\n")):
            title, *text = block.split("\n")
            path_of, _, place = title.partition(": ")
            while text and not text[-1]:
                text.pop()
            self.edits.append(Edit(path_of, place, [line or " " for line in text]))

    def field(self, name):
        """Return the words of a field."""
        return self.fields.get(name, [])


def all_mutants(folder=FOLDER):
    """Return all mutants of the driver, or of the tools, by name."""
    return [Mutant(path) for path in sorted(folder.iterdir())]


def chosen(folder, names):
    """Return the mutants with these names, or all; VFENCE_MUTANTS=1/3 takes the first third of them."""
    every = [x for x in all_mutants(folder) if not names or x.name in names]
    if missing := set(names) - {x.name for x in every}:
        sys.exit(f"no such mutant: {' '.join(sorted(missing))}")
    part, of = map(int, os.environ.get("VFENCE_MUTANTS", "1/1").split("/"))
    return every[part - 1::of]


class Function:
    """A function definition: where it is, and how it is called."""

    def __init__(self, lines, first, brace, last):
        self.first, self.brace, self.last = first, brace, last
        text = re.sub(r"__attribute__\(\(\w+\)\)", "", " ".join(lines[first:brace]))
        match = re.search(r"\b(\w+)\(", text)
        self.name = match.group(1)
        self.args = split_args(text, match.end())
        self.returns = not re.search(r"\bvoid\s*$", text[:match.start()])

    def call(self, name):
        """Return a call of @name with the same arguments."""
        return f"{name}({', '.join(self.args)})"


def split_args(text, begin):
    """Return the names of the parameters that begin at @begin."""
    depth, at, args, arg = 1, begin, [], ""
    while depth:
        c = text[at]
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 1:
            args.append(arg)
            arg = ""
        elif depth:
            arg += c
        at += 1
    args.append(arg)
    names = []
    for arg in args:
        arg = re.sub(r"\[[^]]*\]", "", arg).strip()
        if arg in ("", "void"):
            continue
        pointer = re.search(r"\(\*(\w+)\)", arg)
        names.append(pointer.group(1) if pointer else re.search(r"(\w+|\.\.\.)$", arg).group(1))
    return names


def functions(lines):
    """Yield the functions of a file, in the kernel's style: braces in the first column."""
    for brace, line in enumerate(lines):
        if line != "{":
            continue
        first = brace
        while first and lines[first - 1] and not re.match(r"( \*|/\*|#|\}|.*;$)", lines[first - 1]):
            first -= 1
        last = lines.index("}", brace) + 1
        if re.search(r"\b\w+\(", " ".join(lines[first:brace])):
            yield Function(lines, first, brace, last)


def places(lines):
    """Yield name, first and last line of everything that an edit may name."""
    for function in functions(lines):
        yield f"{function.name}()", function.first, function.last
    for first, line in enumerate(lines):
        if re.match(r"\w.*\{$", line) and "(" not in line:
            last = next(i for i in range(first, len(lines)) if lines[i].startswith("}")) + 1
            yield " ".join(line.split("=")[0].rstrip(" {").split()), first, last
    yield "file", 0, len(lines)


def python_places(lines):
    """Yield name, first and last line of the functions of a file in Python: name() or Class.name()."""
    owner = ""
    for first, line in enumerate(lines):
        if match := re.match(r"class (\w+)|(?=[^\s@#])", line):
            owner = match[1] or ""
        if match := re.match(r"( *)(?:async )?def (\w+)", line):
            indent = len(match[1])
            last = next((i for i in range(first + 1, len(lines))
                         if lines[i] and len(lines[i]) - len(lines[i].lstrip()) <= indent
                         and lines[i].strip()[0] != ")"), len(lines))
            yield f"{owner}.{match[2]}()" if owner and indent else f"{match[2]}()", first, last


def replace(lines, edits):
    """Return the lines of a file with all its edits done."""
    for first, last, new in sorted(((*e.find(lines), e.new) for e in edits), reverse=True):
        lines = lines[:first] + new + lines[last:]
    return lines


def find_place(lines, edit):
    """Return first and last line of the edit's place."""
    every = python_places if edit.path.endswith(".py") else places
    found = [(first, last) for name, first, last in every(lines) if name == edit.place]
    if len(found) != 1:
        raise Stale(f"{edit.path} has {len(found)} places called {edit.place}")
    return found[0]

#!/usr/bin/env python3
"""Joins the sources of one target into a few files, so that headers are parsed once for many.

    join_sources.py ROOT INTO NAME SOURCE...

Writes INTO/NAME_0.cc, INTO/NAME_1.cc ..., each of which includes up to BATCH sources, and prints what
to compile: those files and the sources that stay alone, with ';' between them. The paths in them are
relative to ROOT, so that a compiler cache finds them from another clone too.

Two sources share a file only if neither can see the other's private names. A private name is one
that a source declares in an unnamed namespace, as static, by `using` or by #define. It must be no word
of the other source, but behind `.`, `->` or `::`, and no name that a header of the other declares: an
inner scope hides an outer one without a word of the compiler's. What both declare by the same line of
`using` is one thing. Names are found by pattern, and too many rather than too few: a source that fits
nowhere is compiled alone, as all are without this. An edit can bring a clash; configuring again, which
the build does when a list of sources changes, looks for it.
"""

import functools
import pathlib
import re
import sys

BATCH = 12
# For sources with a class of a named scope: GCC takes it for one of a header, which must not hold what is
# private to a source.
HAS_CLASS = """#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif
"""

INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
DEFINE = re.compile(r"^#define (\w+)", re.MULTILINE)
TYPE = re.compile(
    r"^(?:template\b.*>\s*)?(?:struct|class|union|enum(?: class)?)\s+(?:ABSL_\w+(?:\([^)]*\))?\s+|alignas\([^)]*\)\s+)?(\w+)")
ALIAS = re.compile(r"^(?:template\b.*>\s*)?using\s+(?:(\w+)\s*=|[\w:]*::(\w+)\s*;)")
# The last word before what opens a function, an initializer or an array, or ends a declaration.
VALUE = re.compile(r"^[A-Za-z_\[:].*?\b(\w+)\s*(?:\(|=|\{|\[|;)")
UNNAMED_END = re.compile(r"\}\s*// namespace$")
# What is no word of the program: comments, texts, characters.
NO_WORDS = re.compile(r'//[^\n]*|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
WORD = re.compile(r"(\.|->|::)?\b([A-Za-z_]\w*)")
USED = re.compile(r"using\s+[\w:]+;")
TEST = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+),\s*(\w+)\)")
NO_NAME = ("}", "{", ")", "//", "#", " ", "\t", "namespace", "public", "private", "protected",
           "INSTANTIATE", "return", "extern \"C\" {")


def declared(line):
    """The names that one line without indentation declares, in whatever scope."""
    test = TEST.match(line)
    if test:
        return {"_".join(test.groups())}
    if not line or line.startswith(NO_NAME):
        return set()
    if line.startswith("using namespace"):
        return {line}
    for pattern in (TYPE, ALIAS, VALUE):
        found = pattern.match(line)
        if found:
            return {name for name in found.groups() if name}
    return set()


def is_private(line, unnamed):
    """Whether the name that this line defines is seen in its own file alone."""
    return unnamed or line.startswith(("static ", "using ", "template <> ")) or bool(TEST.match(line))


class Sources:
    """Reads each file of the tree once."""

    def __init__(self, root):
        self.root = root

    @functools.cache
    def text(self, path):
        """The file's content; "" for a header that the build has yet to make."""
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except OSError:
            return ""  # a generated header: its names are nobody's private ones

    @functools.cache
    def private(self, path):
        """Each private name, with what makes it the same as another of that name."""
        text = self.text(path)
        names = {name: path for name in DEFINE.findall(text)}
        unnamed = False
        for line in text.splitlines():
            unnamed = line == "namespace {" or unnamed and not UNNAMED_END.match(line)
            if is_private(line, unnamed):
                origin = line if line.startswith("using ") else path
                names |= {name: origin for name in declared(line)}
        return names

    def has_class(self, path):
        """Whether it defines a class outside of its unnamed namespaces."""
        unnamed = False
        for line in self.text(path).splitlines():
            unnamed = line == "namespace {" or unnamed and not UNNAMED_END.match(line)
            if not unnamed and re.match(r"(?:class|struct) [\w:]+ .*\{$", line):
                return True
        return False

    @functools.cache
    def shown(self, path):
        """What a header declares by itself."""
        text = self.text(path)
        names = set(DEFINE.findall(text))
        for line in text.splitlines():
            names |= declared(line)
        return frozenset(names)

    @functools.cache
    def words(self, path):
        """Those that an unnamed scope could take away: not what stands behind `.`, `->` or `::`."""
        text = NO_WORDS.sub(" ", self.text(path))
        return frozenset(word for behind, word in WORD.findall(text) if not behind)

    @functools.cache
    def headers(self, path):
        """The tree's headers that a file includes, through others too."""
        seen = set()
        todo = [path]
        while todo:
            for header in INCLUDE.findall(self.text(todo.pop())):
                if header not in seen and (self.root / header).exists():
                    seen.add(header)
                    todo.append(header)
        return frozenset(seen)

    def names(self, path):
        """What has to be known of a source to let it stand beside others."""
        shown = (self.shown(header) for header in self.headers(path))
        return Names(self.private(path), self.words(path), frozenset().union(*shown))


class Names:
    """Of one source, or of all of a batch."""

    def __init__(self, private=(), words=(), headers=()):
        self.private = dict(private)
        self.words = set(words)
        self.headers = set(headers)

    def clash(self, name, origin):
        """Whether these would meet another's private name."""
        if name in self.private:
            return self.private[name] != origin
        return name in self.words or name in self.headers and not USED.match(origin)

    def can_stand_beside(self, other):
        """Whether neither of the two would see a private name of the other."""
        return not (any(self.clash(*one) for one in other.private.items())
                    or any(other.clash(*one) for one in self.private.items()))

    def add(self, other):
        """From now on these names are the batch's as well."""
        self.private |= other.private
        self.words |= other.words
        self.headers |= other.headers


class Batch:
    """Sources that one file will include, and their names together."""
    def __init__(self):
        self.paths = []
        self.names = Names()


def join(sources, paths):
    """Puts each source into the first batch that it can stand in, in the order of `paths`."""
    batches = []
    for path in paths:
        names = sources.names(path)
        batch = next((batch for batch in batches
                      if len(batch.paths) < BATCH and batch.names.can_stand_beside(names)), None)
        if batch is None:
            batch = Batch()
            batches.append(batch)
        batch.paths.append(path)
        batch.names.add(names)
    return batches


def main():
    """Writes the files and prints what to compile, with ';' between them for CMake."""
    root = pathlib.Path(sys.argv[1])
    into = pathlib.Path(sys.argv[2])
    name = sys.argv[3]
    inside = []
    result = []
    for source in map(pathlib.Path, sys.argv[4:]):
        if source.is_relative_to(root) and not source.is_relative_to(root / "build"):
            inside.append(source.relative_to(root).as_posix())
        else:
            result.append(source.as_posix())
    into.mkdir(parents=True, exist_ok=True)
    sources = Sources(root)
    for index, batch in enumerate(join(sources, inside)):
        if len(batch.paths) == 1:
            result.append((root / batch.paths[0]).as_posix())
            continue
        path = into / f"{name}_{index}.cc"
        text = HAS_CLASS if any(map(sources.has_class, batch.paths)) else ""
        text += "".join(f'#include "{source}"\n' for source in batch.paths)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        result.append(path.as_posix())
    print(";".join(result), end="")


main()

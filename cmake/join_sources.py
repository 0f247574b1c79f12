#!/usr/bin/env python3
"""Joins the sources of one target into a few files, so that headers are parsed once for many.

    join_sources.py [--large] ROOT INTO NAME SOURCE...

Writes INTO/NAME_0.cc, INTO/NAME_1.cc ..., each of which includes up to BATCH sources, or with --large up to
LARGE_LINES lines of sources, and prints what to compile: those files and the sources that stay alone, with ';' between them. The paths in them are
relative to ROOT, so that a compiler cache finds them from another clone too.

Two sources share a file only if neither can see the other's private names. A private name is one
that a source declares in an unnamed namespace, as static, by `using` or by #define. It must be no word
of the other source, but behind `.`, `->` or `::`, and no name that a header of the other declares: an
inner scope hides an outer one without a word of the compiler's. What both declare by the same line of
`using` is one thing. Names are found by pattern, and too many rather than too few: a source that fits
nowhere is compiled alone, as all are without this. An edit can bring a clash; configuring again, which
the build does when a list of sources changes, looks for it. Nor may a header of one declare a type by a
name that a header of the other has for a function: where both are seen, the name alone is the function.

With --large a private name gets another one by #define while its source is read, so that it meets nobody.
All headers come first then, and are not touched. A name that stands behind `.`, `->` or `::` in its source,
or anywhere in one of its headers, keeps its name, and clashes as it does without --large. So does whatever a test
is named by. A function that is called for the type of its argument keeps its name too, and clashes with none: the
types differ.
"""

import functools
import pathlib
import re
import sys

BATCH = 12
LARGE_LINES = 12_500  # some 2 GB of a compiler
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
# The values of an enumeration without `class`, which are names of the scope around it.
ENUM = re.compile(r"^enum\s+(?!class\b)(?:\w+\s*)?(?::[^{;]*)?\{([^}]*)\}", re.MULTILINE)
VALUE_OF_ENUM = re.compile(r"(\w+)\s*(?:=[^,]*)?(?:,|$)")
TEST = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+),\s*(\w+)\)")
# The names of tests, which are texts too, that people see.
TEST_NAMES = re.compile(r"^(?:TYPED_|INSTANTIATE_)*TEST\w*\(\s*(\w+),\s*(\w+)", re.MULTILINE)
# What the patterns above can take for a name, and is none that a source may have.
KEYWORDS = frozenset("""auto bool char class const constexpr decltype double enum float inline int long namespace noexcept
operator override return short signed sizeof static struct template typename union unsigned using void""".split())
# What others call by these names, for the type of an argument.
BY_ARGUMENT = frozenset(("AbslHashValue", "AbslStringify", "PrintTo", "begin", "end", "from_json", "swap", "to_json"))
SYSTEM_INCLUDE = re.compile(r'^#include (?:<[^>]+>|"[^"]+\.h")')
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


def values_of_enums(text):
    """The names that enumerations without `class` declare, in whatever scope."""
    listed = (NO_WORDS.sub(" ", values) for values in ENUM.findall(text))
    return {name for values in listed for name in VALUE_OF_ENUM.findall(values.strip())}


def is_private(line, unnamed):
    """Whether the name that this line defines is seen in its own file alone."""
    return unnamed or line.startswith(("static ", "using ", "template <> ")) or bool(TEST.match(line))


class Sources:
    """Reads each file of the tree once."""

    def __init__(self, root, large=False):
        self.root = root
        self.large = large

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
        names = {name: path for name in [*DEFINE.findall(text), *values_of_enums(text)]}
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
        names = set(DEFINE.findall(text)) | values_of_enums(text)
        for line in text.splitlines():
            names |= declared(line)
        return frozenset(names)

    @functools.cache
    def types(self, path):
        """Those of a header's names that are types."""
        return frozenset().union(*(declared(line) for line in self.text(path).splitlines()
                                   if TYPE.match(line) or ALIAS.match(line)))

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

    @functools.cache
    def all_words(self, path):
        return frozenset(word for _, word in WORD.findall(NO_WORDS.sub(" ", self.text(path))))

    @functools.cache
    def renamed(self, path):
        """The private names that get another one by #define while the source is read."""
        if not self.large:
            return frozenset()
        names = {name for name, origin in self.private(path).items()
                 if name.isidentifier() and not USED.match(origin) and origin == path or " = " in origin}
        names -= KEYWORDS | BY_ARGUMENT
        names -= set(DEFINE.findall(self.text(path)))
        names -= set(sum(TEST_NAMES.findall(self.text(path)), ()))
        names -= {word for behind, word in WORD.findall(NO_WORDS.sub(" ", self.text(path))) if behind}
        return frozenset(names.difference(*map(self.all_words, self.headers(path))))

    @functools.cache
    def includes(self, path):
        """Its lines of #include that stand under no condition."""
        lines = []
        depth = 0
        for line in self.text(path).splitlines():
            depth += line.startswith("#if") - line.startswith("#endif")
            found = SYSTEM_INCLUDE.match(line)
            if found and depth == 0:
                lines.append(found.group())
        return lines

    def lines(self, path):
        return self.text(path).count("\n")

    def names(self, path):
        """What has to be known of a source to let it stand beside others."""
        shown, types = (frozenset().union(*map(names, self.headers(path))) for names in (self.shown, self.types))
        renamed = self.renamed(path)
        private = {name: origin for name, origin in self.private(path).items()
                   if name not in renamed and not (self.large and name in BY_ARGUMENT)}
        return Names(private, self.words(path) - renamed, shown, types)

    def joined(self, paths):
        """The text of a file that includes those sources."""
        text = HAS_CLASS if any(map(self.has_class, paths)) else ""
        if self.large:
            text += "".join(f"{line}\n" for line in dict.fromkeys(sum(map(self.includes, paths), [])))
        for path in paths:
            suffix = re.sub(r"\W", "_", path)
            names = sorted(self.renamed(path))
            text += "".join(f"#define {name} {name}_of_{suffix}\n" for name in names)
            text += f'#include "{path}"\n'
            text += "".join(f"#undef {name}\n" for name in names)
        return text


class Names:
    """Of one source, or of all of a batch."""

    def __init__(self, private=(), words=(), headers=(), types=()):
        self.private = dict(private)
        self.words = set(words)
        self.headers = set(headers)
        self.types = set(types)

    def clash(self, name, origin):
        """Whether these would meet another's private name."""
        if name in self.private:
            return self.private[name] != origin
        return name in self.words or name in self.headers and not USED.match(origin)

    def hides(self, other):
        """Whether a header of these has a function by the name of one of the other's types."""
        return not other.types.isdisjoint(self.headers - self.types)

    def can_stand_beside(self, other):
        """Whether neither of the two would see a private name of the other, or lose a type."""
        return not (self.hides(other) or other.hides(self)
                    or any(self.clash(*one) for one in other.private.items())
                    or any(other.clash(*one) for one in self.private.items()))

    def add(self, other):
        """From now on these names are the batch's as well."""
        self.private |= other.private
        self.words |= other.words
        self.headers |= other.headers
        self.types |= other.types


class Batch:
    """Sources that one file will include, and their names together."""
    def __init__(self):
        self.paths = []
        self.lines = 0
        self.names = Names()

    def has_room(self, sources, path):
        if sources.large:
            return self.lines + sources.lines(path) <= LARGE_LINES
        return len(self.paths) < BATCH


def join(sources, paths):
    """Puts each source into the first batch that it can stand in, in the order of `paths`."""
    batches = []
    for path in paths:
        names = sources.names(path)
        batch = next((batch for batch in batches
                      if batch.has_room(sources, path) and batch.names.can_stand_beside(names)), None)
        if batch is None:
            batch = Batch()
            batches.append(batch)
        batch.paths.append(path)
        batch.lines += sources.lines(path)
        batch.names.add(names)
    return batches


def main():
    """Writes the files and prints what to compile, with ';' between them for CMake."""
    arguments = sys.argv[1:]
    large = arguments[0] == "--large"
    root, into = map(pathlib.Path, arguments[large:large + 2])
    name = arguments[large + 2]
    inside = []
    result = []
    for source in map(pathlib.Path, arguments[large + 3:]):
        if source.is_relative_to(root) and not source.is_relative_to(root / "build"):
            inside.append(source.relative_to(root).as_posix())
        else:
            result.append(source.as_posix())
    into.mkdir(parents=True, exist_ok=True)
    sources = Sources(root, large)
    for index, batch in enumerate(join(sources, inside)):
        if len(batch.paths) == 1:
            result.append((root / batch.paths[0]).as_posix())
            continue
        path = into / f"{name}_{index}.cc"
        text = sources.joined(batch.paths)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        result.append(path.as_posix())
    print(";".join(result), end="")


main()

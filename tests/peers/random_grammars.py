"""Random grammars, by a random.Random."""

import itertools


def texts(alphabet: str, length: int, more: list) -> list:
    """All texts of up to `length` letters, and `more`."""
    every = [itertools.product(alphabet, repeat=n) for n in range(length + 1)]
    return ["".join(letters) for group in every for letters in group] + more


class _Rules:
    """Right-hand sides of operators, groups and names over the leaves of a notation."""

    def __init__(self, rnd, leaves: list, names: list, operators: list, or_empty: float, width: int = 3):
        self._rnd = rnd
        self._width = width
        self._leaves = leaves
        self._names = names
        self._operators = operators
        self._or_empty = or_empty

    def alternatives(self, depth: int) -> str:
        return " | ".join(self._sequence(depth) for _ in range(self._rnd.randint(1, self._width)))

    def _sequence(self, depth: int) -> str:
        if self._rnd.random() < self._or_empty:
            return ""
        return " ".join(self._item(depth) for _ in range(self._rnd.randint(1, self._width)))

    def _item(self, depth: int) -> str:
        chance = self._rnd.random()
        if depth == 0 or chance < 0.35:
            return self._rnd.choice(self._leaves)
        if chance < 0.5 and self._names:
            return self._rnd.choice(self._names)
        group = f"({self.alternatives(depth - 1)})"
        return group if chance < 0.65 else group + self._rnd.choice(self._operators)


_COUNTS = ["*", "+", "?", "{2}", "{0,2}", "{1,}", "{2,3}"]


def gbnf(rnd) -> str:
    """Without left recursion, which llama.cpp refuses."""
    leaves = ['"a"', '"b"', '"ab"', "[ab]", "[^a]", ".", '"é"', "[-a]", '"\\x61"', "[\\u0061-\\u0062]"]
    rules = []
    for name, below in (("root", ["r-0", "r1", "r2"]), ("r-0", ["r1", "r2"]), ("r1", ["r2"]), ("r2", [])):
        side = _Rules(rnd, leaves, below, _COUNTS, 0.05).alternatives(2)
        rules.append(f"{name} ::= {side}" + (f' | "b" {name} "a"' if rnd.random() < 0.3 else ""))
    return "\n".join(rules) + "\n"


_EBNF_LEAVES = ['"a"', '"b"', '"ab"', '""', "[ab]", "[^a]", "[a-b]", '"é"', "[^]"]


def ebnf(rnd) -> str:
    names = ["root", "r.0", "r1", "r2"]
    return "".join(
        f"{name} ::= {_Rules(rnd, _EBNF_LEAVES, names[1:], _COUNTS, 0).alternatives(2)}\n" for name in names)


def ebnf_without_names(rnd) -> str:
    return f"root ::= {_Rules(rnd, _EBNF_LEAVES, [], _COUNTS, 0).alternatives(1)}\n"


def ebnf_macros(rnd) -> str:
    """With tags that are not part of each other."""
    tags = rnd.sample(["<a", "b>", "ab", "<>"], rnd.randint(0, 2))
    excludes = rnd.sample(["aa", ">b", "a<"], rnd.randint(0, 1))
    pairs = [f'("{tag}", {rnd.choice(["r0", "r1"])})' for tag in tags]
    options = [f"loop_after_dispatch={rnd.choice(['true', 'false'])}"]
    if excludes:
        options.append("excludes=(" + "".join(f'"{text}",' for text in excludes) + ")")
    chunks = ", ".join(f'"{rnd.choice(["a", "b", "ab", "<"])}"' for _ in range(rnd.randint(0, 4)))
    pattern = rnd.choice(["a+b?", "[ab]{2}|<", "(?:a|ab)*"])
    other = rnd.choice([f'Regex("{pattern}")', f"Substring({chunks})", '"b"'])
    return (f"root ::= TagDispatch({', '.join(pairs + options)}) {rnd.choice(['', other])}\n"
            f'r0 ::= "a" | {other} "b"\nr1[lazy] ::= {rnd.choice(["[ab]+", chr(34) + "<" + chr(34)])}\n')


_LARK_COUNTS = ["*", "+", "?", "~2", "~0..2", "~2..3"]
# Lark multiplies alternatives out: wider ones take it minutes.
_LARK_WIDTH = 2


def _lark_terminals(rnd) -> list:
    """A to C, which match no empty text, so that Lark reads them."""
    # Lark joins patterns as texts: one with alternatives needs a group.
    leaves = ['"a"', '"b"', '"ab"', "/[ab]/", "/(?:a|ab)/", "/b+?/", '"a".."b"', '"B"i', "/A./i", "/é/", '"a" "b"']
    terminals = []
    for number, name in enumerate("ABC"):
        names = [terminal for terminal in "ABC"[:number]]
        side = _Rules(rnd, leaves, names, ["+", "~1..2", "~2"], 0, _LARK_WIDTH).alternatives(1)
        priority = rnd.choice(["", "", ".2", ".-1"])
        terminals.append(f"{name}{priority}: {side}")
    return terminals


def lark(rnd) -> str:
    leaves = ['"a"', '"b"', '"ab"', "A", "B", "C", "A", "B", "/[ab]/", '"b"i', '"a".."b"', '["a"]', "[B]"]
    names = ["start", "r0", "r1", "_r2"]
    calls = names[1:] + ["t{A, r0}", 't{"b", C}', "t{r1, r1}"]
    lines = _lark_terminals(rnd)
    for name in names:
        modifier = rnd.choice(["", "", "!"]) if name.startswith("_") else rnd.choice(["", "?", "!", "!?"])
        side = _Rules(rnd, leaves, calls, _LARK_COUNTS, 0.05, _LARK_WIDTH).alternatives(1)
        ending = rnd.choice(["", "", "\n  | C"] if name.startswith("_") else ["", " -> alias", "\n  | C"])
        lines.append(f"{modifier}{name}: {side}{ending}")
    template = _Rules(rnd, ["x", "y", "A", '"a"'], ["t{y, x}"], ["?", "+"], 0, _LARK_WIDTH)
    lines.append(f"t{{x, y}}: {template.alternatives(1)}")
    lines += rnd.choice([[], [], ['%ignore " "'], ['%ignore "_"', '%ignore /-[ab]-/'], ["%ignore B"]])
    lines += rnd.choice([[], [], [], ["%extend r0: C"], ['%override r1: "a" r0?'], ['%extend A: "bb"']])
    return "\n".join(lines) + "\n"


def lark_sets(rnd) -> str:
    """One terminal with what llguidance has beside Lark: counts in braces, both, not, substrings."""
    leaves = [
        '"a"', '"b"', '"ab"', "/[ab]/", "/a|ab/", "/b+?/", '"a".."b"', '"B"i', "/.b/s", "/[^a]/", '""',
        '~"a"', "~/[ab]*/", '~("a" | "ab")', '%regex {"substring_chunks": ["a", "ba", "b"]}',
        '%regex {"substring_chars": "abb"}', '%regex {"substring_words": "a b-ab"}']
    lines = ["start: C"]
    for number, name in enumerate("ABC"):
        side = _Rules(rnd, leaves, list("ABC"[:number]), _COUNTS, 0, _LARK_WIDTH).alternatives(2)
        other = _Rules(rnd, leaves, list("ABC"[:number]), _COUNTS, 0, 1).alternatives(1)
        lines.append(f"{name}: {side}" + rnd.choice(["", f" & {other}", f" & ~({other}) | {other}"]))
    return "\n".join(lines) + "\n"


def _index_bits(rnd) -> str:
    first = rnd.randint(0, 2)
    return f"[{first}:{rnd.randint(first + 1, 4)}]"


def _index_condition(rnd, depth: int) -> str:
    name = rnd.choice(["eq", "ne", "lt", "le", "gt", "ge"])
    choices = [
        f"{name}({rnd.choice(['_', _index_bits(rnd)])}, {rnd.choice(['0', '1', '0x3', '5'])})",
        f"bit_count_{name}({rnd.choice(['_', _index_bits(rnd)])}, {rnd.randint(0, 3)})",
        f"{rnd.choice(['bit_set', 'bit_clear'])}({rnd.randint(0, 3)})",
        f"{rnd.choice(['is_ones', 'is_zeros'])}([0:{rnd.randint(1, 3)}])", "true", "true()"]
    if depth > 0:
        first, second = (_index_condition(rnd, depth - 1) for _ in range(2))
        choices += [f"and({first}, {second})", f"or({first}, {second})", f"not({first})"]
    return rnd.choice(choices)


def lark_index(rnd) -> str:
    """Rules that call one another at their ends, with few values of the index."""
    steps = ["_", "incr({})", "decr({})", "set_bit({n})", "clear_bit({n})", "bit_and({n})", "bit_or(0x{n})"]
    lines = [f"start: r0::{rnd.choice(['0', '0x5', '7', '18446744073709551615'])}"]
    for name in ("r0", "r1"):
        alternatives = []
        for _ in range(rnd.randint(1, 4)):
            letter = rnd.choice(['"a"', '"b"', '"a" "b"'])
            step = rnd.choice(steps).format(_index_bits(rnd), n=rnd.randint(0, 4))
            ending = rnd.choice([f"{rnd.choice(['r0', 'r1'])}::{step}", f"r1::{step}", ""])
            condition = rnd.choice(["", f" %if {_index_condition(rnd, 2)}"])
            alternatives.append(f"{letter} {ending}{condition}")
        # llguidance refuses a rule that makes no use of its index.
        alternatives.append(f'"" %if {rnd.choice(["ge(_, 0)", "bit_set(0)", "lt([0:2], 2)"])}')
        lines.append(f"{name}::_ : " + "\n  | ".join(alternatives))
    return "\n".join(lines) + "\n"


def lark_lazy(rnd) -> str:
    """Lazy rules, of texts that are not empty: llguidance's manual and its engine differ there."""
    leaves = ['"a"', '"b"', '"ab"', "/[ab]/", "/a|ab/", '"B"i', "/.b/"]
    lines = ['start: r0 "!" (r1 "!")?']
    for name in ("r0", "r1"):
        attribute = rnd.choice(["lazy", 'suffix="b"', "suffix=E", "stop=/ab|ba/", 'capture, suffix="bb"'])
        side = _Rules(rnd, leaves, ["A"], _COUNTS, 0, _LARK_WIDTH).alternatives(1)
        lines.append(f"{name}[{attribute}]: {rnd.choice(leaves)} ({side})")
    return "\n".join(lines) + '\nA: "a"+ | "b"\nE: "ba" | "bb"\n' + rnd.choice(["", '%ignore "_"\n'])

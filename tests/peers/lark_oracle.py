"""Python Lark (Earley, lexer="dynamic_complete") as an oracle of whole languages.

Lark asks re for the match of a terminal that re prefers, and for those of its beginnings: of /a|ab/
it never sees "ab". Here a terminal matches whatever re.fullmatch takes, the longest first; Lark's
own loop over shorter ends then finds them all. What is ignored Lark matches once; here a terminal
stands there once for each length.
"""

import dataclasses

import lark
from lark.parser_frontends import EarleyRegexpMatcher

MAX_TEXT = 8
_match = EarleyRegexpMatcher.match


class _Match:
    def __init__(self, text: str, end: int):
        self._text = text
        self._end = end

    def group(self, _index: int) -> str:
        return self._text

    def end(self) -> int:
        return self._end


@dataclasses.dataclass(frozen=True)
class _OfLength:
    name: str
    length: int


def _longest(self, term, text, index=0):
    whole = str(text)
    ends = range(len(whole), index, -1)
    if isinstance(term, _OfLength):
        ends = [index + term.length] if index + term.length <= len(whole) else []
    pattern = self.regexps[term.name]
    for end in ends:
        if pattern.fullmatch(whole, index, end):
            return _Match(whole[index:end], end)
    return None


def parser(grammar: str, complete: bool = True) -> lark.Lark:
    """`complete`: as above, for texts of up to MAX_TEXT characters; else as Lark does by itself.

    Errors: lark.exceptions.LarkError.
    """
    EarleyRegexpMatcher.match = _longest if complete else _match
    made = lark.Lark(grammar, parser="earley", lexer="dynamic_complete", ambiguity="forest")
    if complete:
        scanner = made.parser.parser
        scanner.ignore = [
            _OfLength(term.name, length)
            for term in scanner.ignore for length in range(1, MAX_TEXT + 1)]
    return made


def accepts(grammar: lark.Lark, text: str) -> bool:
    try:
        grammar.parse(text)
    except lark.exceptions.UnexpectedInput:
        return False
    except RuntimeError as error:
        # Where ignored text may stand at the end and the start may be empty, Lark finds the text
        # twice and takes that for a bug.
        assert "multiple start symbol items" in str(error)
    return True

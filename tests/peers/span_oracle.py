"""What an EBNF grammar or a structural tag means, by trying every span of a short text.

A format is a function of a text and a place in it: the places where the format may end. Rules that
name each other are a least fixed point over all places. Written from docs/ebnf.md and
docs/structural-tags.md; it shares no code with the engine and reads what random_grammars.py and
random_tags.py write, no more. A token is an ASCII character.
"""

import json
import re


class Span:
    """A text, and for each rule and place that was asked for, where the rule may end."""

    def __init__(self, text: str, rules: dict):
        self.text = text
        self._rules = rules
        self._ends = {}

    def rule(self, name: str, start: int) -> set:
        return self._ends.setdefault((name, start), set())

    def whole(self, name: str) -> bool:
        self.rule(name, 0)
        before = None
        while before != (before := sum(len(ends) + 1 for ends in self._ends.values())):
            for named, start in list(self._ends):
                self._ends[named, start] |= self._rules[named](self, start)
        return len(self.text) in self.rule(name, 0)


def literal(word: str):
    return lambda span, i: {i + len(word)} if span.text.startswith(word, i) else set()


def character(letters: str, but: bool = False):
    return lambda span, i: {i + 1} if i < len(span.text) and (span.text[i] in letters) != but else set()


def pattern(source: str):
    read = re.compile(source)
    return lambda span, i: {j for j in range(i, len(span.text) + 1) if read.fullmatch(span.text, i, j)}


def rule(name: str):
    return lambda span, i: span.rule(name, i)


def either(*parts):
    return lambda span, i: set().union(*(part(span, i) for part in parts))


def _behind(part, span: Span, starts: set) -> set:
    return set().union(*(part(span, i) for i in starts))


def sequence(*parts):
    def ends(span, i):
        found = {i}
        for part in parts:
            found = _behind(part, span, found)
        return found
    return ends


def repeated(part, least: int, most=None):
    def ends(span, i):
        reached = {i}
        for _ in range(least):
            reached = _behind(part, span, reached)
        found = set(reached)
        # No more rounds than characters bring anything new.
        for _ in range(len(span.text) + 1 if most is None else most - least):
            reached = _behind(part, span, reached)
            found |= reached
        return found
    return ends


def shortest(part):
    return lambda span, i: set(sorted(part(span, i))[:1])


def free(words: list, most=None):
    """Text with none of the words in it."""
    def ends(span, i):
        last = len(span.text) if most is None else min(len(span.text), i + most)
        return {j for j in range(i, last + 1) if not any(word in span.text[i:j] for word in words)}
    return ends


def _sooner(text: str, word: str, others: list) -> bool:
    """Whether one of the others ends in the text before the word at its end, or with it and is longer."""
    begin = len(text) - len(word)
    for other in others:
        for at in range(len(text) - len(other) + 1):
            inside = at >= begin and other != word
            last = at + len(other) == len(text)
            if text.startswith(other, at) and (len(other) > len(word) if last else not inside):
                return True
    return False


def led_to(word: str, words: list, excludes: list, part):
    """Free text, the word where it is the first of the words, and the part behind it."""
    def ends(span, i):
        found = set()
        for j in range(i + len(word), len(span.text) + 1):
            text = span.text[i:j]
            if text.endswith(word) and not _sooner(text, word, words) and not any(x in text for x in excludes):
                found |= part(span, j)
        return found
    return ends


def dispatch(pairs: list, excludes: list, loop: bool, free_first: bool = True):
    """Free text with parts behind words; without `loop` nothing behind the first part."""
    words = [word for word, _ in pairs]
    parts = either(*(led_to(word, words, excludes, part) for word, part in pairs))
    at_once = either(*(sequence(literal(word), part) for word, part in pairs))
    text = free(words + excludes)
    rest = sequence(repeated(parts, 0), text) if loop else either(text, parts)
    if free_first:
        return rest
    return sequence(at_once, rest) if loop else at_once


_TOKEN = re.compile(r'\s*("(?:\\.|[^"\\])*"|\[\^?[^\]]*\]|::=|[\w.]+(?:\[lazy\])?|\{\d+,?\d*\}|[()|*+?,=])')


class _Reader:
    """The EBNF of random_grammars.py."""

    def __init__(self, source: str):
        self._tokens = _TOKEN.findall(source)
        assert "".join(self._tokens) == re.sub(r"\s", "", source), source
        self._at = 0

    def rules(self) -> dict:
        found = {}
        while self._at < len(self._tokens):
            name = self._take()
            assert self._take() == "::="
            body = self._alternatives()
            lazy = name.endswith("[lazy]")
            found[name.removesuffix("[lazy]")] = shortest(body) if lazy else body
        return found

    def _next(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else ""

    def _take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _alternatives(self):
        parts = [self._sequence()]
        while self._next() == "|":
            self._take()
            parts.append(self._sequence())
        return either(*parts)

    def _sequence(self):
        parts = []
        while self._next() and self._next() not in ("|", ")") and self._next(1) != "::=":
            parts.append(self._counted(self._item()))
        return sequence(*parts)

    def _counted(self, part):
        if self._next() and self._next() in "*+?":
            return repeated(part, *{"*": (0,), "+": (1,), "?": (0, 1)}[self._take()])
        if self._next().startswith("{"):
            least, comma, most = self._take()[1:-1].partition(",")
            return repeated(part, int(least), int(most) if most else None if comma else int(least))
        return part

    def _item(self):
        token = self._take()
        if token == "(":
            part = self._alternatives()
            assert self._take() == ")"
            return part
        if token.startswith('"'):
            return literal(json.loads(token))
        if token.startswith("["):
            letters = token[1:-1].removeprefix("^").replace("a-b", "ab")
            return character(letters, but=token.startswith("[^"))
        return self._macro(token, self._arguments()) if self._next() == "(" and token in _MACROS else rule(token)

    def _arguments(self) -> list:
        """Texts, names, lists of them, and pairs of a name and one of these."""
        assert self._take() == "("
        found = []
        while self._next() != ")":
            argument = self._arguments() if self._next() == "(" else self._take()
            if self._next() == "=":
                self._take()
                argument = {argument: self._arguments() if self._next() == "(" else self._take()}
            found.append(json.loads(argument) if isinstance(argument, str) and argument[0] == '"' else argument)
            if self._next() == ",":
                self._take()
        self._take()
        return found

    def _macro(self, name: str, arguments: list):
        if name == "Regex":
            return pattern(arguments[0])
        if name == "Substring":
            count = len(arguments)
            runs = {"".join(arguments[i:j]) for i in range(count + 1) for j in range(i, count + 1)}
            return either(*(literal(run) for run in runs))
        named = {key: value for each in arguments if isinstance(each, dict) for key, value in each.items()}
        pairs = [(each[0], rule(each[1])) for each in arguments if isinstance(each, list)]
        return dispatch(pairs, named.get("excludes", []), named["loop_after_dispatch"] == "true")


_MACROS = ("Regex", "Substring", "TagDispatch")


def _grammar(source: str):
    """As a format of its own, with rules of its own."""
    rules = _Reader(source).rules()
    return lambda span, i: {j for j in range(i, len(span.text) + 1) if Span(span.text[i:j], rules).whole("root")}


def _letter(token) -> str:
    return chr(token) if isinstance(token, int) else token


class _Tags:
    """Formats within a tag: free text leaves out its ends, free tokens the token that ends it."""

    def __init__(self, ends: list, end_token: list):
        self._ends = ends
        self._end_token = end_token

    def read(self, what: dict):
        return getattr(self, "_" + what["type"])(what)

    def _free(self, what: dict) -> list:
        return self._ends + what.get("excludes", [])

    def _const_string(self, what):
        return literal(what["value"])

    def _regex(self, what):
        return pattern(what["pattern"])

    def _grammar(self, what):
        return _grammar(what["grammar"])

    def _any_text(self, what):
        return free(self._free(what), what.get("max_chars"))

    def _any_tokens(self, what):
        return free(self._end_token, what.get("max_tokens"))

    def _token(self, what):
        return literal(_letter(what["token"]))

    def _exclude_token(self, what):
        tokens = [_letter(token) for token in what["exclude_tokens"]]
        return character("".join(tokens + self._end_token), but=True)

    def _sequence(self, what):
        return sequence(*map(self.read, what["elements"]))

    def _or(self, what):
        return either(*map(self.read, what["elements"]))

    def _optional(self, what):
        return repeated(self.read(what["content"]), 0, 1)

    def _star(self, what):
        return repeated(self.read(what["content"]), 0)

    def _plus(self, what):
        return repeated(self.read(what["content"]), 1)

    def _repeat(self, what):
        most = what["max"]
        return repeated(self.read(what["content"]), what["min"], None if most == -1 else most)

    def _tag(self, what, taken: str = ""):
        """`taken`: what stands before it of its beginning."""
        begin = what["begin"]["token"] if isinstance(what["begin"], dict) else what["begin"]
        end = what["end"]
        words = [] if isinstance(end, dict) else end if isinstance(end, list) else [end]
        token = [_letter(end["token"])] if isinstance(end, dict) else []
        content = _Tags([word for word in words if word], token).read(what["content"])
        return sequence(literal(_letter(begin).removeprefix(taken)), content, either(*map(literal, words + token)))

    def _triggered(self, what, triggers: list, excludes: list):
        pairs = [(trigger, self._tag(tag, trigger)) for trigger in triggers for tag in what["tags"]
                 if _begin(tag).startswith(trigger)]
        loop = not what.get("stop_after_first", False)
        return dispatch(pairs, excludes, loop, not what.get("at_least_one", False))

    def _triggered_tags(self, what):
        return self._triggered(what, what["triggers"], self._free(what))

    def _token_triggered_tags(self, what):
        return self._triggered(what, [_letter(token) for token in what["trigger_tokens"]], self._end_token)

    def _dispatch(self, what):
        pairs = [(word, self.read(part)) for word, part in what["rules"]]
        return dispatch(pairs, self._free(what), what["loop"])

    def _token_dispatch(self, what):
        pairs = [(_letter(token), self.read(part)) for token, part in what["rules"]]
        return dispatch(pairs, self._end_token, what["loop"])

    def _tags_with_separator(self, what):
        tag = either(*map(self._tag, what["tags"]))
        more = repeated(sequence(literal(what["separator"]), tag), 0)
        some = tag if what.get("stop_after_first", False) else sequence(tag, more)
        return some if what.get("at_least_one", False) else repeated(some, 0, 1)


def _begin(tag: dict) -> str:
    return _letter(tag["begin"]["token"]) if isinstance(tag["begin"], dict) else tag["begin"]


def verdicts(source: str, texts: list) -> list:
    """Of an EBNF grammar's text, or a structural tag's."""
    if source.startswith("{"):
        rules = {"root": _Tags([], []).read(json.loads(source)["format"])}
    else:
        rules = _Reader(source).rules()
    return [Span(text, rules).whole("root") for text in texts]

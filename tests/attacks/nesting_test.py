"""Sources whose levels stand within each other, by everything that can nest in each kind of grammar.

Whoever descends by recursion, a reader, a pass, a search or a destructor, ends the process on its
stack, so the stack is small here. At LEVELS most must compile; at many more any answer will do.
"""

import json
import os
import pathlib
import resource
import subprocess

import pytest

MASKCTL = os.environ["MASKD_MASKCTL"]
STACK_KIB = int(os.environ["MASKD_STACK_KIB"])
# A sanitizer keeps memory that the engine has given back, so that the mark for it says nothing.
IS_SANITIZED = os.environ["MASKD_SANITIZED"] == "1"
LEVELS = 90
# A mask of 40 such levels takes all work that a step may have, and five seconds of a processor: forty for this test.
FEWER_LEVELS = {"rules_empty": 30}
MANY_LEVELS = {"json_schema": 5_000, "structural_tag": 5_000}  # others: 50,000

# (format, name): what is opened at each level, the innermost, what is closed; all in `around`.
NESTED = {
    ("lark", "not"): ("~(", '"a"', ")"),
    ("lark", "and"): ('(/[a-z]+/ & ("x" | ', '"a"', "))"),
    ("lark", "option"): ('["a" ', '"a"', "]"),
    ("lark", "star"): ('("a" ', '"a"', ")*"),
    ("lark", "plus"): ("(", '"a"', ")+"),
    ("lark", "count"): ("(", '"a"', ")~1..2"),
    ("lark", "template"): ("_t{", '"a"', "}"),
    ("lark", "look_ahead"): ("/(?=[a-z]*)/ (", "/a/", ")"),
    ("regex", "look_ahead"): ("(?=[a-z]*", "a", ")[a-z]*"),
    ("regex", "not_ahead"): ("(?![a-z]x", "a", ")[a-z]*"),
    ("regex", "look_behind"): ("[a-z]*(?<=[a-z]", "a", ")"),
    ("regex", "option"): ("(a", "b", ")?"),
    ("regex", "star"): ("(a", "b", ")*"),
    ("regex", "star_of_star"): ("(", "b", ")*"),
    ("regex", "alternatives"): ("(a|b", "b", ")"),
    ("regex", "alternatives_in_front"): ("(", "b", "a|b)"),
    ("regex", "count_of_count"): ("(", "b", "){0,2}"),
    ("regex", "count"): ("(a", "b", "){2,3}"),
    ("regex", "lazy"): ("(?:a", "b", ")+?"),
    ("regex", "case"): ("(?i:a", "b", ")"),
    ("gbnf", "option"): ('("a" ', '"b"', ")?"),
    ("gbnf", "star"): ('("a" ', '"b"', ")*"),
    ("gbnf", "plus_of_plus"): ("(", '"b"', ")+"),
    ("gbnf", "alternatives"): ('("a" | "b" ', '"b"', ")"),
    ("gbnf", "count"): ('("a" ', '"b"', "){1,2}"),
    ("ebnf", "look_ahead"): ('(?= "a" ', '"a"', ") [a-z]*"),
    ("json_schema", "allOf"): ('{"allOf":[{"minLength":1},', '{"type":"string"}', "]}"),
    ("json_schema", "anyOf"): ('{"anyOf":[{"type":"null"},', '{"type":"string"}', "]}"),
    ("json_schema", "oneOf"): ('{"oneOf":[{"type":"null"},', '{"type":"string"}', "]}"),
    ("json_schema", "not"): ('{"not":', '{"type":"string"}', "}"),
    ("json_schema", "not_allOf"): ('{"not":{"allOf":[{"type":"string"},', '{"minLength":2}', "]}}"),
    ("json_schema", "if"): ('{"if":', '{"type":"string"}', ',"then":{"minLength":1}}'),
    ("json_schema", "then"): ('{"if":{"minLength":3},"then":', '{"type":"string"}', "}"),
    ("json_schema", "contains"): ('{"type":"array","contains":', '{"type":"string"}', "}"),
    ("json_schema", "not_items"): ('{"not":{"type":"array","items":', '{"type":"string"}', "}}"),
    ("json_schema", "prefixItems"): ('{"type":"array","prefixItems":[', '{"type":"string"}', "]}"),
    ("json_schema", "uniqueItems"): ('{"uniqueItems":true,"items":', '{"type":"string"}', "}"),
    ("json_schema", "additionalProperties"): ('{"additionalProperties":', "true", "}"),
    ("json_schema", "patternProperties"): ('{"patternProperties":{"^a+$":', "true", "}}"),
    ("json_schema", "propertyNames"): ('{"propertyNames":', '{"type":"string"}', "}"),
    ("json_schema", "dependentSchemas"): ('{"dependentSchemas":{"a":', '{"minProperties":2}', "}}"),
    ("json_schema", "unevaluated"): (
        '{"properties":{"a":{}},"unevaluatedProperties":', '{"type":"string"}', "}"),
    ("json_schema", "unevaluated_allOf"): (
        '{"properties":{"a":true},"unevaluatedProperties":false,"allOf":[', "true", "]}"),
    ("json_schema", "const"): ("[", "1", "]"),
    ("json_schema", "not_const"): ('{"a":', "1", "}"),
    ("json_schema", "pattern"): ("(a", "b", ")?"),
    ("json_schema", "pattern_look_ahead"): ("(?=a", "b", ")a*"),
    ("structural_tag", "sequence"): ('{"type":"sequence","elements":[', '{"type":"any_text"}', "]}"),
    ("structural_tag", "tag"): (
        '{"type":"tag","begin":"<a>","content":', '{"type":"any_text"}', ',"end":"</a>"}'),
    ("structural_tag", "triggered"): (
        '{"type":"triggered_tags","triggers":["<a"],"tags":[{"begin":"<a>","content":',
        '{"type":"any_text"}', ',"end":"</a>"}]}'),
}

AROUND = {
    "lark": ("_t{x}: x\nstart: ", "\n"),
    "regex": ("", ""),
    "gbnf": ("root ::= ", "\n"),
    "ebnf": ("root ::= ", "\n"),
    "json_schema": ("", ""),
    "structural_tag": ('{"type":"structural_tag","format":', "}"),
    "const": ('{"const":', "}"),
    "not_const": ('{"not":{"const":', "}}"),
    "pattern": ('{"type":"string","pattern":"^', '$"}'),
    "pattern_look_ahead": ('{"type":"string","pattern":"^', '$"}'),
}

# (format, name): what stands before all, what each rule is of the next one, what the last one is.
CHAINED = {
    ("lark", "terminals_and"): ("start: T0\n", 'T${i}: /[a-z]+/ & ("xy" | T${i+1})\n', ': "a"\n'),
    ("lark", "terminals_not"): ("start: T0\n", "T${i}: ~T${i+1}\n", ': "a"\n'),
    ("lark", "terminals_not_and"): ("start: T0\n", "T${i}: ~T${i+1} & /[a-z]*x?/\n", ': "a"\n'),
    ("lark", "terminals_sequence"): ("start: T0\n", 'T${i}: "a" T${i+1}? "b"\n', ': "a"\n'),
    ("lark", "terminals_star"): ("start: T0\n", 'T${i}: ("a" T${i+1})*\n', ': "a"\n'),
    ("lark", "rules"): ("start: r0\n", 'r${i}: "a" r${i+1} "b" | "c"\n', ': "a"\n'),
    ("lark", "rules_left"): ("start: r0\n", 'r${i}: r${i+1} "b" | "c"\n', ': r0 "a"\n'),
    ("lark", "rules_ignore"): (
        "%ignore /[ x]+/\nstart: r0\n", 'r${i}: "a" r${i+1} | "c"\n', ': "a"\n'),
    ("lark", "rules_empty"): ("start: r0\n", "r${i}: r${i+1} r${i+1}\n", ': "a"?\n'),
    ("gbnf", "rules"): ("root ::= r0\n", 'r${i} ::= "a" r${i+1} "b" | "c"\n', ' ::= "a"\n'),
    ("gbnf", "rules_left"): ("root ::= r0\n", 'r${i} ::= r${i+1} "b" | "c"\n', ' ::= r0 "a"\n'),
    ("gbnf", "rules_empty"): ("root ::= r0\n", "r${i} ::= r${i+1} r${i+1}\n", ' ::= "a"?\n'),
    ("gbnf", "rules_unit"): ("root ::= r0\n", 'r${i} ::= r${i+1} | "b"\n', ' ::= "a"\n'),
    ("gbnf", "rules_star"): ("root ::= r0\n", 'r${i} ::= ("a" r${i+1})*\n', ' ::= "a"\n'),
    **{
        ("json_schema", f"refs_{keyword}"): (
            '{"$ref":"#/$defs/r0","$defs":{', f'"r${{i}}":{schema},', ':{"type":"string"}}}')
        for keyword, schema in {
            "ref": '{"$ref":"#/$defs/r${i+1}"}',
            "not": '{"not":{"$ref":"#/$defs/r${i+1}"}}',
            "anyOf": '{"anyOf":[{"type":"null"},{"$ref":"#/$defs/r${i+1}"}]}',
            "allOf": '{"allOf":[{"minLength":${i}},{"$ref":"#/$defs/r${i+1}"}]}',
            "oneOf": '{"oneOf":[{"type":"null"},{"$ref":"#/$defs/r${i+1}"}]}',
            "items": '{"items":{"$ref":"#/$defs/r${i+1}"}}',
        }.items()
    },
}


def nested(form: str, name: str, levels: int) -> list:
    before, after = AROUND[name if name in AROUND else form]
    opened, innermost, closed = NESTED[form, name]
    return [before, {"repeat": opened, "n": levels}, innermost,
            {"repeat": closed, "n": levels}, after]


def chained(form: str, name: str, levels: int) -> list:
    before, rule, last = CHAINED[form, name]
    symbol = "T" if "terminals" in name else "r"
    quote = '"' if form == "json_schema" else ""
    return [before, {"each": rule, "to": levels}, f"{quote}{symbol}{levels}{quote}{last}"]


def cases(many: bool) -> list:
    made = []
    for recipe, table in ((nested, NESTED), (chained, CHAINED)):
        for form, name in table:
            levels = MANY_LEVELS.get(form, 50_000) if many else FEWER_LEVELS.get(name, LEVELS)
            made.append({
                "id": f"{form}-{name}-{levels}", "kind": form, "format": form,
                "recipe": recipe(form, name, levels), "expected": "ok_within_budget",
                "may_refuse": True, "budget": {"ms": 0, "mib": 4096}, "why": "",
            })
    return made


def run(path: pathlib.Path, attacks: list) -> str:
    path.write_text("".join(json.dumps(case) + "\n" for case in attacks), encoding="utf-8")
    bound = (STACK_KIB << 10, resource.getrlimit(resource.RLIMIT_STACK)[1])
    ran = subprocess.run(
        [MASKCTL, "attack", "--library", "--clock=none", path], capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, bound))
    if IS_SANITIZED:
        assert "deaths: 0" in ran.stdout and column(ran.stdout, 4) == len(attacks), ran.stdout + ran.stderr
    else:
        assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def column(output: str, number: int) -> int:
    """Of the table's last line: 2 the cases, 3 those that were refused, 4 those that passed."""
    rows = [line.split("|") for line in output.splitlines() if line.startswith("| all |")]
    return sum(int(row[number]) for row in rows)


def compiled(output: str) -> int:
    return column(output, 2) - column(output, 3)


@pytest.mark.parametrize("many", [False, True], ids=["levels", "many levels"])
def test_every_answer_needs_little_stack(tmp_path, many):
    attacks = cases(many)
    output = run(tmp_path / "nesting.jsonl", attacks)
    if not many:
        assert compiled(output) > len(attacks) * 0.85, output

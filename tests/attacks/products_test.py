"""Schemas and patterns whose parts multiply: a few megabytes of text that would be minutes of work.

Each must be refused for the work that it takes, long before, and its memory must stay small. So must that
of as many schemas as a text has room for.
"""

import json
import os
import subprocess

MASKCTL = os.environ["MASKD_MASKCTL"]
MIB = 512
MIB_OF_SHORT = 320  # of 4 MiB of text


def each(text: str, to: int) -> dict:
    return {"each": text, "to": to, "sep": ","}


def all_of(first: object, schema: object) -> list:
    return ["{", first, '"allOf":[', schema, "]}"]


def chain(first: str, step: str, to: int, last: str) -> list:
    """Definitions each of which leads to the next one."""
    return ["{", first, ',"$defs":{', each(f'"${{i}}":{step}', to), f',"{to}":{last}}}}}']


NEXT = '"$ref":"#/$defs/${i+1}"'
LONG_STRING = ['"const":"', {"repeat": "x", "n": 1_000_000}, '",']

# name: format, recipe.
PRODUCTS = {
    "facets": ("json_schema", all_of('"type":"number",', each('{"minimum":${i}}', 60_000))),
    "items": ("json_schema", all_of('"type":"array",', each('{"items":{"minLength":${i}}}', 40_000))),
    "names_and_schemas": ("json_schema", all_of(
        ['"type":"object","properties":{', each('"p${i}":true', 30_000), "},"],
        each('{"maxProperties":1${i}}', 30_000))),
    "required_and_schemas": ("json_schema", all_of(
        ['"type":"object","required":[', each('"p${i}"', 60_000), "],"],
        each('{"maxProperties":1${i}}', 60_000))),
    "prefix_and_schemas": ("json_schema", all_of(
        ['"type":"array","prefixItems":[', each("true", 60_000), "],"],
        each('{"maxItems":1000${i}}', 60_000))),
    "values_and_schemas": ("json_schema", all_of(
        ['"enum":[', each("${i}", 100_000), "],"], each('{"maxItems":${i}}', 50_000))),
    "long_string_and_schemas": ("json_schema", all_of(LONG_STRING, each('{"minLength":${i}}', 60_000))),
    "long_string_and_values": ("json_schema", all_of(LONG_STRING, each('{"not":{"const":${i}}}', 60_000))),
    "denials_and_denials": ("json_schema", all_of('"type":"object",', [
        each('{"not":{"minLength":${i}}}', 20_000), ",",
        each('{"not":{"required":["a${i}","b${i}"]}}', 20_000)])),
    "denied_chains": ("json_schema", chain(
        '"allOf":[{"not":{"$ref":"#/$defs/0"}}' + "".join(
            f',{{"not":{{"$ref":"#/$defs/{i}"}}}}' for i in range(1, 3_000)) + "]",
        '{"minLength":${i},' + NEXT + "}", 15_000, '{"maxLength":5}')),
    "denied_one_ofs": ("json_schema", all_of("", each(
        '{"not":{"minLength":${i},"oneOf":[' + ",".join(["true"] * 100) + "]}}", 2_000))),
    "watchers": ("json_schema", chain(
        '"$ref":"#/$defs/0"', '{"unevaluatedProperties":{"maxLength":${i}},' + NEXT + "}", 8_000, "{}")),
    "sure_evaluators": ("json_schema", chain(
        '"not":{"unevaluatedProperties":false,"$ref":"#/$defs/0"}',
        '{"minLength":${i},' + NEXT + "}", 30_000, '{"properties":{"a":true}}')),
    "scopes": ("json_schema", [
        '{"$id":"https://a.example/root","$ref":"r0","$defs":{',
        each('"r${i}":{"$id":"https://a.example/r${i}","$dynamicAnchor":"d${i}","$ref":"r${i+1}"}', 9_000),
        ',"r9000":{"$id":"https://a.example/r9000","properties":{"p":{"$dynamicRef":"r0#d0"}}}}}']),
    "nested_choices": ("json_schema", chain(
        '"type":"object","if":{"$ref":"#/$defs/0"},"then":{"minProperties":1}',
        '{"anyOf":[' + ",".join(["{" + NEXT + "}"] * 10) + "]}", 12, '{"required":["a"]}')),
    "patterns": ("json_schema", [
        '{"type":"object","patternProperties":{', each('"^a${i}":true', 200_000), "}}"]),
    "letters": ("regex", ["(?i)", {"repeat": "[\\p{L}\\d]", "n": 100_000}]),
}
# What is one schema however often it is named, and what is compared by keys, must compile.
SHARED = {
    "denied_twofold": ("json_schema", chain(
        '"not":{"$ref":"#/$defs/0"}', '{"allOf":[{' + NEXT + "},{" + NEXT + "}]}", 40, '{"type":"object"}')),
    "two_lists": ("json_schema", [
        '{"oneOf":[{"enum":[', each("1${i}", 150_000), ']},{"enum":[', each("-1${i}", 150_000), "]}]}"]),
    "many_own": ("json_schema", all_of('"type":"string",', each('{"minLength":${i}}', 60_000))),
}
# The shortest schemas, as many as there may be.
SHORT = {
    "true": ("json_schema", ['{"prefixItems":[', each("true", 830_000), "]}"]),
    "empty": ("json_schema", ['{"prefixItems":[', each("{}", 1_390_000), "]}"]),
    "false": ("json_schema", ['{"anyOf":[', each("false", 690_000), "]}"]),
}


def cases() -> list:
    made = []
    for table, refused, mib in ((PRODUCTS, True, MIB), (SHARED, False, MIB), (SHORT, True, MIB_OF_SHORT)):
        for name, (form, recipe) in table.items():
            made.append({
                "id": f"product-{name}", "kind": form, "format": form, "recipe": recipe,
                "expected": "error" if refused else "ok_within_budget", "may_refuse": refused,
                "codes": ["RESOURCE_EXHAUSTED"] if refused else [],
                "budget": {"ms": 0, "mib": mib}, "why": "",
            })
    return made


def test_products_are_refused_for_their_work(tmp_path):
    path = tmp_path / "products.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in cases()), encoding="utf-8")
    ran = subprocess.run([MASKCTL, "attack", "--library", "--clock=none", path],
                         capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr

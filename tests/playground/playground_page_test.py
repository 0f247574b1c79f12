"""The playground's page in a real browser, as maskctl and as maskd serve it: its main paths, by mouse and by keyboard.

Without Chromium nothing is tested, and each test says so. MASKD_SCREENSHOTS names a folder for pictures.
"""

import json
import os
import pathlib
import re
import subprocess

import pytest

import chromium

MASKCTL = os.environ["MASKD_MASKCTL"]
MASKD = os.environ["MASKD_BINARY"]
SCREENSHOTS = os.environ.get("MASKD_SCREENSHOTS")
VOCABULARY = os.environ.get("MASKD_PLAYGROUND_VOCABULARY")  # NAME=PATH and more, as --tokenizer takes it
ALT = 1

ORDER = {
    "type": "object",
    "properties": {"item": {"enum": ["tea", "cake"]}, "count": {"type": "integer", "maximum": 9}},
    "required": ["item", "count"],
    "additionalProperties": False,
}


def by_maskctl(folder):
    """The command, where it says the address, and how."""
    flags = [f"--tokenizer={VOCABULARY}"] if VOCABULARY else []
    return [MASKCTL, "playground", "--local", "--listen=127.0.0.1:0", *flags], "stdout", r"(http://\S+/)"


def by_maskd(folder):
    flags = [f"--tokenizer={VOCABULARY}"] if VOCABULARY else []
    command = [MASKD, f"--listen=unix:{folder}/maskd.sock", "--metrics_listen=", "--playground_listen=127.0.0.1:0", *flags]
    return command, "stderr", r" playground address=127\.0\.0\.1:0 port=(\d+)"


@pytest.fixture(scope="module", params=[by_maskctl, by_maskd])
def address(request, tmp_path_factory):
    command, stream, pattern = request.param(tmp_path_factory.mktemp("maskd"))
    with subprocess.Popen(command, text=True, **{stream: subprocess.PIPE}) as process:
        said = next(filter(None, (re.search(pattern, line) for line in getattr(process, stream))))[1]
        yield said if said.startswith("http") else f"http://127.0.0.1:{said}/"
        process.terminate()
        assert process.wait(30) == 0


@pytest.fixture(scope="module")
def browser():
    program = chromium.find()
    if program is None:
        pytest.skip("NOT TESTED HERE: there is no Chromium (apt-get install chromium)")
    page = chromium.Page(program)
    yield page
    page.close()


@pytest.fixture
def page(browser, address):
    browser.errors.clear()
    browser.open("about:blank")
    browser.open(address)
    browser.wait("document.documentElement?.dataset.place")
    yield browser
    assert browser.errors == []


def picture(page, name):
    if SCREENSHOTS:
        page.screenshot(str(pathlib.Path(SCREENSHOTS) / f"{name}.webp"))


def count(page, what):
    return int(page.run(f"document.documentElement.dataset.{what} ?? 0"))


def after(page, what, script):
    """Runs the script and waits until the page has shown its answer."""
    before = count(page, what)
    page.run(script)
    page.wait(f"Number(document.documentElement.dataset.{what} ?? 0) > {before}")


def set_value(page, name, value, what, event="input"):
    after(page, what, f"{{ const field = document.getElementById('{name}'); field.value = {json.dumps(value)};"
                      f" field.dispatchEvent(new Event('{event}', {{bubbles: true}})); undefined }}")


def set_grammar(page, kind, source, text=""):
    page.run(f"document.getElementById('text').value = {json.dumps(text)}; undefined")
    page.run(f"document.getElementById('kind').value = '{kind}'; undefined")
    set_value(page, "source", source, "compiled")


def text_of(page, name):
    return page.run(f"document.getElementById('{name}').textContent")


def value_of(page, name):
    return page.run(f"document.getElementById('{name}').value")


def set_order(page, text=""):
    set_grammar(page, "json_schema", json.dumps(ORDER, indent=2), text)


def test_the_page_begins_with_an_example(page):
    assert "good so far" in text_of(page, "verdict")
    assert "compiled in" in text_of(page, "compiled")
    assert page.run("document.querySelectorAll('.token').length") > 3
    assert page.run("document.querySelectorAll('#allowed button').length") > 0
    picture(page, "playground-light")


def test_an_error_is_marked_in_the_source(page):
    set_grammar(page, "json_schema", '{"type": "string", "colour": "red"}')
    assert "(" in text_of(page, "warning-count")
    set_grammar(page, "json_schema", '{\n  "type": "object",\n  "properties": {"a": {"type": "strin"}}\n}')
    assert "line 3, column 32" in text_of(page, "error")
    assert 'there is no type "strin"' in text_of(page, "error")
    assert page.run("document.querySelectorAll('#marks .error').length") == 2
    top = page.run("parseFloat(document.querySelector('#marks .error').style.top)")
    assert top == 8 + 2 * 19.5
    assert page.run("document.querySelectorAll('.token').length") == 0
    assert "does not compile" in text_of(page, "verdict")
    for id_ in ("warning-count", "warnings", "rules-text"):
        assert text_of(page, id_) == "", "of the grammar before"
    picture(page, "playground-error")
    set_order(page)
    assert page.run("document.getElementById('error').hidden")


def test_a_refused_text_says_where_and_by_which_rule(page):
    set_order(page, '{"item": "tee')
    assert text_of(page, "verdict") == "refused"
    assert 'Refused at character 13: "e"' in text_of(page, "stop")
    assert "in the string /item" in text_of(page, "stop")
    assert "/properties/item/enum (line 5)" in text_of(page, "rules")
    page.run("document.querySelector('#rules a').click()")
    source = page.run("{ const s = document.getElementById('source'); s.value.slice(s.selectionStart, s.selectionEnd) }")
    assert json.loads(source) == ["tea", "cake"]
    assert page.run("document.querySelectorAll('#marks .rule').length") == 2
    picture(page, "playground-refused")


def test_a_refused_token_says_why(page):
    set_order(page, '{"item": "')
    set_value(page, "find", "x", "place")
    page.run("document.querySelector('#allowed button.refused').click()")
    page.wait("document.getElementById('why').textContent.includes('is refused')")
    assert "may not follow" in text_of(page, "why")
    assert "/properties/item/enum" in text_of(page, "why")
    set_value(page, "find", "", "place")


def test_a_refused_token_of_a_grammar_of_rules_says_where_its_rule_stands(page):
    source = 'root ::= item (", " item)*\nitem ::= [0-9]+ " " ("tea" | "cake")\n'
    set_grammar(page, "gbnf", source, "2 tee")
    assert 'Refused at character 5: "e"' in text_of(page, "stop")
    assert "in the rule item" in text_of(page, "stop")
    assert 'item (line 2) "tea"' in text_of(page, "rules")
    assert '"cake"' not in text_of(page, "rules")
    page.run("document.querySelector('#rules a').click()")
    marked = page.run("{ const s = document.getElementById('source'); s.value.slice(s.selectionStart, s.selectionEnd) }")
    assert marked == '"tea"'
    picture(page, "playground-rules")
    set_value(page, "find", "x", "place")
    page.run("document.querySelector('#allowed button.refused').click()")
    page.wait("document.getElementById('why').textContent.includes('is refused')")
    assert 'item (line 2) "tea"' in text_of(page, "why")
    set_value(page, "find", "", "place")


TAG = {
    "type": "structural_tag",
    "format": {"type": "triggered_tags", "triggers": ["<f"], "tags": [
        {"type": "tag", "begin": "<f=order>", "end": "</f>", "content": {"type": "json_schema", "json_schema": ORDER}}]},
}
CHAT = {
    "family": "qwen_3",
    "request": {"tools": [{"type": "function", "function": {"name": "order", "parameters": ORDER}}]},
}
# A kind, its source, a refused text; what is said of the place, and what is marked in the source.
PLACES = {
    "regex": ("regex", "id-[0-9]{3}(-[a-z]+)?", "id-12x", "line 1, column 4 [0-9]", "[0-9]"),
    "look-around": ("regex", "(?!ab)a[a-c]", "ab", "line 1, column 1 (?!ab)", "(?!ab)"),
    "choice": ("choice", '["red", "rose"]', "rox", '/1 (line 1) "rose" goes on with "se"', '"rose"'),
    "response_format": ("response_format", '{"type": "regex", "pattern": "a[bc]"}', "ax", "[bc], at 1:2 in it", "[bc]"),
    "pattern": ("json_schema", r'{"properties": {"id": {"pattern": "^id-\\d[a-z]$"}}}', '{"id": "id-12',
                "[a-z], at 1:7 in it", "[a-z]"),
    "name": ("json_schema", r'{"patternProperties": {"^x\\d$": true}, "additionalProperties": false}', '{"xy',
             r"/patternProperties/^x\d$ (line 1) \d, at 1:3 in it", r"\\d"),
    "tag": ("structural_tag", json.dumps(TAG, indent=1), '<f=order>{"item": "tee',
            "/format/tags/0/content/json_schema/properties/item/enum", json.dumps(ORDER["properties"]["item"]["enum"])),
    "marker": ("structural_tag", json.dumps(TAG, indent=1), "<f=other", "/format/tags/0/begin", '"<f=order>"'),
    "chat": ("chat", json.dumps(CHAT, indent=1), '<tool_call>\n{"name": "order", "arguments": {"item": "tee',
             "/request/tools/0/function/parameters/properties/item/enum",
             json.dumps(ORDER["properties"]["item"]["enum"])),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_refused_text_says_where_its_rule_stands_whatever_the_kind(page, name):
    kind, source, text, said, marked = PLACES[name]
    set_grammar(page, kind, source, text)
    assert text_of(page, "verdict") == "refused"
    assert said in text_of(page, "rules")
    page.run("document.querySelector('#rules a').click()")
    selected = page.run("{ const s = document.getElementById('source'); s.value.slice(s.selectionStart, s.selectionEnd) }")
    assert "".join(selected.split()) == "".join(marked.split())
    picture(page, f"playground-place-{name}")


def test_rules_beyond_those_that_are_listed_are_counted(page):
    set_grammar(page, "choice", json.dumps([f"item {i}" for i in range(100)]), "item x")
    assert "and 88 more" in text_of(page, "rules")


def test_text_is_typed_by_keyboard(page):
    set_order(page)
    page.run("document.getElementById('text').focus()")
    for part in ('{"item"', ': "tea"', ', "count": 3}'):
        before = count(page, "place")
        page.type(part)
        page.wait(f"Number(document.documentElement.dataset.place) > {before}")
    assert "complete" in text_of(page, "verdict")


def test_an_allowed_token_is_appended_and_taken_back(page):
    set_grammar(page, "choice", '["red", "rose"]', "r")
    after(page, "place", "document.querySelector('#allowed button').click()")
    longer = value_of(page, "text")
    assert longer.startswith("re") or longer.startswith("ro")
    before = count(page, "place")
    page.key("ArrowLeft", ALT)
    page.wait(f"Number(document.documentElement.dataset.place) > {before}")
    assert len(value_of(page, "text")) < len(longer)


def test_places_are_walked_by_keyboard(page):
    set_grammar(page, "regex", "[a-c]x[0-9]", "ax1")
    page.run("document.getElementById('tokens').focus()")
    before = count(page, "place")
    page.key("Home")
    page.wait(f"Number(document.documentElement.dataset.place) > {before}")
    assert "behind token 0" in text_of(page, "here")
    before = count(page, "place")
    page.key("ArrowRight")
    page.wait(f"Number(document.documentElement.dataset.place) > {before}")
    assert "behind token 1" in text_of(page, "here")


def test_what_is_forced_and_the_shortest_ending_are_appended(page):
    set_order(page)
    assert "forced" in text_of(page, "here")
    after(page, "place", "document.getElementById('forced').click()")
    assert value_of(page, "text").startswith("{")
    after(page, "place", "document.getElementById('ending').click()")
    assert "complete" in text_of(page, "verdict")
    assert set(json.loads(value_of(page, "text"))) == {"item", "count"}
    assert "shortest ending has" in text_of(page, "why")


def test_a_text_is_generated_to_its_end(page):
    set_order(page)
    page.key("g", ALT)
    page.wait("document.getElementById('verdict').textContent.includes('complete') && "
              "document.getElementById('generate').textContent === 'Generate'")
    assert set(json.loads(value_of(page, "text"))) == {"item", "count"}


def test_row_forms_and_their_bytes_are_shown(page):
    set_grammar(page, "regex", "[^\\n]*", "abc")
    assert "row form" in text_of(page, "here")
    assert "bytes (a dense mask has" in text_of(page, "here")


def test_options_change_what_is_allowed(page):
    set_order(page, '{ "item"')
    assert "good so far" in text_of(page, "verdict")
    set_value(page, "option-white_space", "WHITE_SPACE_COMPACT", "compiled", "change")
    page.wait("document.getElementById('verdict').textContent === 'refused'")
    set_value(page, "option-white_space", "", "compiled", "change")


def test_an_address_holds_grammar_text_and_options(page, address):
    set_grammar(page, "ebnf", 'root ::= "é" [0-9]+\n', "é4")
    page.run("document.getElementById('share').click()")
    page.wait("location.hash.startsWith('#1=')")
    shared = page.run("location.href")
    page.open("about:blank")
    page.open(shared)
    page.wait("document.documentElement?.dataset.place")
    assert value_of(page, "kind") == "ebnf"
    assert value_of(page, "source") == 'root ::= "é" [0-9]+\n'
    assert value_of(page, "text") == "é4"
    assert "complete" in text_of(page, "verdict")


def test_the_live_view_shows_the_server(page):
    page.wait("document.querySelectorAll('#figures div').length >= 10")
    assert "streams open" in text_of(page, "figures")
    assert page.run("document.querySelectorAll('#memory span').length") > 1


def test_light_and_dark(page):
    before = page.run("getComputedStyle(document.body).backgroundColor")
    page.key("d", ALT)
    assert page.run("getComputedStyle(document.body).backgroundColor") != before
    page.wait("document.querySelectorAll('#figures div').length >= 10")
    picture(page, "playground-dark")


def test_nothing_is_asked_of_another_machine(page, address):
    names = page.run("performance.getEntriesByType('resource').map((each) => each.name)")
    assert len(names) > 3
    assert [name for name in names if not name.startswith(address)] == []


def big_schema(size):
    """A schema of about `size` bytes with many properties."""
    properties = {}
    while len(json.dumps({"type": "object", "properties": properties})) < size:
        for i in range(20):
            properties[f"member_{len(properties)}"] = {
                "type": "string", "maxLength": 20 + i, "description": "A member of a large object, described at length."}
    return json.dumps({"type": "object", "properties": properties})


def test_a_large_schema_is_edited(page):
    """Figures of this path stand in docs/playground.md; nothing is timed here but shown with -s."""
    set_grammar(page, "json_schema", big_schema(100_000))
    assert "compiled in" in text_of(page, "compiled")
    text = json.dumps({f"member_{i}": f"some words of {i}" for i in range(10)})
    times = page.run(f"""(async () => {{
      const text = document.getElementById('text');
      const times = [];
      for (let end = 1; end <= {len(text)}; ++end) {{
        const shown = new Promise((go) => new MutationObserver(go).observe(
            document.documentElement, {{attributeFilter: ['data-place']}}));
        const begin = performance.now();
        text.value = {json.dumps(text)}.slice(0, end);
        text.dispatchEvent(new Event('input'));
        await shown;
        times.push(performance.now() - begin);
      }}
      return times;
    }})()""")
    times.sort()
    paint = page.run("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    print(f"first paint {paint:.0f} ms; a keystroke p50 {times[len(times) // 2]:.1f} ms, "
          f"p99 {times[int(len(times) * 0.99)]:.1f} ms of {len(times)}")
    assert len(times) == len(text)

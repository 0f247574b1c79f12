"""examples/plain_loop_python: what its pretended model writes under a grammar is always valid, and what
it writes without one is not."""

import importlib.util
import json
import pathlib
import re

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def example():
    path = ROOT / "examples/plain_loop_python/main.py"
    spec = importlib.util.spec_from_file_location("plain_loop_python", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(20))
def test_constrained_texts_are_valid_and_the_free_one_is_not(client, example, seed):
    texts = example.generate(client, seed)
    jsonschema.validate(json.loads(texts["json_schema"]), example.SCHEMA)
    assert re.fullmatch(r"[a-z]{3,8}@example\.(com|org)", texts["regex"])
    assert texts["choice"] in ("positive", "negative", "neutral")
    assert len(texts["free"]) == example.MAX_TOKENS
    with pytest.raises(ValueError):
        json.loads(texts["free"])

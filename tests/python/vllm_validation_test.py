"""maskd-vllm's validation over vLLM's interface: what is asked of the server before a request is taken, and
what is refused without it. fake_vllm.py says no more than the interface that wheel_interface_test.py
holds the newest release to."""

import asyncio
import importlib
import sys
import types
from http import HTTPStatus

import fake_vllm
import pytest

GONE = "unix:/nowhere/maskd"


@pytest.fixture
def load(monkeypatch):
    """The module, in a process that knows this address."""

    def loaded(address):
        monkeypatch.setenv("MASKD_ADDRESS", address)
        fake_vllm.install(monkeypatch)
        for name in [each for each in sys.modules if each.startswith("maskd_vllm")]:
            monkeypatch.delitem(sys.modules, name)
        return importlib.import_module("maskd_vllm._validation")

    return loaded


class Engine:
    """AsyncLLM, as much as takes a request: add_request() and then SamplingParams.verify()."""

    def __init__(self, validation, is_diffusion=False):
        self.validation = validation
        self.taken = []
        self.vllm_config = types.SimpleNamespace(
            model_config=types.SimpleNamespace(is_diffusion=is_diffusion),
            structured_outputs_config=types.SimpleNamespace(
                backend="auto", disable_any_whitespace=True, disable_additional_properties=False))

    def ask(self, schema):
        params = fake_vllm.SamplingParams(
            None if schema is None else fake_vllm.StructuredOutputsParams(json=schema))
        asyncio.run(self.validation.ahead_of(Engine.add_request)(self, "r", "prompt", params))
        return params

    async def add_request(self, request_id, prompt, params):
        self.validation.validate(params, self.vllm_config.model_config,
                                 self.vllm_config.structured_outputs_config, "tokenizer")
        self.taken.append(request_id)


def test_what_compiles_is_taken_and_the_rest_refused_with_its_place(load, address, client):
    assert client.tokenizers()  # it listens
    engine = Engine(load(address))
    assert engine.ask({"type": "integer"}).structured_outputs._backend == "xgrammar"  # noqa: SLF001
    engine.ask(None)
    assert engine.taken == ["r", "r"]
    with pytest.raises(fake_vllm.VLLMValidationError, match="structured outputs: /not: "):
        engine.ask({"not": {}})
    assert engine.taken == ["r", "r"]


def test_a_server_that_is_not_there_is_no_fault_of_the_request(load):
    engine = Engine(load(GONE))
    with pytest.raises(fake_vllm.GracefulHTTPError, match="not available") as refused:
        engine.ask({"type": "integer"})
    assert refused.value.http_status == HTTPStatus.SERVICE_UNAVAILABLE
    engine.ask(None)
    assert engine.taken == ["r"]


def test_a_diffusion_model_takes_no_structured_outputs_and_asks_no_server(load):
    engine = Engine(load(GONE), is_diffusion=True)
    with pytest.raises(fake_vllm.VLLMValidationError, match="diffusion.*leave out response_format"):
        engine.ask({"type": "integer"})
    engine.ask(None)
    assert engine.taken == ["r"]

"""A model of the llama family out of its GGUF file, in numpy: weights, forward pass, tokenizer.

Weights are dequantised to float32. Read with the packages `gguf` (ggml-org's) and `tokenizers` (Hugging
Face's). Source of the architecture: the GGUF specification's names and the Llama 2 paper (RMSNorm before
each block, rotary positions over neighbouring pairs, grouped queries, SwiGLU).
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import gguf
import numpy as np
import tokenizers

Array = np.ndarray


@dataclasses.dataclass(frozen=True)
class Span:
    """Some tokens of one sequence in a batch."""

    slot: int  # of the cache
    past: int  # tokens of the sequence that the cache has already
    count: int  # that come now


@dataclasses.dataclass(frozen=True)
class Layer:
    attention_norm: Array
    query_key_value: Array  # (outputs, inputs), as all matrices
    attention_output: Array
    feed_forward_norm: Array
    gate_and_up: Array
    down: Array


class Cache:
    """Keys and values of `slots` sequences of at most `length` tokens."""

    def __init__(self, model: "Model", slots: int, length: int) -> None:
        shape = (len(model.layers), slots, model.kv_heads, length, model.head_size)
        self.keys = np.zeros(shape, dtype=np.float32)
        self.values = np.zeros(shape, dtype=np.float32)


class Model:
    """Logits of the next token. Any number of threads, each with a cache of its own."""

    def __init__(self, path: str) -> None:
        reader = gguf.GGUFReader(path)

        def field(name: str) -> Any:
            return reader.fields[name].contents()

        if field("general.architecture") != "llama":
            raise ValueError(f"{path}: architecture is {field('general.architecture')}, not llama")
        self.heads = int(field("llama.attention.head_count"))
        self.kv_heads = int(field("llama.attention.head_count_kv"))
        self.head_size = int(field("llama.rope.dimension_count"))
        self._epsilon = float(field("llama.attention.layer_norm_rms_epsilon"))
        tensors = {each.name: each for each in reader.tensors}

        def weight(name: str) -> Array:
            return _dequantised(tensors[f"{name}.weight"])

        self._embedding = weight("token_embd")
        self._head = weight("output") if "output.weight" in tensors else self._embedding
        self._output_norm = weight("output_norm")
        self.layers = [_layer(weight, i) for i in range(int(field("llama.block_count")))]
        base = float(field("llama.rope.freq_base"))
        pairs = np.arange(0, self.head_size, 2, dtype=np.float64) / self.head_size
        self._frequencies = base**-pairs
        self.tokenizer = Tokenizer(field)

    @property
    def vocab_size(self) -> int:
        return len(self._head)

    def forward(self, tokens: Array, spans: list[Span], outputs: Array, cache: Cache) -> Array:
        """Runs the spans' tokens, one span's behind the other's, and keeps their keys and values.

        The result has a row of logits for each index of `outputs` into `tokens`.
        """
        positions = np.concatenate([np.arange(each.past, each.past + each.count) for each in spans])
        angles = positions[:, None] * self._frequencies
        turn = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        x = self._embedding[tokens]
        for i, layer in enumerate(self.layers):
            x += self._attention(i, self._normed(x, layer.attention_norm), spans, turn, cache)
            x += _swiglu(layer, self._normed(x, layer.feed_forward_norm))
        return self._normed(x[outputs], self._output_norm) @ self._head.T

    def _normed(self, x: Array, weight: Array) -> Array:
        return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self._epsilon) * weight

    def _attention(self, index: int, x: Array, spans: list[Span], turn: tuple[Array, Array],
                   cache: Cache) -> Array:
        layer = self.layers[index]
        qkv = (x @ layer.query_key_value.T).reshape(len(x), -1, self.head_size)
        queries = _turned(qkv[:, :self.heads], turn) / np.float32(np.sqrt(self.head_size))
        keys = _turned(qkv[:, self.heads:-self.kv_heads], turn)
        values = qkv[:, -self.kv_heads:]
        mixed = np.empty_like(queries)
        first = 0
        for span in spans:
            now, end = slice(first, first + span.count), span.past + span.count
            seen_keys = cache.keys[index, span.slot, :, :end]
            seen_values = cache.values[index, span.slot, :, :end]
            seen_keys[:, span.past:] = keys[now].transpose(1, 0, 2)
            seen_values[:, span.past:] = values[now].transpose(1, 0, 2)
            mixed[now] = self._mixed(queries[now], seen_keys, seen_values, span)
            first += span.count
        return mixed.reshape(len(x), -1) @ layer.attention_output.T

    def _mixed(self, queries: Array, keys: Array, values: Array, span: Span) -> Array:
        """What each query takes from the values of the tokens up to its own, heads by groups."""
        groups = queries.reshape(span.count, self.kv_heads, -1, self.head_size)
        folded = groups.transpose(1, 2, 0, 3).reshape(self.kv_heads, -1, self.head_size)
        scores = folded @ keys.transpose(0, 2, 1)
        if span.count > 1:
            later = np.triu(np.full((span.count, span.count), -np.inf, dtype=np.float32), 1)
            by_query = scores.reshape(self.kv_heads, -1, span.count, span.past + span.count)
            by_query[..., span.past:] += later
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        taken = (scores @ values).reshape(self.kv_heads, -1, span.count, self.head_size)
        return taken.transpose(2, 0, 1, 3).reshape(span.count, self.heads, self.head_size)


class Tokenizer:
    """Texts as tokens, by the file's vocabulary and merges; `<|im_start|>` and the like in a text are
    the special tokens."""

    def __init__(self, field: Callable[[str], Any]) -> None:
        if (kind := field("tokenizer.ggml.model")) != "gpt2":
            raise ValueError(f"tokenizer.ggml.model: {kind} is not read here, only gpt2")
        spellings = field("tokenizer.ggml.tokens")
        merges = [tuple(each.split(" ")) for each in field("tokenizer.ggml.merges")]
        vocabulary = {spelling: token for token, spelling in enumerate(spellings)}
        self._codec = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, merges))
        byte_level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        self._codec.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
            [tokenizers.pre_tokenizers.Digits(individual_digits=True), byte_level])
        self._codec.decoder = tokenizers.decoders.ByteLevel()
        types = field("tokenizer.ggml.token_type")
        self._codec.add_special_tokens(
            [spelling for spelling, kind in zip(spellings, types, strict=True)
             if kind == gguf.TokenType.CONTROL])
        self.end = int(field("tokenizer.ggml.eos_token_id"))

    def encode(self, text: str) -> list[int]:
        return self._codec.encode(text, add_special_tokens=False).ids

    def decode(self, tokens: list[int]) -> str:
        return self._codec.decode(tokens)


def _dequantised(tensor: gguf.ReaderTensor) -> Array:
    return np.ascontiguousarray(gguf.quants.dequantize(tensor.data, tensor.tensor_type))


def _layer(weight: Callable[[str], Array], index: int) -> Layer:
    def of(name: str) -> Array:
        return weight(f"blk.{index}.{name}")

    return Layer(
        of("attn_norm"), np.concatenate([of("attn_q"), of("attn_k"), of("attn_v")]),
        of("attn_output"), of("ffn_norm"), np.concatenate([of("ffn_gate"), of("ffn_up")]),
        of("ffn_down"))


def _turned(x: Array, turn: tuple[Array, Array]) -> Array:
    """Each pair of neighbours turned by the angle of its position."""
    cos, sin = turn[0][:, None], turn[1][:, None]
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = np.empty_like(x)
    turned[..., 0::2] = even * cos - odd * sin
    turned[..., 1::2] = even * sin + odd * cos
    return turned


def _swiglu(layer: Layer, x: Array) -> Array:
    gate, up = np.split(x @ layer.gate_and_up.T, 2, axis=-1)
    return gate / (1 + np.exp(-gate)) * up @ layer.down.T

"""Makes of the GGUF file of `scripts/fetch-vocab smollm2` a folder that vLLM serves: bfloat16, with
its tokenizer.

    python tests/engines/smollm2_folder.py build/vocab/smollm2/smollm2-135m-instruct.gguf FOLDER

Runs in the engine's environment: gguf, torch, transformers, safetensors. GGUF files of Llama models
have the two halves of each rotated pair of q and k side by side; Hugging Face's have them apart.
"""

import pathlib
import sys

import gguf
import numpy as np
import torch
from safetensors.torch import save_file
from transformers import AutoTokenizer, LlamaConfig

_LAYER = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
          "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
          "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
          "ffn_down": "mlp.down_proj"}
_OTHERS = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight",
           "output.weight": "lm_head.weight"}


def _name(of: str) -> str:
    if of in _OTHERS:
        return _OTHERS[of]
    _, layer, part, _ = of.split(".")
    return f"model.layers.{layer}.{_LAYER[part]}.weight"


def _apart(weight: np.ndarray, heads: int) -> np.ndarray:
    rows, width = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, width).swapaxes(1, 2).reshape(rows, width)


def main(source: str, target: str) -> None:
    reader = gguf.GGUFReader(source)

    def field(name: str) -> float:
        return reader.get_field(f"llama.{name}").contents()

    heads, shared = int(field("attention.head_count")), int(field("attention.head_count_kv"))
    weights = {}
    for tensor in reader.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if ".attn_q." in tensor.name or ".attn_k." in tensor.name:
            values = _apart(values, heads if ".attn_q." in tensor.name else shared)
        weights[_name(tensor.name)] = torch.from_numpy(values.copy()).to(torch.bfloat16)
    folder, file = str(pathlib.Path(source).parent), pathlib.Path(source).name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
    tokenizer.save_pretrained(target)
    LlamaConfig(
        architectures=["LlamaForCausalLM"], dtype="bfloat16",
        vocab_size=weights["model.embed_tokens.weight"].shape[0],
        hidden_size=int(field("embedding_length")), num_hidden_layers=int(field("block_count")),
        intermediate_size=int(field("feed_forward_length")), num_attention_heads=heads,
        num_key_value_heads=shared, max_position_embeddings=int(field("context_length")),
        rms_norm_eps=float(field("attention.layer_norm_rms_epsilon")),
        rope_parameters={"rope_type": "default", "rope_theta": float(field("rope.freq_base"))},
        tie_word_embeddings="lm_head.weight" not in weights,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
    ).save_pretrained(target)
    save_file(weights, str(pathlib.Path(target) / "model.safetensors"), {"format": "pt"})
    print(f"{target}: {len(weights)} tensors, the end is {tokenizer.eos_token}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

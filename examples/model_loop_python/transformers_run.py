"""The same model in transformers' own generate(), held to grammars by maskd.TransformersProcessor.

    maskd --tokenizer "$(scripts/fetch-vocab --print-flag smollm2)" &
    pip install torch transformers gguf accelerate jsonschema       # torch takes gigabytes
    python transformers_run.py                  20 schemas, in batches of 5, greedy
    python transformers_run.py --logits FILE    only writes what the model says of some prompts
"""

import argparse
import json
import pathlib
import sys

import cases
import maskd
import torch
import transformers

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "build/vocab/smollm2/smollm2-135m-instruct.gguf"
BATCH = 5
MAX_NEW_TOKENS = 100


class Runner:
    def __init__(self, path: pathlib.Path) -> None:
        folder, file = str(path.parent), {"gguf_file": path.name}
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder, padding_side="left", **file)
        self.tokenizer.pad_token = "<|endoftext|>"
        self.model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **file)

    def answers(self, client: maskd.Client, grammar: maskd.Grammar, prompts: list[str]) -> list[str]:
        batch = self.tokenizer([cases.chat(each) for each in prompts], return_tensors="pt", padding=True)
        processor = maskd.TransformersProcessor(client, grammar, max_new_tokens=MAX_NEW_TOKENS)
        texts = self.model.generate(**batch, logits_processor=[processor], do_sample=False,
                                    max_new_tokens=MAX_NEW_TOKENS, eos_token_id=2, pad_token_id=0)
        processor.close()
        return self.tokenizer.batch_decode(texts[:, batch.input_ids.shape[1]:], skip_special_tokens=True)

    def logits(self, text: str) -> dict[str, object]:
        """The text's tokens, and the ten likeliest next ones with their logits."""
        batch = self.tokenizer(text, return_tensors="pt")
        values, tokens = self.model(**batch).logits[0, -1].topk(10)
        return {"text": text, "tokens": batch.input_ids[0].tolist(), "likeliest": tokens.tolist(),
                "logits": [round(value, 4) for value in values.tolist()]}


def main() -> int:
    parser = argparse.ArgumentParser(description="transformers held to grammars by maskd.")
    parser.add_argument("--server", default="unix:/tmp/maskd.sock")
    parser.add_argument("--model", type=pathlib.Path, default=MODEL)
    parser.add_argument("--logits", type=pathlib.Path, metavar="FILE")
    arguments = parser.parse_args()
    runner = Runner(arguments.model)
    if arguments.logits:
        asks = ["What is the capital of France?", "Count: 1, 2, 3, 10, 2026.", "Größe, naïve, 東京 🙂"]
        made = {"by": f"torch {torch.__version__}, transformers {transformers.__version__}",
                "texts": [runner.logits(cases.chat(ask)) for ask in asks]}
        lines = ",\n".join(json.dumps(text, ensure_ascii=False) for text in made.pop("texts"))
        head = json.dumps(made)[:-1]
        arguments.logits.write_text(f'{head}, "texts": [\n{lines}\n]}}\n', encoding="utf-8")
        return 0
    every = cases.schema_cases(BATCH)
    bad = 0
    with maskd.Client(arguments.server, timeout_s=10) as client:
        for first in range(0, len(every), BATCH):
            batch = every[first:first + BATCH]
            texts = runner.answers(client, batch[0].grammar, [case.prompt for case in batch])
            for case, text in zip(batch, texts, strict=True):
                valid = case.is_valid(text)
                bad += not valid
                print(f"{'ok ' if valid else 'BAD'} {case.name:14} {text}")
    print(f"{len(every) - bad} of {len(every)} valid")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

"""As much of llama-cpp-python 0.3.36 as logits processors meet, read from its source: they are called out
of C, where an exception is printed and lost, with candidates' logits that are a member of a struct.

The model says random things over the embedded vocabulary: ids 0 to 255 are the bytes, 256 is the end.
"""

import ctypes

import numpy as np

VOCABULARY = 257
END = 256

_Apply = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_CANDIDATE = np.dtype([("id", np.intc), ("logit", np.single), ("p", np.single)], align=True)


class LogitsProcessorList(list):
    pass


class Llama:
    def __init__(self, model_path="", *, seed=0, **_):
        self._random = np.random.default_rng(seed)

    def create_completion(self, prompt, max_tokens=16, temperature=0.8, logits_processor=None):
        ids = np.array(list(prompt.encode()), dtype=np.intc)
        first = ids.size
        for _ in range(max_tokens):
            token = self._sample(ids, temperature, logits_processor)
            if token == END:
                return _completion(ids[first:], "stop")
            ids = np.append(ids, np.intc(token))
        return _completion(ids[first:], "length")

    def _sample(self, ids, temperature, processors):
        candidates = np.recarray((VOCABULARY,), dtype=_CANDIDATE)
        candidates.logit = self._random.normal(size=VOCABULARY)

        def apply(_):
            for processor in processors:
                candidates.logit[:] = processor(ids, candidates.logit)

        if processors is not None:
            _Apply(apply)(None)
        logits = candidates.logit.astype(float)
        if temperature > 0:
            logits = logits / temperature + self._random.gumbel(size=VOCABULARY)
        return int(logits.argmax())


def _completion(ids, reason):
    text = bytes(ids.tolist()).decode(errors="replace")
    return {"choices": [{"text": text, "finish_reason": reason}]}

#!/usr/bin/env python3
"""GPT-2 with a cache as an ONNX file: transformers' GPT2LMHeadModel, one step, as torch exports it.

    gpt2.py gpt2.onnx                      GPT-2's shape, 124 million weights from a seed: its output is meaningless
    gpt2.py gpt2.onnx --weights gpt2       those of Hugging Face's model gpt2, or of a folder that save_pretrained wrote
    gpt2.py gpt2.onnx --prompt             for any number n of tokens at once
    gpt2.py small.onnx --layers 2 --width 64 --heads 4 --vocab 96 --positions 64 --tokens 1 7 9

Inputs are a token (i64 [1, 1], with --prompt [1, n]), its position and for each layer keys and values of `past` tokens,
f32 [1, heads, past, width of a head]; outputs logits, f32 [1, 1 or n, vocabulary], and the caches with those rows more.
--tokens: prints these and what the model itself (PyTorch, without a cache) continues them with, most likely first,
--count of them. Needs torch, transformers, onnx and onnxscript.
"""
import argparse

import torch
from transformers import DynamicCache, GPT2Config, GPT2LMHeadModel


class Step(torch.nn.Module):
    """One token or several; caches are inputs and outputs, keys and values of a layer after another."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, token, position_ids, past):
        cache = DynamicCache(zip(past[0::2], past[1::2]))
        out = self.model(input_ids=token, position_ids=position_ids, past_key_values=cache, use_cache=True)
        return [out.logits] + [t for layer in out.past_key_values.layers for t in (layer.keys, layer.values)]


def model_of(a):
    torch.manual_seed(a.seed)
    if a.weights:
        return GPT2LMHeadModel.from_pretrained(a.weights)
    return GPT2LMHeadModel(GPT2Config(n_layer=a.layers, n_embd=a.width, n_head=a.heads, vocab_size=a.vocab,
                                      n_positions=a.positions, initializer_range=0.2, bos_token_id=0, eos_token_id=0))


def export(model, path, prompt):
    c = model.config
    past = [torch.zeros(1, c.n_head, 3, c.n_embd // c.n_head) for _ in range(2 * c.n_layer)]
    names = ["%d.%s" % (i, kind) for i in range(c.n_layer) for kind in ("key", "value")]
    rows = torch.export.Dim("past", min=1, max=c.n_positions - 1)
    token = torch.zeros(1, 5 if prompt else 1, dtype=torch.int64)
    new = {1: torch.export.Dim("n", min=2, max=c.n_positions - 1)} if prompt else None
    torch.onnx.export(Step(model).eval(), (token, token + 3, past), path, dynamo=True, external_data=True,
                      verbose=False, input_names=["token", "position_ids"] + ["past." + n for n in names],
                      output_names=["logits"] + ["present." + n for n in names],
                      dynamic_shapes={"token": new, "position_ids": new, "past": [{2: rows} for _ in past]})


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file")
    p.add_argument("--weights")
    p.add_argument("--prompt", action="store_true")
    p.add_argument("--tokens", type=int, nargs="*")
    for name, value in (("layers", 12), ("width", 768), ("heads", 12), ("vocab", 50257), ("positions", 1024),
                        ("seed", 1), ("count", 24)):
        p.add_argument("--" + name, type=int, default=value)
    a = p.parse_args()
    model = model_of(a).eval()
    model.config._attn_implementation = "eager"
    with torch.no_grad():
        export(model, a.file, a.prompt)
        tokens = list(a.tokens or [])
        for _ in range(a.count if tokens else 0):
            tokens.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
    if tokens:
        print(*tokens)


if __name__ == "__main__":
    main()

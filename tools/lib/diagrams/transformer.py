"""Chapter 07: a block of the language model with the bytes of each step, and how its heads share keys.

Bytes are of one token, the mean over an answer of plots/data/sim/07_answers.json; what each step has of them follows
from the model's shape (07_transformer/pass.c), and each kernel's sum must be what that run says. Which head of keys
a head of queries reads comes from a trace.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from lib.diagrams.run import Access, RunError, traced
from lib.diagrams.svg import Panel, arrow, element, line, number, pictures, rectangle, text
from lib.terminal import bytes_as_text

# SmolLM2-135M: layers, width, width of keys, of the hidden layer, vocabulary; bytes of a weight as the file has them.
LAYERS, C, C_KV, F, VOCABULARY = 30, 576, 192, 1536, 49152
Q4, Q8 = 20 / 32, 34 / 32
HEADS, KV_HEADS, KEYS, D = 9, 3, 8, 4  # of the traced launch
STRIDED = ["--kernel", "strided", "--heads", str(HEADS), "--kv-heads", str(KV_HEADS), "--seq", "1"]
STRIDED += ["--keys", str(KEYS), "--dim", str(D), "--causal"]
WIDTH, HEIGHT = 280.0, 416.0


@dataclass(frozen=True)
class Step:
    """Of one token: bytes."""

    name: str
    kernel: str
    weights: float
    kv: float
    activations: float

    @property
    def bytes(self) -> float:
        return self.weights + self.kv + self.activations


def norm(name: str) -> Step:
    return Step(name, "rms_norm", 4 * C, 0, 4 * 3 * C)


def project(name: str, rows: int, columns: int, residual: bool = False, weight: float = Q4) -> Step:
    """A matrix [rows, columns] times the token; each block reads x for its 32 rows, or for 4 (projection_rows)."""
    blocks = -(-rows // (4 if -(-rows // 32) < 132 else 32))
    x, y = 4 * blocks * columns, 4 * rows * (2 if residual else 1)
    return Step(name, "project", weight * rows * columns, 0, x + y)


def keys_and_values() -> Step:
    """W_k and W_v: what they write are keys and values."""
    k = project("", C_KV, C)
    return Step("W_k, W_v", "project", 2 * k.weights, 2 * 4 * C_KV, 2 * (k.activations - 4 * C_KV))


def steps(attention_kv: float) -> list[Step]:
    """Of one layer. attention_kv: bytes of keys and values that attention asks for."""
    up = project("", F, C)
    return [
        norm("rms_norm"),
        project("W_q", C, C),
        keys_and_values(),
        Step("rope", "rope", 0, 4 * 2 * C_KV, 4 * (3 * C + C_KV)),
        Step("attention", "attention", 0, attention_kv, 4 * 2 * C),
        project("W_o", C, C, residual=True),
        norm("rms_norm"),
        Step("W_gate, W_up", "project", 2 * up.weights, 0, 2 * up.activations),
        Step("swiglu", "swiglu", 0, 0, 4 * 3 * F),
        project("W_down", C, F, residual=True),
    ]


LAST = [norm("rms_norm"), project("logits", VOCABULARY, C, weight=Q8)]
KINDS = ("weights", "kv", "activations")


def of_the_run(path: Path) -> dict[str, dict[str, float]]:
    """Bytes per token of each kernel, by kind. Raises RunError."""
    try:
        answer = json.loads(path.read_text(encoding="utf-8"))["answers"][0]
        tokens = answer["logit_rows"] - 1  # the first one is of the prompt
        return {
            row["kernel"]: {kind: row["model"][f"{kind}_bytes"] / tokens for kind in KINDS}
            for row in answer["moved"]["answer"]
        }
    except (OSError, ValueError, KeyError) as error:
        raise RunError(f"{path.name}: not what make transcripts writes: {error}") from error


def layer_of(moved: dict[str, dict[str, float]]) -> list[Step]:
    """The steps of a layer. Raises RunError where the kernels' sums are not those of the run."""
    layer = steps(moved["attention"]["kv"] / LAYERS)
    sums: dict[str, Counter[str]] = {}
    for step, times in [*((step, LAYERS) for step in layer), *((step, 1) for step in LAST)]:
        of_kernel = sums.setdefault(step.kernel, Counter())
        for kind in KINDS:
            of_kernel[kind] += times * getattr(step, kind)
    for kernel, of_kernel in sums.items():
        for kind, count in of_kernel.items():
            if abs(count - moved[kernel][kind]) > 1e-6 * count + 0.5:
                raise RunError(
                    f"{kernel}: {kind} of {count:.0f} bytes a token, the run asked for {moved[kernel][kind]:.0f}"
                )
    return layer


KEY = (
    "Blue: weights, read; faint blue: keys and values, read (those of the new token: stored); gray: activations, "
    "read and written."
)
CLASSES = {"weights": "r", "kv": "i", "activations": "n"}
NAMES = {"weights": "weights", "kv": "keys, values", "activations": "activations"}


def bar(step: Step, x: float, y: float, height: float, scale: float) -> tuple[list[str], float]:
    """Its bytes by kind, and where it ends."""
    made = []
    for kind in KINDS:
        width = getattr(step, kind) * scale
        if width:
            made.append(rectangle(x, y, width, height, class_=CLASSES[kind]))
        x += width
    return made, x


def flow(layer: list[Step]) -> Panel:
    """The layer from above down; the two sums beside it; a bar of bytes for each step."""
    body = [
        text(0, 18, f"One of {LAYERS} layers, one token", class_="t"),
        text(0, 42, "bytes asked of global memory", class_="d"),
    ]
    top, step_height, left, box = 70.0, 30.0, 22.0, 100.0
    scale = 84 / max(step.bytes for step in layer)
    for n, step in enumerate(layer):
        y = top + n * step_height
        body += [rectangle(left, y, box, 22, class_="f", rx=4), text(left + box / 2, y + 16, step.name, class_="m")]
        if n:
            body.append(arrow(left + box / 2, y - 8, left + box / 2, y - 1))
        made, end = bar(step, left + box + 10, y + 3, 16, scale)
        body += [*made, text(end + 6, y + 16, bytes_as_text(step.bytes), class_="d")]
    for first, last in ((0, 5), (6, 9)):  # what goes past: x, added to what comes out
        y, to_y = top + first * step_height - 4, top + last * step_height + 11
        path = f"M{number(left + box / 2)} {number(y + 4)}v-4H10V{number(to_y)}"
        body += [element("path", d=path, class_="l"), arrow(10, to_y, left - 1, to_y), text(12, to_y - 7, "+")]
    body.append(text(left + box / 2 + 8, top - 5, f"x: {C} numbers", class_="d"))
    y = top + len(layer) * step_height + 8
    x = 0.0
    for kind in KINDS:
        body += [rectangle(x, y, 12, 12, class_=CLASSES[kind]), text(x + 16, y + 11, NAMES[kind], class_="d")]
        x += 102 if kind == "kv" else 74
    return Panel(WIDTH, HEIGHT, body)


def groups(trace: list[Access]) -> dict[int, int]:
    """The head of keys that each head of queries reads."""
    found = {}
    for access in trace:
        if access.tensor == "K" and access.op == "load":
            found[access.block[1]] = access.ranges[0][0] // (4 * D) % KV_HEADS
    return found


def heads(reads: dict[int, int], layer: list[Step]) -> Panel:
    """Which keys a head of queries reads; below, all the bytes of a token."""
    body = [
        text(0, 18, "Heads share keys", class_="t"),
        text(0, 42, f"{HEADS} heads of queries, {KV_HEADS} of keys and values", class_="d"),
    ]
    cell, top, below = WIDTH / HEADS, 62.0, 132.0
    for head, of_keys in sorted(reads.items()):
        wide = WIDTH / KV_HEADS
        body += [
            rectangle(head * cell + 1, top, cell - 2, 26, class_="n"),
            text((head + 0.5) * cell, top + 18, f"Q{head}", class_="m"),
        ]
        to_x = (of_keys + 0.5) * wide + (head - HEADS // KV_HEADS * of_keys - 1) * 10
        body.append(line((head + 0.5) * cell, top + 28, to_x, below - 2))
    for head in range(KV_HEADS):
        wide = WIDTH / KV_HEADS
        body += [rectangle(head * wide + 1, below, wide - 2, 26, class_="i")]
        body.append(text((head + 0.5) * wide, below + 18, f"K{head}, V{head}", class_="m"))
    body.append(text(0, below + 46, "A head is a range of columns, no copy.", class_="d"))
    body.append(text(0, below + 64, "Keys of earlier tokens are kept: the cache.", class_="d"))
    body += [text(0, 236, "A token, all layers", class_="t")]
    whole = [(f"{LAYERS} layers", "weights", LAYERS * sum(step.weights for step in layer))]
    whole += [
        ("vocabulary", "weights", LAST[1].weights),
        ("activations", "activations", 0.0),
        ("keys, values", "kv", 0.0),
    ]
    counts = {
        kind: LAYERS * sum(getattr(step, kind) for step in layer) + sum(getattr(step, kind) for step in LAST)
        for kind in KINDS
    }
    most = max(whole[0][2], *counts.values())
    for n, (name, kind, count) in enumerate(whole):
        count, y = count or counts[kind], 252 + 30.0 * n
        width = 110 * count / most
        body += [text(92, y + 16, name, class_="e"), rectangle(98, y + 3, width, 16, class_=CLASSES[kind])]
        body.append(text(104 + width, y + 16, bytes_as_text(count), class_="d"))
    body.append(text(0, 392, "Weights are read once per token;", class_="d"))
    body.append(text(0, 410, "keys and values grow with the context.", class_="d"))
    return Panel(WIDTH, HEIGHT, body)


def draw(root: Path) -> dict[str, str]:
    """The picture's variants. Raises RunError."""
    layer = layer_of(of_the_run(root / "plots/data/sim/07_answers.json"))
    reads = groups(traced(root / "07_transformer/transformer", STRIDED))
    attention = next(step for step in layer if step.name == "attention")
    share = 100 * attention.bytes / sum(step.bytes for step in layer)
    title = f"A decoded token: attention is {share:.0f} % of what a layer asks for, project nearly all the rest"
    description = (
        f"Left, the steps of one of {LAYERS} layers from above down, with the bytes that each asks of global "
        "memory for one token of an answer: weights blue, keys and values faint blue, activations gray. Right, "
        "which head of keys each head of queries reads, and the bytes of a token in all layers."
    )
    return pictures([flow(layer), heads(reads, layer)], title, description, KEY)

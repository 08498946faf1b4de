#!/usr/bin/env python3
"""What libraries take for the same attention, beside this course's kernels: same inputs, same GPU, same clock.

    python3 gpu/peers.py --tree DIR --out peers.tsv [--seconds 90]

DIR holds the chapters built for CUDA. Needs torch with a GPU; Triton and cuDNN are used where torch has them. The
rows of one problem are timed one after the other: events around each run, L2 flushed before it, median and 10th and
90th percentile. A peer that cannot run a problem has a row that says why, without a time. Rows are written as they
come: what a time limit cuts off is missing, not invented.

"arithmetic" says what a row's time was bought with: fp32 units, or tensor cores and in which precision. Ratios across
different arithmetic compare answers of different accuracy; the column max_abs has the error of each against double
precision on sampled rows.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
COLUMNS = "pass batch heads seq dim causal who dtype arithmetic median_ms p10_ms p90_ms runs max_abs".split()
COLUMNS += ["ratio_to_ours", "note"]
# The chapters of a pass, and their programs.
OURS = {
    "forward": {"05_fa2": "fa2", "04_fa1": "fa1", "01_naive": "naive"},
    "backward": {"06_backward": "backward"},
}
# Ratios are against this kernel of the same pass.
BEST = {"forward": "fa2_split_q", "backward": "backward_split"}
# In the order of their importance: pass, then batch, heads, seq, dim, causal.
PROBLEMS = [
    ("forward", (1, 8, 4096, 64, False)),
    ("backward", (1, 8, 2048, 64, False)),
    ("forward", (1, 8, 16384, 64, False)),
    ("forward", (1, 8, 4096, 128, False)),
    ("forward", (1, 8, 4096, 64, True)),
    ("forward", (1, 8, 1024, 64, False)),
    ("backward", (1, 8, 2048, 128, True)),
]
# PyTorch's backends, and with which inputs they are asked, the most telling first.
BACKENDS = {
    "efficient": "EFFICIENT_ATTENTION",
    "math": "MATH",
    "flash": "FLASH_ATTENTION",
    "cudnn": "CUDNN_ATTENTION",
}
ASKED = [("efficient", "float32"), ("math", "float32"), ("flash", "bfloat16"), ("cudnn", "bfloat16")]
ASKED_FORWARD = [("flash", "float16"), ("cudnn", "float16"), ("efficient", "float16"), ("math", "bfloat16")]
SAMPLES = 16  # rows of each head whose error is looked at


def arithmetic(backend, dtype):
    if dtype != "float32":
        return dtype + " inputs, tensor cores"
    return "fp32 units (cuBLAS, TF32 off)" if backend == "math" else "tensor cores, 3xTF32 (sm_80 and later)"


class Report:
    """Rows of TSV, each on disk as soon as it is known."""

    def __init__(self, path, about):
        self.file = open(path, "w", encoding="utf-8")  # noqa: SIM115 open until the last row
        for line in about:
            self.file.write("# " + line + "\n")
        self.file.write("# " + "\t".join(COLUMNS) + "\n")
        self.file.flush()
        self.best = {}
        self.written = 0

    def add(self, problem, which, who, dtype, how, times=None, max_abs=None, note="-"):
        key = (which,) + problem
        ratio = times["median_ms"] / self.best[key] if times and key in self.best else None

        def cell(value):
            return "NaN" if value is None else f"{value:.6g}"

        times = times or {}
        row = [which] + [str(int(value)) for value in problem] + [who, dtype, how]
        row += [cell(times.get(name)) for name in ("median_ms", "p10_ms", "p90_ms")] + [str(times.get("runs", 0))]
        row += [cell(max_abs), cell(ratio), " ".join(str(note).split())[:160] or "-"]
        self.file.write("\t".join(row) + "\n")
        self.file.flush()
        self.written += 1


class Clock:
    """Times functions on the GPU as common/measure/timing.c does."""

    def __init__(self, torch, budget_s=0.25):
        self.torch, self.budget_s = torch, budget_s
        l2 = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 << 20)
        self.flush = torch.empty(2 * l2, dtype=torch.int8, device="cuda")

    def measure(self, run):
        cuda, ms = self.torch.cuda, []
        start = time.monotonic()
        run()
        cuda.synchronize()
        if time.monotonic() - start < 1:
            run()
            run()
            cuda.synchronize()
        start = time.monotonic()
        while len(ms) < 1000:
            before, after = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
            self.flush.zero_()
            before.record()
            run()
            after.record()
            after.synchronize()
            ms.append(before.elapsed_time(after))
            if time.monotonic() - start > self.budget_s and len(ms) >= 5:
                break
        deciles = statistics.quantiles(ms, n=10, method="inclusive")
        return {"median_ms": deciles[4], "p10_ms": deciles[0], "p90_ms": deciles[8], "runs": len(ms)}


def reference_rows(torch, q, k, v, causal):
    """O of a few rows of each head in double precision, and which rows."""
    N = q.shape[2]
    rows = torch.linspace(0, N - 1, min(SAMPLES, N), device=q.device).long()
    s = q[:, :, rows].double() @ k.double().transpose(-1, -2) / q.shape[3] ** 0.5
    if causal:
        s = s.masked_fill(torch.arange(N, device=q.device)[None, :] > rows[:, None], float("-inf"))
    return rows, torch.softmax(s, -1) @ v.double()


def largest_error(o, reference):
    rows, values = reference
    difference = (o[:, :, rows].double() - values).abs()
    return float("nan") if difference.isnan().any() else float(difference.max())


def run_ours(report, tree, chapter, problem, which, folder, seconds):
    """A chapter's program on the inputs in `folder`; its own JSON says times and errors."""
    B, H, N, d, causal = problem
    program = os.path.join(tree, chapter, OURS[which][chapter])
    command = [program, "--load", folder, "--json", "-"] + (["--causal"] if causal else [])
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        kernels = json.loads(done.stdout)["kernels"]
    except Exception as failure:  # recorded; the next program may do better
        report.add(problem, which, chapter, "float32", "fp32 units", note=failure)
        return
    for kernel in kernels:
        if kernel["name"] == BEST[which] and kernel.get("time"):
            report.best[(which,) + problem] = kernel["time"]["median_ms"]
    for kernel in kernels:
        times = kernel.get("time")
        note = "-" if kernel.get("verified") else kernel.get("skipped", "not verified")
        if times and "runs" not in times:
            times = dict(times, runs=0)
        max_abs = kernel.get("error", {}).get("max_abs")
        report.add(problem, which, kernel["name"], "float32", "fp32 units", times, max_abs, note)


def save_inputs(folder, tensors):
    import numpy

    for name, tensor in tensors.items():
        numpy.save(os.path.join(folder, name + ".npy"), tensor.float().cpu().numpy())


def sdpa(torch, backend):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    chosen = getattr(SDPBackend, BACKENDS[backend])

    def attend(q, k, v, causal):
        with sdpa_kernel(chosen):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    return attend


def peers_of(torch, which):
    """(who, dtype, arithmetic, function of q k v causal; or why there is none)."""
    asked = ASKED + (ASKED_FORWARD if which == "forward" else [])
    peers = [("torch_sdpa_" + name, dtype, arithmetic(name, dtype), sdpa(torch, name)) for name, dtype in asked]
    if which == "backward":
        return peers
    try:
        import flash_triton
    except Exception as failure:
        return [*peers, ("triton_flash", "-", "-", failure)]

    def triton(precision):
        return lambda q, k, v, causal: flash_triton.attention(q, k, v, causal, precision)

    return [
        *peers,
        ("triton_flash_ieee", "float32", "fp32 units", triton("ieee")),
        ("triton_flash_tf32x3", "float32", "tensor cores, 3xTF32", triton("tf32x3")),
        ("triton_flash", "bfloat16", "bfloat16 inputs, tensor cores", triton("ieee")),
    ]


def compare(torch, report, clock, tree, which, problem, left):
    B, H, N, d, causal = problem
    backward = which == "backward"
    torch.manual_seed(1)
    tensors = {name: torch.randn(B, H, N, d, device="cuda") for name in ("q", "k", "v", "do")[: 4 if backward else 3]}
    with tempfile.TemporaryDirectory() as folder:
        save_inputs(folder, tensors)
        for chapter in OURS[which]:
            if left() > 5:
                run_ours(report, tree, chapter, problem, which, folder, min(60, left()))
    qkv = [tensors[name] for name in ("q", "k", "v")]
    reference = None if backward else reference_rows(torch, *qkv, causal)
    for who, dtype, how, attend in peers_of(torch, which):
        if isinstance(attend, Exception):
            report.add(problem, which, who, dtype, how, note=attend)
            continue
        if left() < 3:
            return
        inputs = [tensor.to(getattr(torch, dtype)).contiguous().requires_grad_(backward) for tensor in qkv]
        error, note = None, "-"
        try:
            o = attend(*inputs, causal)
            if backward:
                gradient, note = tensors["do"].to(o.dtype), "the forward is not in its time"
                times = clock.measure(gradients(torch, o, inputs, gradient))
            else:
                error = largest_error(o, reference)
                times = clock.measure(lambda attend=attend, inputs=inputs: attend(*inputs, causal))
            report.add(problem, which, who, dtype, how, times, error, note)
        except Exception as failure:
            report.add(problem, which, who, dtype, how, note=failure)
            torch.cuda.synchronize()


def gradients(torch, o, inputs, gradient):
    return lambda: torch.autograd.grad(o, inputs, gradient, retain_graph=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", required=True, help="where the chapters are, built for CUDA")
    parser.add_argument("--out", required=True, help="the TSV to write")
    parser.add_argument("--seconds", type=float, default=90)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    try:
        import torch
    except Exception as failure:
        print(f"peers.py: no torch: {failure}", file=sys.stderr)
        return 3
    if not torch.cuda.is_available():
        print(f"peers.py: torch {torch.__version__} sees no GPU", file=sys.stderr)
        return 3
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    versions = ["torch " + torch.__version__]
    try:
        versions.append(f"cuDNN {torch.backends.cudnn.version()}")
    except Exception:
        versions.append("no cuDNN")
    try:
        import triton

        versions.append("triton " + triton.__version__)
    except Exception:
        versions.append("no triton")
    report = Report(
        options.out,
        [
            f"peers on {torch.cuda.get_device_name(0)}, {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}",
            ", ".join(versions),
            f"each: events, L2 flushed, median and percentiles; max_abs: against double on {SAMPLES} rows a head "
            "(ours: the program's own check)",
        ],
    )
    clock = Clock(torch)

    def left():
        return end - time.monotonic()

    for which, problem in PROBLEMS:
        if left() < 10:
            print(f"peers.py: no time left for {problem}", file=sys.stderr)
            continue
        try:
            compare(torch, report, clock, options.tree, which, problem, left)
        except Exception as failure:  # a problem that breaks the GPU for this process ends here
            print(f"peers.py: {problem}: {failure}", file=sys.stderr)
    print(f"peers.py: {report.written} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())

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
import subprocess
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
COLUMNS = [
    "pass",
    "batch",
    "heads",
    "seq",
    "dim",
    "causal",
    "who",
    "dtype",
    "arithmetic",
    "median_ms",
    "p10_ms",
    "p90_ms",
    "runs",
    "max_abs",
    "ratio_to_ours",
    "note",
]
OURS = {"01_naive": "naive", "04_fa1": "fa1", "05_fa2": "fa2", "06_backward": "backward"}
# Ratios are against this kernel of the same pass.
BEST = {"forward": "fa2_split_q", "backward": "backward_split"}
FORWARD = [
    (1, 8, 4096, 64, False),
    (1, 8, 16384, 64, False),
    (1, 8, 4096, 128, False),
    (1, 8, 4096, 64, True),
    (1, 8, 1024, 64, False),
]
BACKWARD = [(1, 8, 2048, 64, False), (1, 8, 2048, 128, True)]
SAMPLES = 16  # rows of each head whose error is looked at


def arithmetic(backend, dtype):
    if dtype != "float32":
        return dtype + " inputs, tensor cores"
    return {"math": "fp32 units (cuBLAS, TF32 off)", "efficient": "tensor cores, 3xTF32 (sm_80 and later)"}.get(
        backend, "?"
    )


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
        ms.sort()

        def percentile(fraction):
            at = fraction * (len(ms) - 1)
            low = int(at)
            return ms[low] + (at - low) * (ms[min(low + 1, len(ms) - 1)] - ms[low])

        return {"median_ms": percentile(0.5), "p10_ms": percentile(0.1), "p90_ms": percentile(0.9), "runs": len(ms)}


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
    program = os.path.join(tree, chapter, OURS[chapter])
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
        report.add(
            problem, which, kernel["name"], "float32", "fp32 units", times, kernel.get("error", {}).get("max_abs"), note
        )


def save_inputs(folder, tensors):
    import numpy

    for name, tensor in tensors.items():
        numpy.save(os.path.join(folder, name + ".npy"), tensor.float().cpu().numpy())


def sdpa(torch, backend):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    choice = {
        "math": "MATH",
        "efficient": "EFFICIENT_ATTENTION",
        "flash": "FLASH_ATTENTION",
        "cudnn": "CUDNN_ATTENTION",
    }[backend]
    chosen = getattr(SDPBackend, choice)

    def attend(q, k, v, causal):
        with sdpa_kernel(chosen):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    return attend


def forward_peers(torch):
    """(who, dtype, arithmetic, function of q k v causal), the most telling first."""
    peers = []
    for backend, dtype in (
        ("efficient", "float32"),
        ("math", "float32"),
        ("flash", "bfloat16"),
        ("cudnn", "bfloat16"),
        ("flash", "float16"),
        ("cudnn", "float16"),
        ("efficient", "float16"),
        ("math", "bfloat16"),
    ):
        peers.append(("torch_sdpa_" + backend, dtype, arithmetic(backend, dtype), sdpa(torch, backend)))
    try:
        import flash_triton

        for precision, dtype, how in (
            ("ieee", "float32", "fp32 units"),
            ("tf32x3", "float32", "tensor cores, 3xTF32"),
            ("ieee", "bfloat16", "bfloat16 inputs, tensor cores"),
        ):
            peers.append(
                (
                    "triton_flash_" + precision if dtype == "float32" else "triton_flash",
                    dtype,
                    how,
                    lambda q, k, v, causal, precision=precision: flash_triton.attention(q, k, v, causal, precision),
                )
            )
    except Exception as failure:
        peers.append(("triton_flash", "-", "-", failure))
    return peers


def compare_forward(torch, report, clock, tree, problem, left):
    B, H, N, d, causal = problem
    torch.manual_seed(1)
    q, k, v = (torch.randn(B, H, N, d, device="cuda") for _ in range(3))
    with tempfile.TemporaryDirectory() as folder:
        save_inputs(folder, {"q": q, "k": k, "v": v})
        for chapter in ("05_fa2", "04_fa1", "01_naive"):
            if left() > 5:
                run_ours(report, tree, chapter, problem, "forward", folder, min(60, left()))
    reference = reference_rows(torch, q, k, v, causal)
    for who, dtype, how, attend in forward_peers(torch):
        if isinstance(attend, Exception):
            report.add(problem, "forward", who, dtype, how, note=attend)
            continue
        if left() < 3:
            return
        inputs = [tensor.to(getattr(torch, dtype)).contiguous() for tensor in (q, k, v)]
        try:
            error = largest_error(attend(*inputs, causal), reference)
            times = clock.measure(lambda attend=attend, inputs=inputs: attend(*inputs, causal))
            report.add(problem, "forward", who, dtype, how, times, error)
        except Exception as failure:
            report.add(problem, "forward", who, dtype, how, note=failure)
            torch.cuda.synchronize()


def compare_backward(torch, report, clock, tree, problem, left):
    B, H, N, d, causal = problem
    torch.manual_seed(2)
    q, k, v, do = (torch.randn(B, H, N, d, device="cuda") for _ in range(4))
    with tempfile.TemporaryDirectory() as folder:
        save_inputs(folder, {"q": q, "k": k, "v": v, "do": do})
        run_ours(report, tree, "06_backward", problem, "backward", folder, min(60, left()))
    for backend, dtype in (("efficient", "float32"), ("math", "float32"), ("flash", "bfloat16"), ("cudnn", "bfloat16")):
        if left() < 3:
            return
        inputs = [tensor.to(getattr(torch, dtype)).contiguous().requires_grad_() for tensor in (q, k, v)]
        gradient = do.to(getattr(torch, dtype))
        who, how = "torch_sdpa_" + backend, arithmetic(backend, dtype)
        try:
            o = sdpa(torch, backend)(*inputs, causal)
            times = clock.measure(
                lambda o=o, inputs=inputs, gradient=gradient: torch.autograd.grad(
                    o, inputs, gradient, retain_graph=True
                )
            )
            report.add(problem, "backward", who, dtype, how, times, note="the forward is not in its time")
        except Exception as failure:
            report.add(problem, "backward", who, dtype, how, note=failure)
            torch.cuda.synchronize()


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

    for compare, problem in (
        [(compare_forward, FORWARD[0]), (compare_backward, BACKWARD[0])]
        + [(compare_forward, problem) for problem in FORWARD[1:]]
        + [(compare_backward, problem) for problem in BACKWARD[1:]]
    ):
        if left() < 10:
            print(f"peers.py: no time left for {problem}", file=sys.stderr)
            continue
        try:
            compare(torch, report, clock, options.tree, problem, left)
        except Exception as failure:  # a problem that breaks the GPU for this process ends here
            print(f"peers.py: {problem}: {failure}", file=sys.stderr)
    print(f"peers.py: {report.written} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())

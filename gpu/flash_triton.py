"""FlashAttention-2 forward in Triton, small: a program for each tile of queries, K and V stream past it.

The peer of chapter 05 in the language most such kernels are written in today. Products go through tl.dot: with
precision "ieee" in fp32 without tensor cores, with "tf32" or "tf32x3" on them, and fp16 or bf16 inputs always on
them. D is the head dimension, a power of two from 16 to 128; any N.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def forward(
    Q,
    K,
    V,
    O,
    N,
    scale_log2e,
    D: tl.constexpr,
    BR: tl.constexpr,
    BC: tl.constexpr,
    CAUSAL: tl.constexpr,
    PRECISION: tl.constexpr,
):
    head = tl.program_id(1).to(tl.int64) * N * D
    rows = tl.program_id(0) * BR + tl.arange(0, BR)
    columns = tl.arange(0, D)
    q = tl.load(Q + head + rows[:, None] * D + columns[None, :], mask=rows[:, None] < N, other=0.0)
    m = tl.full([BR], float("-inf"), tl.float32)
    l = tl.zeros([BR], tl.float32)
    o = tl.zeros([BR, D], tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * BR, N) if CAUSAL else N
    for first in range(0, end, BC):
        keys = first + tl.arange(0, BC)
        inside = keys < N
        k = tl.load(K + head + keys[None, :] * D + columns[:, None], mask=inside[None, :], other=0.0)
        v = tl.load(V + head + keys[:, None] * D + columns[None, :], mask=inside[:, None], other=0.0)
        s = tl.dot(q, k, input_precision=PRECISION) * scale_log2e
        visible = inside[None, :]
        if CAUSAL:
            visible = visible & (keys[None, :] <= rows[:, None])
        s = tl.where(visible, s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1))  # finite: every row sees key 0, which comes first
        p = tl.math.exp2(s - m_new[:, None])
        correction = tl.math.exp2(m - m_new)
        l = l * correction + tl.sum(p, 1)
        o = o * correction[:, None] + tl.dot(p.to(v.dtype), v, input_precision=PRECISION)
        m = m_new
    o = o / l[:, None]
    tl.store(O + head + rows[:, None] * D + columns[None, :], o.to(O.dtype.element_ty), mask=rows[:, None] < N)


def attention(q, k, v, causal=False, precision="ieee"):
    """q, k, v: contiguous [B, H, N, D]; scale 1/sqrt(D)."""
    B, H, N, D = q.shape
    o = torch.empty_like(q)
    BR, BC, warps = (64, 32, 4) if q.dtype == torch.float32 else (128, 64, 4 if D <= 64 else 8)
    grid = (triton.cdiv(N, BR), B * H)
    forward[grid](
        q,
        k,
        v,
        o,
        N,
        1.4426950408889634 / D**0.5,
        D=D,
        BR=BR,
        BC=BC,
        CAUSAL=causal,
        PRECISION=precision,
        num_warps=warps,
        num_stages=2,
    )
    return o

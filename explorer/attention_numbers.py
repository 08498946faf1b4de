"""Numbers of a run's inputs that the page computes with: a tile of S, and what the first wrong row should be made
of."""

from __future__ import annotations

import array
import base64
import struct

from details import Details
from replay import is_wrong, tokens_of

MOST_ROWS, MOST_KEYS, MOST_COLUMNS_OF_V = 8, 256, 16
MOST_SCORES = 4096


def packed(values: array.array) -> str:
    """Base64 of fp32, little-endian: exact, and less than half of what the digits would take."""
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()


def tile(details: Details) -> dict | None:
    """Of the first head some queries, as many keys as a page has room for, and of their values the first columns, row
    by row. None where Q, K and V are not [B, H, N, d], or where the softmax has a variant."""
    tensors = [details.tensor(0, name) for name in "QKV"] if details.kernels else []
    if not tensors or not all(one and len(one["shape"]) == 4 for one in tensors) or not details.run["plain_softmax"]:
        return None
    dim = tensors[0]["shape"][3]
    if any(one["letters"][3] != "d" for one in tensors):
        return None
    rows, keys = min(tensors[0]["shape"][2], MOST_ROWS), min(tensors[1]["shape"][2], MOST_KEYS)
    # Below a causal mask the last of these queries: the first ones see nothing of a second tile.
    first = keys - rows if details.run["causal"] and keys > rows else 0
    query, key, value = map(details.input, tensors)
    columns = min(dim, MOST_COLUMNS_OF_V)
    shown = array.array("f", (value[row * dim + c] for row in range(keys) for c in range(columns)))
    return {
        "first_row": first,
        "rows": rows,
        "keys": keys,
        "scale": details.run["scale"],
        "Q": packed(query[first * dim : (first + rows) * dim]),
        "K": packed(key[: keys * dim]),
        "V": packed(shown),
    }


def wrong_row(details: Details, kernel: int) -> dict:
    """Of the row that is wrong first its scores, and the column of V that its element of O mixes; none where there is
    no such row, over MOST_SCORES keys, or where the softmax has a variant."""
    query = details.tensor(kernel, "Q")
    tokens = tokens_of(details, kernel)
    if not 1 < tokens <= MOST_SCORES or query["letters"] != "BHNd" or not details.run["plain_softmax"]:
        return {}
    if details.run["hazards"] or not is_wrong(details, kernel):
        return {}
    first = None
    for output in details.outputs(kernel):
        index = output.first_wrong() if output.about["tensor"] in ("O", "LSE") else None
        if index is not None:
            row, column = divmod(output.flat(index), output.length)
            if first is None or row < first[0]:
                first = (row, column if output.length == query["shape"][3] else 0)
    if first is None or first[0] >= query["shape"][0] * query["shape"][1] * tokens:
        return {}
    (row, column), dim = first, query["shape"][3]
    Q, K, V = (details.input(details.tensor(kernel, name)) for name in "QKV")
    q = Q[row * dim : (row + 1) * dim]
    head = range(row // tokens * tokens, row // tokens * tokens + tokens)
    scale = details.run["scale"]
    return {
        "row": row,
        "column": column,
        "visible": row % tokens + 1 if details.run["causal"] else tokens,
        "scores": [scale * sum(map(float.__mul__, q, K[key * dim : (key + 1) * dim])) for key in head],
        "values": [V[key * dim + column] for key in head],
    }

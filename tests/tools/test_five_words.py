"""tools/five_words: the numbers of 00_gpu/attention.md, against the definition worked out another way."""

from __future__ import annotations

import math
import re
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from case import ROOT, Case, run

N, D, HEADS = 5, 4, 2


class FiveWords(Case):
    def printed(self, *arguments: object) -> str:
        outcome = run([ROOT / "tools/five_words", *arguments], cwd=ROOT)
        self.assertEqual((outcome.status, outcome.err), (0, ""), arguments)
        return outcome.out

    def numbers(self, text: str) -> list[float]:
        return [float(word) for word in re.findall(r"(?<!\S)-?(?:\d+\.\d+|inf)(?!\S)", text)]

    def saved(self) -> list[list[list[list[float]]]]:
        """Q, K and V as the programs read them: [HEADS][N][D] each."""
        self.printed("save", self.scratch / "new/words")
        tensors = []
        for name in "qkv":
            data = (self.scratch / f"new/words/{name}.npy").read_bytes()
            self.assertEqual(len(data), 128 + 4 * HEADS * N * D, name)
            self.assertIn(f"'shape': (1, {HEADS}, {N}, {D})".encode(), data[:128])
            flat = struct.unpack(f"<{HEADS * N * D}f", data[128:])
            rows = [list(flat[i : i + D]) for i in range(0, len(flat), D)]
            tensors.append([rows[:N], rows[N:]])
        return tensors

    def weights(self, head: int) -> list[list[float]]:
        q, k, _ = (tensor[head] for tensor in self.saved())
        rows = []
        for i in range(N):
            e = [math.exp(sum(q[i][c] * k[j][c] for c in range(D)) / 2.0) for j in range(i + 1)]
            rows.append([x / sum(e) for x in e] + [0.0] * (N - 1 - i))
        return rows

    def assert_close(self, printed: list[float], expected: list[float], digits: int) -> None:
        self.assertEqual(len(printed), len(expected))
        for shown, x in zip(printed, expected):
            self.assertLessEqual(abs(shown - x), 0.5001 * 10**-digits, f"{shown} for {x}")

    def test_weights(self) -> None:
        rows = self.weights(0)
        self.assert_close(self.numbers(self.printed("weights")), [p for row in rows for p in row], 2)
        for row in rows:
            self.assertAlmostEqual(sum(row), 1.0)

    def test_scores(self) -> None:
        q, k, _ = (tensor[0] for tensor in self.saved())
        scores = [[sum(a * b for a, b in zip(q[i], k[j])) for j in range(N)] for i in range(N)]
        masked = [[s / 2.0 if j <= i else -math.inf for j, s in enumerate(row)] for i, row in enumerate(scores)]
        printed = self.numbers(self.printed("scores"))
        self.assert_close(printed[: N * N], [s for row in scores for s in row], 2)
        finite = [s for row in masked for s in row if s > -math.inf]
        self.assert_close([s for s in printed[N * N :] if s > -math.inf], finite, 2)
        self.assertEqual(printed.count(-math.inf), N * (N - 1) // 2)
        self.assertTrue(self.printed("score").endswith(f" = {scores[4][1]:.2f}\n"))

    def test_softmax_of_a_row(self) -> None:
        q, k, _ = (tensor[0] for tensor in self.saved())
        scores = [sum(a * b for a, b in zip(q[4], k[j])) / 2.0 for j in range(N)]
        shifted = [s - max(scores) for s in scores]
        rows = [scores, shifted, [math.exp(s) for s in shifted], self.weights(0)[4]]
        text = re.sub(r"s - \S+|sum \S+", "", self.printed("softmax"))
        self.assert_close(self.numbers(text), [x for row in rows for x in row], 3)

    def test_output(self) -> None:
        v = self.saved()[2]
        for head in range(HEADS):
            rows = self.weights(head)
            o = [[sum(rows[i][j] * v[head][j][c] for j in range(N)) for c in range(D)] for i in range(N)]
            if head == 0:
                self.assert_close(self.numbers(self.printed("output"))[-N * D :], [x for row in o for x in row], 2)
            both = self.numbers(self.printed("heads"))[-HEADS * D :]
            self.assert_close(both[head * D : (head + 1) * D], o[4], 2)

    def test_what_the_page_says(self) -> None:
        """it looks at cat and slept at cat in one head; in the other each word at the one before."""
        first, second = self.weights(0), self.weights(1)
        self.assertEqual([row.index(max(row)) for row in first][2:], [1, 2, 1])
        self.assertEqual([row.index(max(row)) for row in second], [0, 0, 1, 2, 3])
        self.assertGreater(min(max(row) for row in second), 0.98)

    def test_every_line_fits_a_page(self) -> None:
        for command in ("inputs", "score", "scores", "softmax", "weights", "output", "heads"):
            self.assertLessEqual(max(map(len, self.printed(command).splitlines())), 90, command)

    def test_bad_usage(self) -> None:
        for arguments, status in (((), 2), (("scored",), 2), (("save",), 2), (("save", "/dev/null/x"), 3)):
            outcome = run([ROOT / "tools/five_words", *arguments], cwd=ROOT)
            self.assertEqual(outcome.status, status, arguments)
            self.assertRegex(outcome.err, r"\A[^\n]*\n\Z")


if __name__ == "__main__":
    unittest.main()

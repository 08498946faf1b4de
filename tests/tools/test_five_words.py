"""tools/five_words: the outputs of 00_gpu/attention.md, from the files that it saves, against the definition worked out
another way. What it prints on the way there: make check-readme."""

from __future__ import annotations

import math
import re

from case import ROOT, Case, run
from npy import nested, read_npy

N, D, HEADS = 5, 4, 2


class FiveWords(Case):
    def setUp(self) -> None:
        """Of each head P and O, from the files that the programs read."""
        super().setUp()
        self.printed("save", self.scratch / "new/words")
        q, k, self.v = map(self.saved, "qkv")
        self.p, self.o = [], []
        for head in range(HEADS):
            s = [[sum(a * b for a, b in zip(row, key)) for key in k[head]] for row in q[head]]
            masked = [[s[i][j] / 2.0 for j in range(i + 1)] for i in range(N)]
            p = [[math.exp(x) / sum(map(math.exp, row)) for x in row] for row in masked]
            self.p.append([row + [0.0] * (N - len(row)) for row in p])
            self.o.append([[sum(w * v[c] for w, v in zip(row, self.v[head])) for c in range(D)] for row in p])

    def saved(self, name: str) -> list[list[list[float]]]:
        shape, values = read_npy(self.scratch / f"new/words/{name}.npy")
        self.assertEqual(shape, (1, HEADS, N, D))
        return nested(shape, values)[0]

    def printed(self, *arguments: object) -> str:
        outcome = run([ROOT / "tools/five_words", *arguments], cwd=ROOT)
        self.assertEqual((outcome.status, outcome.err), (0, ""), arguments)
        return outcome.out

    def assert_close(self, text: str, expected: list[list[float]]) -> None:
        """The last numbers of a text, of two digits; -inf is left out."""
        shown = [float(word) for word in re.findall(r"(?<!\S)-?\d+\.\d+(?!\S)", text)]
        flat = [x for row in expected for x in row]
        self.assertGreaterEqual(len(shown), len(flat), text)
        for printed, x in zip(shown[-len(flat) :], flat):
            self.assertLessEqual(abs(printed - x), 0.005001, f"{printed} for {x} in {text}")

    def test_output(self) -> None:
        row, _, whole = self.printed("output").partition("\nO = P V\n")
        self.assert_close(row, [*([p, *v] for p, v in zip(self.p[0][4], self.v[0])), self.o[0][4]])
        self.assert_close(whole, self.o[0])
        heads = self.printed("heads")
        self.assert_close(heads, [self.o[0][4], self.o[1][4]])
        bars = re.findall(r"^  \w+ +(#*) +(\d\.\d\d)    (#*) +(\d\.\d\d)$", heads, re.MULTILINE)
        self.assertEqual(len(bars), N * (N + 1) // 2)
        for bar, weight in [pair for first, p, second, r in bars for pair in ((first, p), (second, r))]:
            self.assertAlmostEqual(len(bar) / 20, float(weight), delta=0.03)

    def test_what_the_page_says(self) -> None:
        """it looks at cat and slept at cat in one head; in the other each word at the one before."""
        self.assertEqual([row.index(max(row)) for row in self.p[0]][2:], [1, 2, 1])
        self.assertEqual([row.index(max(row)) for row in self.p[1]], [0, 0, 1, 2, 3])
        self.assertGreater(min(max(row) for row in self.p[1]), 0.98)

"""tests/mutation/faults.py: a fault that is chosen at run time does what the same fault does in the text.

Kills: a fault that is never reached or planted elsewhere, and so a survivor that says nothing of the tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path

from case import Case

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))
try:
    from mutation import faults
except ImportError as missing:
    if not (missing.name or "").startswith("tree_sitter"):
        raise
    faults = None

C = """\
#include <stdio.h>
enum { SIZE = 4, TWICE = 2 * SIZE };
static int table[SIZE + 1] = {1 + 1, 2};

static int classify(int x)
{
	switch (x) {
	case 1 + 2: return 7;
	default: break;
	}
	if (x < SIZE && x != 0)
		return x > 1 ? x + 3 : x - 3;
	for (int i = 0; i < SIZE && i > -9; i++)
		table[i & 3] += i;
	return table[x % SIZE] | (x << 2);
}

int main(void)
{
	for (int x = 0; x < TWICE; x++)
		printf("%d ", classify(x));
	printf("%d %g\\n", !table[0], 0.25 * 2.0);
	return 0;
}
"""

PYTHON = '''\
#!/usr/bin/env python3
"""What it does."""

from __future__ import annotations

LIMIT = 3


def classify(x: int) -> str:
    found = []
    if x < LIMIT and x != 0:
        found.append(x + 1)
    elif not found:
        found.append(-x)
    found.extend(
        [x * 2, x // 2, True],
    )
    return f"{found} {x in found}"


for number in range(5):
    print(classify(number))
'''


@unittest.skipIf(faults is None, "tree-sitter is not installed (./setup.sh --all)")
class Faults(Case):
    def write(self, name: str, text: str | bytes) -> Path:
        path = self.scratch / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def said(self, command: list[str | Path], **variables: str) -> tuple[int, bytes]:
        done = subprocess.run(command, capture_output=True, env={**os.environ, **variables}, timeout=4, check=False)
        return done.returncode, done.stdout

    def program(self, path: Path) -> list[str | Path]:
        if path.suffix == ".py":
            return [sys.executable, path]
        made = path.with_suffix("")
        subprocess.run(["gcc", "-std=c11", "-w", "-fwrapv", path, "-o", made], check=True)
        return [made]

    def check(self, name: str, text: str, at_least: int, never: list[str]) -> None:
        source = self.write(name, text)
        found = dict(enumerate(faults.faults_in(source, name)))
        self.assertGreater(len(found), at_least)
        for fault in found.values():
            self.assertNotIn(text.split("\n")[fault.line - 1].strip(), never)
        all_of_them = self.program(self.write(f"all.{name}", faults.with_all(source, found)))
        right = self.said(self.program(source))
        self.assertEqual(self.said(all_of_them), right)
        reached = self.write("reached", bytes(1 << 16))
        self.assertEqual(self.said(all_of_them, FAULT_REACHED=str(reached)), right)
        self.assertEqual(reached.read_bytes(), b"\1" * len(found) + bytes((1 << 16) - len(found)))
        told = 0
        for number, fault in found.items():
            with self.subTest(f"{fault.line}: {fault.change}"):
                try:
                    alone = self.said(self.program(self.write(f"one.{name}", faults.with_one(source, fault))))
                    self.assertEqual(self.said(all_of_them, FAULT_CHOSEN=str(number))[1], alone[1])
                except subprocess.TimeoutExpired:
                    continue  # a loop without an end, in both
                told += alone != right
        self.assertGreater(told, at_least)

    def test_of_c(self) -> None:
        constants = ["enum { SIZE = 4, TWICE = 2 * SIZE };", "static int table[SIZE + 1] = {1 + 1, 2};"]
        self.check("kinds.c", C, 20, constants)

    def test_of_python(self) -> None:
        self.check("kinds.py", PYTHON, 12, ['"""What it does."""', "from __future__ import annotations"])

    def test_device_code_is_whole_without_a_choice(self) -> None:
        """A selector in a kernel would be counted."""
        kernel = self.write(
            "k.cu", "__global__ void k(float *x, int n)\n{\n\tif (threadIdx.x < n)\n\t\tx[0] += 1.0f;\n}\n"
        )
        found = faults.faults_in(kernel, "k.cu")
        self.assertGreater(len(found), 3)
        for fault in found:
            self.assertNotIn(b"FAULT", faults.with_one(kernel, fault))

    def test_what_no_input_can_tell_is_what_its_row_says(self) -> None:
        """Kills: a row that leaves out another fault of the same words, or none since its line has changed."""
        root, known = HERE.parent, faults.equivalents()
        found = Counter(
            (path, faults.source_line(root, fault), fault.change)
            for path in {row[0] for row in known}
            for fault in faults.faults_in(root / path, path)
        )
        said = Counter({tuple(row[:3]): int(row[4]) if len(row) > 4 else 1 for row in known})
        self.assertEqual(len(said), len(known))
        self.assertEqual({row: found[row] for row in said}, dict(said))

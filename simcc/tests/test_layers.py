"""The engine's folders lie in layers: engine/README.md has the table, lowest first. A folder includes of others only
the header that bears their name, only of lower ones, and calls nothing that a higher one defines; no two files need
each other."""

from __future__ import annotations

import graphlib
import os
import re
import subprocess
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path

SIMCC = Path(__file__).resolve().parent.parent
ENGINE = SIMCC / "engine"
FOLDERS = re.findall(r"^\| \[(\w+)\]", (ENGINE / "README.md").read_text(), re.MULTILINE)
EVERYBODYS = {"tables.h", "sim.h", "../../gpus.h"}


def global_symbols(file: Path) -> list[list[str]]:
    """The letter and the name of each, as nm has them: U, w and v are those of others."""
    lines = subprocess.run(["nm", "-g", file], check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split()[-2:] for line in lines if len(line.split()) > 1]


class Layers(unittest.TestCase):
    def test_the_table_has_every_folder(self) -> None:
        self.assertEqual(sorted(FOLDERS), sorted(p.name for p in ENGINE.iterdir() if p.is_dir()))

    def test_no_include_goes_upward(self) -> None:
        for file in ENGINE.glob("*/*.[ch]"):
            home = file.parent.name
            included = re.findall(r'^\s*#\s*include\s*"([^"]+)"', file.read_text(), re.MULTILINE)
            others = {path for path in included if not path.startswith(f"{home}/")} - EVERYBODYS
            lower = {f"{folder}/{folder}.h" for folder in FOLDERS[: FOLDERS.index(home)]}
            self.assertEqual(others - lower, set(), file)

    def test_no_symbol_goes_upward(self) -> None:
        """Nor in a circle. In objects that are not optimized: no call is lost to inlining."""
        command = [*os.environ.get("CC", "gcc").split(), "-std=gnu11", "-D_GNU_SOURCE", "-O0", "-w", "-c", "-I", ENGINE]
        defined: dict[str, Path] = {}
        wanted, needs = [], defaultdict(set)
        with tempfile.TemporaryDirectory() as build:
            for source in ENGINE.glob("*/*.c"):
                target = Path(build, f"{source.stem}.o")
                subprocess.run([*command, "-isystem", SIMCC / "include", source, "-o", target], check=True)
                for letter, symbol in global_symbols(target):
                    if letter in "Uwv":
                        wanted.append((source, symbol))
                    else:
                        defined[symbol] = source
        self.assertGreater(len(defined), 200)
        for source, symbol in wanted:
            if symbol in defined:
                needs[source].add(defined[symbol])
                folders = defined[symbol].parent.name, source.parent.name
                self.assertLessEqual(*map(FOLDERS.index, folders), f"{source} wants {symbol}")
        graphlib.TopologicalSorter(needs).prepare()

    @unittest.skipUnless(os.environ.get("LONG"), "LONG=1 runs it")
    def test_no_name_of_ours_meets_a_users(self) -> None:
        with tempfile.TemporaryDirectory() as build:
            subprocess.run(["make", "-s", "-C", SIMCC, "lib", f"SIM_BUILD={build}"], check=True)
            own = [
                symbol for letter, symbol in global_symbols(next(Path(build).glob("*/libsim.a"))) if letter not in "Uwv"
            ]
        self.assertIn("sim_launched", own)
        self.assertEqual([name for name in own if not re.match(r"sim_|cuda|__cuda|__wrap_", name)], [])

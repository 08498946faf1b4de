"""The engine's folders lie in layers: engine/README.md has the table, lowest first. A folder includes of others only
the header that bears their name, only of lower ones, and calls nothing that a higher one defines; no two files need
each other."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

SIMCC = Path(__file__).resolve().parent.parent
ENGINE = SIMCC / "engine"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
EVERYBODYS = {"tables.h", "sim.h", "../../gpus.h"}


def folders(engine: Path) -> list[str]:
    """The table of the README, lowest first."""
    return re.findall(r"^\| \[(\w+)\]", (engine / "README.md").read_text(), re.MULTILINE)


def wrong_includes(engine: Path) -> list[str]:
    order = folders(engine)
    wrong = []
    for file in sorted(engine.glob("*/*.[ch]")):
        home = file.parent.name
        for included in INCLUDE.findall(file.read_text()):
            folder = included.partition("/")[0]
            if folder == home or included in EVERYBODYS:
                continue
            if folder not in order or order.index(folder) > order.index(home):
                wrong.append(f"{home}/{file.name} includes {included}")
            elif included != f"{folder}/{folder}.h":
                wrong.append(f"{home}/{file.name} includes {included}, which is {folder}'s own")
    return wrong


def symbols(objects: list[Path]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The file that defines each global symbol, and (file, symbol) for each that one does not define itself."""
    defined: dict[str, str] = {}
    wanted: list[tuple[str, str]] = []
    for file in objects:
        for line in subprocess.run(["nm", "-g", file], check=True, capture_output=True, text=True).stdout.splitlines():
            *_, letter, symbol = line.split()
            if letter in "Uwv":
                wanted.append((f"{file.parent.name}/{file.name}", symbol))
            else:
                defined[symbol] = f"{file.parent.name}/{file.name}"
    return defined, wanted


def wrong_symbols(engine: Path, objects: list[Path]) -> list[str]:
    order = folders(engine)
    defined, wanted = symbols(objects)

    def floor(file: str) -> int:
        return order.index(file.partition("/")[0])

    return [
        f"{file} wants {symbol} of {defined[symbol]}"
        for file, symbol in wanted
        if symbol in defined and floor(defined[symbol]) > floor(file)
    ]


def circles(objects: list[Path]) -> list[str]:
    """Files that need, over whatever others, themselves."""
    defined, wanted = symbols(objects)
    needs: dict[str, set[str]] = {}
    for file, symbol in wanted:
        if symbol in defined:
            needs.setdefault(file, set()).add(defined[symbol])

    def reachable(file: str) -> set[str]:
        found: set[str] = set()
        rest = [*needs.get(file, ())]
        while rest:
            one = rest.pop()
            if one not in found:
                found.add(one)
                rest += needs.get(one, ())
        return found

    return sorted(file for file in needs if file in reachable(file))


def compiled(engine: Path, sources: list[Path], build: Path) -> list[Path]:
    """Objects of the sources, unoptimized: so no call is lost to inlining."""
    cc = os.environ.get("CC", "gcc")
    objects = []
    for source in sources:
        target = build / source.parent.name / (source.stem + ".o")
        target.parent.mkdir(exist_ok=True)
        command = [*cc.split(), "-std=gnu11", "-D_GNU_SOURCE", "-O0", "-w", "-I", engine, "-isystem", SIMCC / "include"]
        subprocess.run([*command, "-c", source, "-o", target], check=True)
        objects.append(target)
    return objects


class Layers(unittest.TestCase):
    def test_the_table_has_every_folder(self) -> None:
        self.assertEqual(sorted(folders(ENGINE)), sorted(p.name for p in ENGINE.iterdir() if p.is_dir()))
        for folder in folders(ENGINE):
            self.assertTrue((ENGINE / folder / f"{folder}.h").exists(), folder)

    def test_no_include_goes_upward(self) -> None:
        self.assertEqual(wrong_includes(ENGINE), [])

    def test_no_symbol_goes_upward(self) -> None:
        with tempfile.TemporaryDirectory() as build:
            objects = compiled(ENGINE, sorted(ENGINE.glob("*/*.c")), Path(build))
            self.assertGreater(len(objects), 25)
            self.assertEqual(wrong_symbols(ENGINE, objects), [])
            self.assertEqual(circles(objects), [])

    @unittest.skipUnless(os.environ.get("LONG"), "LONG=1 runs it")
    def test_no_name_of_ours_meets_a_users(self) -> None:
        with tempfile.TemporaryDirectory() as build:
            subprocess.run(["make", "-s", "-C", SIMCC, "lib", f"SIM_BUILD={build}"], check=True)
            library = next(Path(build).glob("*/libsim.a"))
            names = subprocess.run(["nm", "-g", "--defined-only", library], check=True, capture_output=True, text=True)
            own = [line.split()[2] for line in names.stdout.splitlines() if len(line.split()) == 3]
            self.assertIn("sim_launched", own)
            self.assertEqual([name for name in own if not re.match(r"sim_|cuda|__cuda|__wrap_", name)], [])

"""Where setup.sh and make work at all: both refuse a path that make cannot build in, and only such a path."""

from __future__ import annotations

import shutil

from case import ROOT, Case, run


class Paths(Case):
    """setup.sh installed everything in a directory called "a b", and only then make said no; in others make broke."""

    def refusals(self, name: str) -> list[tuple[int, str]]:
        folder = self.scratch / name
        makefiles = ["Makefile", "01_naive/Makefile", "simcc/Makefile"]
        for file in ["setup.sh", "simcc/path.mk", "common/chapter.mk", *makefiles]:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, folder / file)
        outcomes = [run([folder / "setup.sh", "--check"])]
        outcomes += [run(["make", "-C", (folder / file).parent]) for file in makefiles]
        said = [(outcome.status, outcome.err) for outcome in outcomes]
        return [one for one in said if one[1].count("make cannot build in a path with a space") == 1]

    def test_setup_and_make_refuse_the_same_bytes_in_one_line(self) -> None:
        for byte in " $'\"`\\&;()<>|*?[]%:=":
            refusals = self.refusals(f"a{byte}b")
            self.assertEqual([status for status, _ in refusals], [3, 2, 2, 2], byte)
            for _, said in refusals:
                self.assertEqual((said.count("\n"), f"a{byte}b" in said), (1, True), said)

    def test_other_bytes_are_no_fault_of_a_path(self) -> None:
        for name in ("Übung", "日本", "a#b", "a,b~+{c}!^@-"):
            self.assertEqual(self.refusals(name), [], name)

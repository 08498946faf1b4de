"""A solution that leaked from the course, or from another class, must not pass: neither as a file nor pasted."""

from __future__ import annotations

from pathlib import Path

from grading import CLASS_OF_CAPS, CLASS_OF_WINDOWS, handout
from lib import tasks
from tree import Trees

# A wrong function shows here: more than a tile, and ordinary numbers.
ATTENTION = "--seq 100 --dim 24"
PROBLEMS = {
    "02_online_softmax": "--rows 3 --cols 300 --dim 20",
    "03_tiled_matmul": "--m 40 --n 70 --k 65",
}
KEYS = (None, CLASS_OF_CAPS, CLASS_OF_WINDOWS)


class Leaks(Trees):
    def passes(self, tree: Path, chapter: str, sources: Path) -> bool:
        """Whether every kernel of the chapter verifies; not, either, when they do not even compile."""
        program, said = self.try_build(tree, chapter, "-O0", "-w", sources=self.copy_of(sources))
        return not said and not self.failing(program, PROBLEMS.get(chapter, ATTENTION))

    def pasted(self, tree: Path, leaked: Path, chapter: str) -> Path:
        """A chapter's sources of one tree, and in them the regions of another."""
        own, other = tasks.read_sources(tree / chapter), tasks.read_sources(leaked / chapter)
        directory, regions = self.copy_of(tree / chapter), tasks.solutions_of(chapter, other)
        for name, text in own.items():
            (directory / name).write_text(tasks.fill(name, text, regions)[0])
        return directory

    def test_files_and_regions_of_another_class_fail(self) -> None:
        """Whole files, and only what lies between the markers, pasted into the class's own files."""
        trees = [self.hand_out(f"class-{number}", key, solved=True) for number, key in enumerate(KEYS)]
        for chapter in handout.CHOICES:  # in which classes compute something else
            for own in (1, 2):
                self.assertTrue(self.passes(trees[own], chapter, trees[own] / chapter), f"{chapter}: its own")
                for leaked in {0, 1, 2} - {own}:
                    pasted = self.pasted(trees[own], trees[leaked], chapter)
                    for sources in (trees[leaked] / chapter, pasted):
                        with self.subTest(f"{chapter}: {KEYS[leaked]} in {KEYS[own]}, pasted: {sources == pasted}"):
                            self.assertFalse(self.passes(trees[own], chapter, sources))

"""Chapter 07's program: models that cannot be used (all of them are in tests/model/test_flat.py)."""

from __future__ import annotations

from pathlib import Path

from case import BUILD, ROOT, Case, run

TRANSFORMER = BUILD / "chapters/transformer"
TINY = (ROOT / "tests/data/tiny_model/tiny.bin").read_bytes()


class Models(Case):
    def refused(self, says: str, model: Path | str, *more: str | Path) -> None:
        done = run([TRANSFORMER, "--prompt", "Hi", "--model", model, *more])
        self.assertEqual((done.status, done.out, done.err.count("\n")), (2, "", 1), done.err)
        self.assertTrue(done.err.startswith("transformer: ") and says in done.err, done.err)

    def write(self, content: bytes) -> Path:
        path = self.scratch / "cut.bin"
        path.write_bytes(content)
        return path

    def test_unusable(self) -> None:
        cut = self.write(TINY[:100_000])
        self.refused("none.bin: No such file", self.scratch / "none.bin")
        self.refused("cut.bin: has 100000 bytes, expected 161792: it was cut", cut)
        self.refused("cut.bin is the model, expected another file", cut, "--json", cut)
        self.refused("README.md: is no model, expected a file that tools/model wrote", ROOT / "README.md")
        gguf = self.write(b"GGUF\3")
        self.refused(f"is a GGUF file, which has to be converted: tools/model --convert {gguf}", gguf)

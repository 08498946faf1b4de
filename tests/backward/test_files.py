"""Chapter 06's program: tensors that are loaded and saved, and what an atomic leaves open."""

from __future__ import annotations

import math

from case import BUILD, Case, run
from npy import first_tokens, read_npy, write_npy

BACKWARD = BUILD / "chapters/backward"
STEPS = {"q": 0.3, "k": 0.7, "v": 1.3, "do": 2.1}


class Files(Case):
    def write(self, N: int, d: int, do: list[float] | None = None, H: int = 1) -> None:
        for name, step in STEPS.items():
            values = [math.sin(step * e) for e in range(H * N * d)]
            write_npy(self.scratch / f"in/{name}.npy", (1, H, N, d), do if do and name == "do" else values)

    def test_a_gradient_that_is_not_loaded(self) -> None:
        """Of real text: dO is drawn, and it is said; five outputs in their shapes are saved."""
        first_tokens(self.scratch / "in", 45)
        done = self.run_program(BACKWARD, "--load in --causal --save out")
        self.assertIn("dO is not among it: standard normal, seed 1", done.out)
        shapes = {path.stem: read_npy(path)[0] for path in (self.scratch / "out").iterdir()}
        whole = (1, 2, 45, 64)
        self.assertEqual(shapes, {"o": whole, "lse": whole[:3], "dq": whole, "dk": whole, "dv": whole})

    def test_a_gradient_that_is_loaded(self) -> None:
        """Of dO = 0 all gradients are 0."""
        self.write(33, 8, H=2)
        self.assertNotIn("not among it", self.run_program(BACKWARD, "--load in --save some").out)
        self.write(33, 8, [0.0] * (2 * 33 * 8), H=2)
        self.run_program(BACKWARD, "--load in --save none")
        for name in ("dq", "dk", "dv"):
            some, none = (read_npy(self.scratch / f"{folder}/{name}.npy")[1] for folder in ("some", "none"))
            self.assertGreater(sum(map(abs, some)), 1.0, name)
            self.assertFalse(any(none), name)

    def refused(self, options: str, says: str) -> None:
        done = self.run_program(BACKWARD, options, status=2)
        self.assertEqual((done.out, done.err.count("\n")), ("", 1), done.err)
        self.assertIn(says, done.err)

    def test_unusable_files(self) -> None:
        self.write(9, 4)
        self.refused("--load in --seq 8", "expected 8 for N")
        (self.scratch / "in/do.npy").write_text("not numpy")
        self.refused("--load in", "do.npy: is not a .npy file")
        write_npy(self.scratch / "in/do.npy", (1, 1, 9, 5), [0.0] * 45)
        self.refused("--load in", "do.npy: shape (1, 1, 9, 5), expected 4 for d")
        self.write(9, 4, [math.nan] * 36)
        self.refused("--load in", "do.npy")

    def test_atomic_differs_in_the_last_bits_of_dq(self) -> None:
        """In some order of the threads, by next to nothing."""
        saved = []
        for order in ("forward", "shuffle:1", "shuffle:2"):
            options = "--kernel backward_atomic --seq 97 --heads 2 --dim 40 --tile-k 32 --causal --save out"
            self.run_program(BACKWARD, options, SIM_ORDER=order, SIM_THREADS="1", SIM_CHECK="none")
            saved.append(read_npy(self.scratch / "out/dq.npy")[1])
        moved = max(abs(a - b) for other in saved[1:] for a, b in zip(saved[0], other))
        self.assertTrue(0 < moved < 1e-6 * max(map(abs, saved[0])), moved)

    def test_a_query_that_sees_no_key(self) -> None:
        done = run([BUILD / "backward/no_visible_key"])
        self.assertEqual(done.status, 0, done.out + done.err)

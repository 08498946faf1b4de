"""make no-barrier, which takes the barriers out of a kernel of chapter 00, whose README shows what is found then."""

from __future__ import annotations

import os

from case import ROOT, Case, run


class NoBarrier(Case):
    def test_it_needs_a_barrier(self) -> None:
        compilers = [f"{name}={os.environ[name]}" for name in ("CC", "CXX") if name in os.environ]
        make = ["make", "-s", "--no-print-directory", "-C", ROOT / "00_gpu", "DEVICE=sim", *compilers, "no-barrier"]
        for kernel in ("copy", "nothing", ""):
            done = run([*make, f"KERNEL={kernel}"])
            self.assertEqual(done.status, 2, done.err)
            self.assertIn("expected a kernel of this chapter that has a barrier\n", done.err)

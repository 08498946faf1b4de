"""make no-barrier, which takes the barriers out of a kernel of chapter 00."""

from __future__ import annotations

import os

from case import ROOT, Case, Outcome, run

KERNELS = ("transpose", "transpose_padded", "sum", "sum_shuffle") if os.environ.get("LONG") else ("sum_shuffle",)


def no_barrier(kernel: str, **environment: str) -> Outcome:
    compilers = [f"{name}={os.environ[name]}" for name in ("CC", "CXX") if name in os.environ]
    make = ["make", "-s", "--no-print-directory", "-C", ROOT / "00_gpu", "DEVICE=sim", *compilers]
    return run([*make, "no-barrier", f"KERNEL={kernel}"], **environment)


class NoBarrier(Case):
    def test_a_missing_barrier_is_shown(self) -> None:
        """The hazard is found also where the result is right, as that of a sum is in the reverse order of threads."""
        for kernel in KERNELS:
            for order in ("forward", "reverse"):
                with self.subTest(f"{kernel}, {order}"):
                    done = no_barrier(kernel, SIM_ORDER=order)
                    self.assertEqual(done.status, 0, done.err)
                    self.assertIn("FAILED", done.out)
                    self.assertIn("a __syncthreads() is missing between these two accesses", done.err)
                    is_right = (order == "reverse") == kernel.startswith("sum")
                    self.assertEqual("is wrong" not in done.err, is_right, done.err)
                    self.assertEqual("right in this run only by luck" in done.out, is_right, done.out)

    def test_it_needs_a_barrier(self) -> None:
        for kernel in ("copy", "nothing", ""):
            done = no_barrier(kernel)
            self.assertEqual(done.status, 2, done.err)
            self.assertIn("expected a kernel of this chapter that has a barrier\n", done.err)

"""The device under the chapters: what the harness says of a refused launch, and C libraries that are not this one."""

from __future__ import annotations

import os
from pathlib import Path

from case import BUILD, ROOT, Case, run

NAIVE = sorted(path.relative_to(ROOT) for path in [*(ROOT / "common").rglob("*.c"), *(ROOT / "01_naive").glob("*.c")])


class Chapters(Case):
    def test_a_refused_launch_is_named(self) -> None:
        """A learner asks for too many threads in chapter 01: the kernel fails, and the harness names it and the
        reason."""
        kernels = (ROOT / "01_naive/naive.cu").read_text()
        self.assertIn("SCORE_THREADS = 128", kernels)
        (self.scratch / "naive.cu").write_text(kernels.replace("SCORE_THREADS = 128", "SCORE_THREADS = 2048"))
        objects = [BUILD.parent / "sim" / path.with_suffix(".o") for path in (*NAIVE, Path("common/gpus.c"))]
        command = [ROOT / "simcc/simcc", f"-I{ROOT}/01_naive", f"-I{ROOT}/common", "naive.cu", *objects, "-lm"]
        made = run([*command, "-o", "naive"], cwd=self.scratch)
        self.assertEqual(made.status, 0, made.err)
        done = self.run_program(self.scratch / "naive", "--seq 16 --dim 16 --json -", 1)
        refused = "not launched: cudaErrorInvalidConfiguration: invalid configuration argument: scores<<<"
        self.assertIn(f'"failure":"{refused}', done.out)
        limit = "was refused: 2048 threads in a block, which may have 1024 (launched at "
        self.assertIn(f", (2048,1,1)>>> {limit}", done.out)

    def test_the_c_files_compile_with_a_newer_library(self) -> None:
        """Nothing of the harness has a name that a newer C library has: simcc/tests has a made-up one."""
        options = "-fsyntax-only -std=gnu11 -D_GNU_SOURCE -DDEVICE_SIM -Icommon -Isimcc -isystem simcc/include"
        compiler = [*os.environ.get("CC", "gcc").split(), *options.split(), "-Isimcc/tests/c_library/newer"]
        done = run([*compiler, *ROOT.glob("common/**/*.c"), *ROOT.glob("[0-9]*/*.c")], cwd=ROOT)
        self.assertEqual(done.status, 0, done.err[:3000])

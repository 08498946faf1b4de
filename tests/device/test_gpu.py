"""A GPU where there is none (gpu.c): what the chapters say on one, to the letter. gpu.txt has the runs, with all
that they print, and a status that is not 0; REMAKE=1 writes it anew: read its difference.

Kills: what no run on the simulated device comes by: the device that is found, the memory that is left for tensors,
floors beside times, sizes of sweeps, tables without counts, the product of cuBLAS.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))

import golden
from case import BUILD, ROOT, Case, run, split_environment
from test_letters import masked, pruned

RUNS = Path(__file__).with_name("gpu.txt")


class Gpu(Case):
    def test_every_run_to_the_letter(self) -> None:
        made = []
        commands = re.findall(r"(?m)^\$ (.*)$", RUNS.read_text(encoding="utf-8"))
        self.assertEqual(len(commands), 73, "runs were lost")
        for command in commands:
            (program, *options), environment = split_environment(shlex.split(command))
            if environment.get("LD_LIBRARY_PATH"):
                environment["LD_LIBRARY_PATH"] = str(BUILD / "device/gpu")
            done = run([BUILD / "device/gpu" / program, *options], cwd=ROOT, **environment)
            out = json.dumps(pruned(json.loads(done.out))) if "--json" in options else masked(done.out)
            made += [f"$ {command}", *out.splitlines(), *done.err.splitlines()]
            made += [f"= {done.status}"] if done.status else []
        self.assertEqual(golden.changes(RUNS, made), "")

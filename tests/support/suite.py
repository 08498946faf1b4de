#!/usr/bin/env python3
"""Runs one suite of unittest for run.py: suite.py FILE.py RESULTS.xml

FILE.py is tests/PART/test_WHAT.py, or makes tests of a file that RESULTS names (cases/cases.py, faults/faults.py).
Prints what failed, then the sums, alone on a line; the XML is JUnit's.
"""

from __future__ import annotations

import importlib.util
import sys
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "simcc/tests"))

from recorder import Recorder, add_suite


def main() -> int:
    path, results = map(Path, sys.argv[1:])
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path[0] = str(path.parent)  # where what the suite imports lies, and nothing of simcc's
    spec.loader.exec_module(module)
    recorder = Recorder()
    unittest.defaultTestLoader.loadTestsFromModule(module).run(recorder)
    for test in recorder.tests:
        if test["outcome"] == "failed":
            print(f"    failed: {test['name']}")
            print("".join(f"    | {line}\n" for line in test["message"].splitlines()), end="")
        elif test["outcome"] == "skipped":
            print(f"    skipped: {test['message']}")
    suite = results.stem
    root = xml.Element("testsuites", name=suite, tests=str(len(recorder.tests)))
    add_suite(root, suite, suite, recorder.tests)
    xml.ElementTree(root).write(results, encoding="utf-8", xml_declaration=True)
    outcomes = [test["outcome"] for test in recorder.tests]
    print(", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in ("passed", "failed", "skipped")))
    return 1 if "failed" in outcomes else 0


if __name__ == "__main__":
    sys.exit(main())

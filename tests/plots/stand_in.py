"""Stands in for a chapter's program where tools/bench itself is tested: takes its options, writes the same kind of TSV.

STAND_IN_DEVICE: what it says after "# device: ". STAND_IN_SLEEP: seconds a run takes, after it has written
the number of its process to a file `asleep`. STAND_IN_FAILS: "SEQ STATUS MESSAGE", at that seq it prints the message
and ends so.
"""

import os
import sys
import time

FLAGS = ("--causal", "--quiet", "--time")
OPTIONS = "--seq --dim --heads --tsv --rows --cols --m --n --k --kernel --repeat --warmup --gpu --tile-q --tile-k"

given = {"--seq": "1", "--dim": "1", "--heads": "1", "--repeat": "0"}
words = sys.argv[1:]
while words:
    option = words.pop(0)
    if option not in FLAGS and option not in OPTIONS.split():
        sys.exit(f"stand_in: unknown option {option}")
    given[option] = "1" if option in FLAGS else words.pop(0)
seq, dim = given["--seq"], given["--dim"]
where, status, message = (os.environ.get("STAND_IN_FAILS", "- - -").split(" ", 2) + ["", ""])[:3]
if seq == where:
    print(message, file=sys.stderr)
    sys.exit(int(status))
if seq != "1" and "STAND_IN_SLEEP" in os.environ:
    with open("asleep.new", "w") as out:
        out.write(str(os.getpid()))
    os.rename("asleep.new", "asleep")
    time.sleep(float(os.environ["STAND_IN_SLEEP"]))
columns = "seq dim batch heads causal kernel verified max_abs counted_elements model_requested_elements skipped repeat"
elements = str(int(seq) * int(dim))
with open(given["--tsv"], "w") as out:
    print("# 05_fa2 on a stand-in, 2000-01-01", file=out)
    print("# machine: none, 1 core, Linux none", file=out)
    print("# device:", os.environ.get("STAND_IN_DEVICE", "sim, limits of h100, NVIDIA H100 SXM"), file=out)
    print("# compiler: none 1.0\n# units: none\n# " + "\t".join(columns.split()), file=out)
    for kernel in ("one", "two"):
        cells = (
            f"{seq} {dim} 1 {given['--heads']} {given.get('--causal', '0')} {kernel} yes 1e-7 {elements} {elements} -"
            f" {given['--repeat']}"
        )
        print(cells.replace(" ", "\t"), file=out)

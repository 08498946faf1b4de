"""Stand-ins for NVIDIA's tools, with which gpu-report is tested without a GPU. No number they print was measured.

make_toolkit() makes a CUDA toolkit of them; each of its programs calls the function of its name here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from lib.gpu import counters, runner

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("nvcc", "nvidia-smi", "ncu", "compute-sanitizer", "python3")
ROOFS = """#!/bin/sh
printf '# roofs of nothing: a stand-in\\n# roof\\tmedian\\tp10\\tp90\\truns\\thow\\n'
printf 'fp32_flop_per_s\\t1\\t1\\t1\\t1\\tinvented\\n'
"""


def make_executable(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def make_toolkit(directory: Path, without: Collection[str] = ()) -> str:
    """The toolkit in a directory; returns a PATH with its programs, all but those named in `without`."""
    programs = directory / "bin"
    programs.mkdir(parents=True)
    (directory / "include").symlink_to(ROOT / "simcc/include")
    for name in TOOLS:
        if name not in without:
            call = f"sys.path.insert(0, {str(Path(__file__).parent)!r})\nimport stand_ins\nsys.exit(stand_ins.main())\n"
            make_executable(programs / name, f"#!{sys.executable} -B\nimport sys\n{call}")
    return f"{programs}:/usr/bin:/bin"


def ends(process: str, seconds: float = 10) -> bool:
    """Is the process of this number gone, or soon?"""
    path = Path("/proc", process.strip(), "stat")
    deadline = time.monotonic() + seconds
    while (found := runner.read_text(path)) and found.rpartition(")")[2].split()[0] != "Z":
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def take_options(arguments: list[str], with_value: Collection[str]) -> dict[str, str]:
    """The options before a program's command line, which is what stays in `arguments`."""
    options = {}
    while arguments and arguments[0].startswith("--"):
        name = arguments.pop(0)
        options[name] = arguments.pop(0) if name in with_value else ""
    return options


def nvidia_smi(arguments: Sequence[str]) -> int:
    asked = " ".join(arguments)
    if "-L" in asked:
        print("GPU 0: Stand-in GPU")
    elif "name" in asked:
        print("Stand-in GPU, 1.2.3, 9.0, 1 MiB, 1 MHz, 1 MHz")
    elif "compute_cap" in asked:
        print(os.environ.get("FAKE_CAPABILITY", "9.0"))
    return 0


def nvcc(arguments: list[str]) -> int:
    """Builds for the simulated device what nvcc would build for a GPU. gpu/roofs.cu has assembly in it; its program
    becomes a script. FAKE_NVCC=slow: does not end, and says so in a file `asleep`."""
    if "--version" in arguments:
        print("nvcc: a stand-in\nCuda compilation tools, release 0.0, V0.0.0")
        return 0
    if "--list-gpu-code" in arguments:
        print("sm_80\nsm_90")
        return 0
    if os.environ.get("FAKE_NVCC") == "slow":
        begun = Path(os.environ["TMPDIR"], "begun")
        begun.write_text(str(os.getpid()))
        begun.rename(begun.with_name("asleep"))  # whole from the first moment that it is there
        time.sleep(60)
    kept = []
    while arguments:
        argument = arguments.pop(0)
        if argument in ("-ccbin", "-Werror", "-Xcompiler", "-Xlinker"):
            arguments.pop(0)
        elif not re.match("-std=|-arch=|-O3|-lineinfo|-lcublas", argument):
            kept.append(argument)
    if any(argument.endswith("roofs.cu") for argument in kept):
        make_executable(Path(kept[kept.index("-o") + 1]), ROOFS)
        return 0
    simcc = str(ROOT / "simcc/simcc")
    os.execv(simcc, [simcc, *kept])


def compute_sanitizer(arguments: list[str]) -> int:
    """Lets the simulated device check the program, and prints the summary of NVIDIA's tool. Like that, it does not see
    the race of race_stencil_in_place, which is in global memory."""
    takes = ("--tool", "--print-limit", "--error-exitcode", "--leak-check", "--racecheck-report")
    tool = take_options(arguments, takes)["--tool"]
    checks = "memcheck,leakcheck" if tool == "memcheck" else tool
    if tool == "racecheck" and "stencil" in arguments[0]:
        checks = "none"
    run = subprocess.run(
        arguments,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "SIM_CHECK": checks},
    )
    found = re.search(r"ERROR SUMMARY: (\d+) error", run.stdout)
    errors = int(found[1]) if found else 0
    warnings = len(re.findall("^========= Warning", run.stdout, re.MULTILINE))
    print("========= COMPUTE-SANITIZER")
    print(re.sub(r"(?m)^========= ERROR SUMMARY.*\n", "", run.stdout), end="")
    if tool == "racecheck":
        hazards = f"{errors + warnings} hazards displayed ({errors} errors, {warnings} warnings)"
        print(f"========= RACECHECK SUMMARY: {hazards}")
    else:
        print(f"========= ERROR SUMMARY: {errors} error{'' if errors == 1 else 's'}")
    return 86 if errors else 0


def ncu(arguments: list[str]) -> int:
    """Runs a program of the simulated device and writes its own launch records as if the hardware had counted them,
    with some differences that a real GPU has. FAKE_NCU=denied: no permission."""
    options = take_options(arguments, ("--metrics", "--log-file", "--page", "--print-units", "--clock-control"))
    path = Path(options["--log-file"])
    metrics = options["--metrics"].split(",")
    if os.environ.get("FAKE_NCU") == "denied":
        path.write_text(
            "==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access "
            "NVIDIA GPU Performance Counters on the target device 0.\n"
        )
        return 1
    unknown = [name for name in metrics if name.startswith("smsp__sass_inst_executed_op_shared_ld")]
    if unknown:
        path.write_text(f"==ERROR== Failed to find metric {unknown[0]}\n")
        return 1
    records = Path(f"{path}.records")
    if subprocess.run(arguments, check=False, env={**os.environ, "SIM_REPORT": str(records)}).returncode:
        return 1
    # A counter of several metrics: all of it is in the first.
    names_of = {names[0]: counter.name for counter in counters.COUNTERS for names in counter.metrics}
    rows = [["ID", "Kernel Name", "Block Size", "Grid Size", *metrics], [""] * 4 + ["byte"] * len(metrics)]
    for line in records.read_text().splitlines():
        launch = json.loads(line)
        if launch["type"] != "launch":
            continue
        template = f"<(int){launch['template']}>" if launch["template"] else ""
        sizes = [f"({', '.join(map(str, launch[key]))})" for key in ("block", "grid")]
        cells = [str(len(rows) - 2), f"void {launch['kernel']}{template}(const float *)", *sizes]
        for metric in metrics:
            name = metric.rpartition(".")[0]
            value = (counters.counted(launch, names_of[name]) if name in names_of else 0) or 0
            if launch["kernel"] == "scores" and re.match("l1tex__t_requests.*global_op_ld", name):
                value /= 4  # four narrow loads become a wide one
            if name == "dram__bytes_read":
                value += 4096  # caches are finite
            cells.append(f"{value:,.15g}")
        rows.append(cells)
    table = "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)
    path.write_text("==PROF== Connected to process 1\n" + table)
    return 0


def python3(arguments: list[str]) -> int:
    """A python without torch. What else is Python's, as simcc, runs with the real one."""
    if any(argument.endswith("peers.py") for argument in arguments):
        print("peers.py: no torch: No module named 'torch'", file=sys.stderr)
        return 3
    os.execv(sys.executable, [sys.executable, *arguments])


def main() -> int:
    name = Path(sys.argv[0]).name
    return globals()[name.replace("-", "_")](sys.argv[1:])

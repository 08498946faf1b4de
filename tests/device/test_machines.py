"""Machines that differ from this one: setup.sh with other package managers and without rights, compilers that warn."""

from __future__ import annotations

import os

from case import ROOT, Case, Outcome, run

MANAGERS = {
    "apt-get": ("update", "install -y -qq --no-install-recommends make git gcc g++", "gnuplot-nox"),
    "dnf": ("install -y", "make git gcc gcc-c++", "clang-tools-extra"),
    "pacman": ("-Sy", "-S --needed --noconfirm make git gcc ", "clang llvm gnuplot"),
    "zypper": ("--non-interactive refresh", "install --no-recommends make git gcc gcc-c++", "dejavu-fonts"),
    "apk": ("update", "add make git gcc g++", "clang-extra-tools"),
}
SAY = 'echo "$@" >> "$SAID"\n'


class Setup(Case):
    """On a machine that has next to nothing: `bin` holds the few commands that setup.sh itself uses, and what a test
    adds. What a stand-in is called with goes to the file `said`."""

    def setUp(self) -> None:
        super().setUp()
        self.bin, self.said = self.scratch / "bin", self.scratch / "said"
        self.bin.mkdir()
        for kept in ("sh", "sed", "cat", "env"):
            (self.bin / kept).symlink_to(f"/bin/{kept}")
        self.command("sleep", "")
        self.be("0")

    def be(self, user: str) -> None:
        self.command("id", f"echo {user}\n")

    def command(self, name: str, script: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{script}")
        (self.bin / name).chmod(0o755)

    def set_up(self, *options: str) -> tuple[Outcome, str]:
        """How it ends, and what was said meanwhile."""
        self.said.write_text("")
        done = run(["/bin/sh", ROOT / "setup.sh", *options], PATH=str(self.bin), SAID=str(self.said))
        return done, self.said.read_text()

    def test_five_package_managers(self) -> None:
        """Each is asked for the packages as its system names them, and for what there is first."""
        for manager, says in MANAGERS.items():
            self.command(manager, SAY)
            done, said = self.set_up()
            for words in says:
                self.assertIn(words, said, manager)
            self.assertNotIn(" - ", said, f"{manager} was asked for a package that it does not have")
            # A stand-in installs nothing: that is told, with what it costs.
            self.assertEqual(done.status, 3, done.err)
            self.assertIn("there is no gnuplot: there are no pictures\n", done.err, manager)
            (self.bin / manager).unlink()

    def refused(self, says: str, *options: str) -> None:
        done, said = self.set_up(*options)
        self.assertEqual((done.status, said), (3, ""), "something was installed")
        self.assertIn(says, done.err)

    def test_without_a_manager_or_rights_one_line_says_so(self) -> None:
        self.be("1000")
        self.refused("no apt, dnf, pacman, zypper or apk here")
        self.command("apt-get", SAY)
        self.refused("you are not root and there is no sudo")
        self.command("sudo", "exit 1\n")  # one that would ask, and nobody to ask
        self.refused("sudo asks for a password")
        self.command("sudo", '[ "$1" = -n ] || exit 1\nshift\n"$@"\n')  # one that asks for nothing is used
        self.assertIn("install -y", self.set_up()[1])
        self.refused("setup: missing: make git", "--check")

    def test_a_locked_apt_is_waited_for(self) -> None:
        """The lists' lock is waited for here, the packages' by apt. A package that there is not keeps back no other."""
        locked = "echo 'E: Could not get lock /var/lib/apt/lists/lock' >&2; exit 100"
        tries = f'echo x >> "$SAID.tries"; if [ "$(cat "$SAID.tries")" = x ]; then {locked}; fi'
        self.command("apt-get", f'{SAY}case "$*" in *update*) {tries} ;; *unzip*) exit 100 ;; esac\n')
        done, said = self.set_up()
        self.assertIn("waiting for another apt", done.out)
        self.assertIn("DPkg::Lock::Timeout=600 install", said)
        self.assertIn("unzip could not be installed", done.err)
        self.assertIn("--no-install-recommends zip\n", said, "the others were not tried")

    def test_ruff_comes_from_pypi(self) -> None:
        """Debian has no ruff: --all takes PyPI's, and tells a pip that wants no package beside the system's that we
        mean it."""
        self.command("apt-get", "")
        self.command("python3", f"{SAY}case \"$*\" in *ruff\\ --version | *'-q ruff') exit 1 ;; esac\n")
        done, said = self.set_up("--all")
        self.assertIn("-m pip install -q ruff\n-m pip install -q --break-system-packages ruff\n", said)
        self.assertIn("there is no ruff: make check-python does not work", done.err)
        self.assertNotIn("pip", self.set_up()[1], "ruff is for --all only")


LOOP = "__global__ void k(float *y)\n{\n\tunsigned n = 2;\n\tfor (int i = 0; i < n; i++)\n\t\ty[i] = 2.0f;\n}\n"
UNUSED = "__global__ void k(float *y)\n{\n\tfloat correction = 1.0f;\n\ty[0] = 2.0f;\n}\n"


class Warnings(Case):
    def build(self, source: str, werror: str) -> Outcome:
        """A chapter of two lines, built by common/chapter.mk as any is, in the scratch directory."""
        (self.scratch / "tiny/tiny.cu").write_text(f"{source}int main() {{ return 0; }}\n")
        words = [f"ROOT={self.scratch}", "HARNESS=", "DEVICE=sim", werror]
        words += [f"{name}={os.environ[name]}" for name in ("CC", "CXX") if name in os.environ]
        return run(["make", "--no-print-directory", "-C", self.scratch / "tiny", "fast", *words])

    def test_a_warning_stops_ci_and_nobody_else(self) -> None:
        tiny = self.scratch / "tiny"
        tiny.mkdir()
        (self.scratch / "simcc").symlink_to(ROOT / "simcc")
        (tiny / "Makefile").write_text(f"NAME := tiny\ninclude {ROOT}/common/chapter.mk\n")
        done = self.build(LOOP, "WERROR=")
        self.assertEqual(done.status, 0, done.err)
        self.assertIn("sign", done.err)
        self.assertTrue((tiny / "tiny.fast").exists())
        (tiny / "tiny").unlink()
        done = self.build(LOOP, "WERROR=1")  # the objects are older now
        self.assertEqual((done.status, (tiny / "tiny").exists()), (2, False), done.err)
        # The default is the newcomer's; half an exercise leaves a variable unused, and nothing is said of it.
        done = self.build(UNUSED, "ARGS=")
        self.assertEqual(done.status, 0, done.err)
        self.assertNotIn("warning", done.err)

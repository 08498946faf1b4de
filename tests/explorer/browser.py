"""Pages in a browser without a window, driven through its pipe (the DevTools protocol), for tests.

    with Page(path, "#s=7", size=(375, 800), dark=True) as page:
        page.key("ArrowRight")
        value = page.eval("location.hash")

At the end of the block the test fails if the page asked for any other address, or wrote a warning, an error or an
exception to the console. Without Chromium the running test is skipped. One Chromium serves all pages of a process, each
page in a browser context of its own.
"""

from __future__ import annotations

import atexit
import fcntl
import itertools
import json
import os
import select
import shutil
import signal
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

SECONDS = 80  # for one answer
OPTIONS = """--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-sync
    --disable-background-networking --disable-component-update --disable-default-apps --disable-extensions
    --hide-scrollbars --remote-debugging-pipe"""
# As a person presses them.
KEY_CODES = {" ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35}
KEY_CODES.update({"Tab": 9, "Enter": 13, "Escape": 27})
KEY_TEXTS = {" ": " ", "Enter": "\r"}
# For the scripts of tests.
SHORT = """globalThis.$ = (selector) => document.querySelector(selector);
    globalThis.$$ = (selector) => [...document.querySelectorAll(selector)];"""


class BrowserError(AssertionError):
    """Chromium ended, did not answer, or a page did not do what it was told."""


class Chromium:
    """The browser's process and its pipe."""

    def __init__(self) -> None:
        names = ("chromium", "chromium-browser", "google-chrome")
        program = next(filter(None, map(shutil.which, names)), None)
        if not program:
            raise unittest.SkipTest("no Chromium here, the page is not looked at: ./setup.sh --all installs it")
        self.home = Path(tempfile.mkdtemp())  # what it leaves behind goes with it
        from_us, self.to = os.pipe()
        self.answers, from_it = os.pipe()
        # It reads from 3 and writes to 4: the ends we hand over must not be these themselves.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (from_us, from_it)]
        log = os.open(self.home / "log", os.O_WRONLY | os.O_CREAT)
        actions = [(os.POSIX_SPAWN_DUP2, ends[0], 3), (os.POSIX_SPAWN_DUP2, ends[1], 4)]
        actions += [(os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2)]
        environment = {**os.environ, "HOME": str(self.home), "TMPDIR": str(self.home)}
        command = [program, *OPTIONS.split(), f"--user-data-dir={self.home}/profile", "about:blank"]
        self.process = os.posix_spawn(program, command, environment, file_actions=actions, setpgroup=0)
        for end in (from_us, from_it, log, *ends):
            os.close(end)
        atexit.register(self.end)
        self.numbers = itertools.count(1)
        self.buffer = b""
        self.events: dict[str, list[dict]] = {}  # of each session

    def end(self) -> None:
        os.killpg(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        shutil.rmtree(self.home, ignore_errors=True)

    def receive(self, deadline: float) -> dict:
        while b"\0" not in self.buffer:
            if not select.select([self.answers], [], [], max(deadline - time.monotonic(), 0))[0]:
                raise BrowserError("Chromium: no answer in time")
            got = os.read(self.answers, 1 << 20)
            if not got:
                raise BrowserError("Chromium ended: " + (self.home / "log").read_text(errors="replace"))
            self.buffer += got
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method: str, session: str | None = None, **params: object) -> dict[str, Any]:
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.to, text) :]
        deadline = time.monotonic() + SECONDS
        while True:
            answer = self.receive(deadline)
            if "id" not in answer:
                self.events.setdefault(answer.get("sessionId", ""), []).append(answer)
            elif answer["id"] == number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]


_chromium: list[Chromium] = []  # the one of this process


def chromium() -> Chromium:
    if not _chromium:
        _chromium.append(Chromium())
    return _chromium[0]


def complaint(event: dict) -> str | None:
    """What an event puts on the console that a reader of it should see: warnings, errors, exceptions."""
    params = event["params"]
    if event["method"] == "Runtime.exceptionThrown":
        details = params["exceptionDetails"]
        return "exception: " + details.get("exception", {}).get("description", details["text"])
    if event["method"] == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
        words = [str(word.get("value", word.get("description", ""))) for word in params["args"]]
        return f"{params['type']}: " + " ".join(words)
    if event["method"] == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
        return f"{params['entry']['level']}: {params['entry']['text']}"
    return None


class Page:
    def __init__(
        self,
        path: Path,
        fragment: str = "",
        *,
        size: tuple[int, int] = (1440, 900),
        dark: bool = False,
        reduced: bool = False,
    ) -> None:
        self.url = path.resolve().as_uri()
        self.browser = chromium()
        self.context = self.browser.call("Target.createBrowserContext")["browserContextId"]
        place = {"url": "about:blank", "browserContextId": self.context}
        target = self.browser.call("Target.createTarget", **place)["targetId"]
        self.session = self.browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.call(f"{domain}.enable")
        telephone = size[0] < 700
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 2 if telephone else 1}
        self.call("Emulation.setDeviceMetricsOverride", **metrics, mobile=telephone)
        self.features(
            ("prefers-color-scheme", "dark" if dark else "light"),
            ("prefers-reduced-motion", "reduce" if reduced else "no-preference"),
        )
        self.call("Page.addScriptToEvaluateOnNewDocument", source=SHORT)
        self.call("Page.bringToFront")
        self.call("Page.navigate", url=self.url + fragment)
        self.until("document.readyState === 'complete' && document.documentElement.dataset.ready === 'yes'")

    def __enter__(self) -> Page:
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)
        events = self.browser.events.pop(self.session, [])
        if kind is None:
            console = list(filter(None, map(complaint, events)))
            asked = [
                event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"
            ]
            others = [url for url in asked if not url.startswith("data:") and url.partition("#")[0] != self.url]
            if console or others:
                raise BrowserError(f"{self.url}: console: {console}, asked for {others}")

    def call(self, method: str, **params: object) -> dict[str, Any]:
        return self.browser.call(method, self.session, **params)

    def features(self, *wishes: tuple[str, str]) -> None:
        """What the reader has asked the system for."""
        listed = [{"name": name, "value": value} for name, value in wishes]
        self.call("Emulation.setEmulatedMedia", features=listed)

    def eval(self, script: str) -> Any:
        """The value of an expression of JavaScript, or what its promise becomes."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(f"{script}: {details.get('exception', {}).get('description', 'exception')}")
        return result["result"].get("value")

    def text(self, selector: str) -> str:
        return self.eval(f"$({json.dumps(selector)}).textContent")

    def texts(self, selector: str) -> list[str]:
        return self.eval(f"$$({json.dumps(selector)}).map((one) => one.textContent)")

    def count(self, selector: str) -> int:
        return self.eval(f"$$({json.dumps(selector)}).length")

    def shows(self, selector: str) -> bool:
        return self.eval(f"$({json.dumps(selector)}).checkVisibility()")

    def until(self, script: str) -> None:
        """Waits until an expression is true, a minute at most: a machine with much else to do shows few frames."""
        deadline = time.monotonic() + 60
        while not self.eval(script):
            if time.monotonic() > deadline:
                raise BrowserError(f"never true: {script}")
            time.sleep(0.05)

    def key(self, *names: str) -> None:
        for name in names:
            key = " " if name == "Space" else name
            code = KEY_CODES.get(key, ord(key[0].upper()))
            params = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": code}
            text = {"text": KEY_TEXTS[key]} if key in KEY_TEXTS else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", **params, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", **params)

    def click(self, selector: str) -> None:
        """With the pointer, in the middle of an element."""
        box = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        x, y = self.eval(f"(({{left, right, top, bottom}}) => [(left + right) / 2, (top + bottom) / 2])({box})")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text: str) -> None:
        """Into what has the focus."""
        self.call("Input.insertText", text=text)

    def hash(self, text: str) -> None:
        """Changes what stands after the #."""
        self.eval(f"location.hash = {json.dumps(text)}; new Promise((done) => setTimeout(done, 50))")

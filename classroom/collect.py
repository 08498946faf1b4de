"""What a class handed in: a learning platform's bulk download, or a folder of any mixture -> one hand-in a student.

Nothing is unpacked and no link is followed; judge/submission.py has the limits. Every file becomes a part of a hand-in
or a warning. Two hand-ins of a student: the later one counts, and says so.

Layouts, as the platforms' sources write them (their documentation shows the buttons only):
Moodle, "Download all submissions", https://github.com/moodle/moodle/blob/main/mod/assign/classes/downloader.php
    Full Name_123456_assignsubmission_file/any/files    in folders, the default since 3.1; older ones end in _file_
    Full Name_123456_assignsubmission_file_NAME         without folders; "Group name_7_..." of a group
    The number is of this assignment ("Participant 123456"); another assignment has another one.
    The times in the zip are those of the download: files/classes/local/archive_writer/zip_writer.php sets none.
Canvas, "Download Submissions", https://github.com/instructure/canvas-lms/blob/master/lib/content_zipper.rb
    lastnamefirstname_12345_67890_NAME      letters and digits only; Canvas's user ID; the number of the file
    lastnamefirstname_LATE_12345_67890_NAME after the due date of Canvas; anon_AbC12_67890_NAME in anonymous grading
    lastnamefirstname_12345_text.html       no file, but a text or a link
    The times in the zip are those of the download, here too.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path, PurePosixPath

from judge.submission import (
    ARCHIVES,
    COPY,
    FOLDER,
    Entry,
    Unusable,
    counted,
    entries_of,
    entries_of_archive,
    entries_of_tar,
    entries_of_zip,
    is_archive,
    listed,
    one_line,
    unpack_gzip,
)

MOST_BULK = 4 << 30  # bytes of a bulk download; of a tar.gz unpacked, on the disk
MOST_IN_BULK = 200_000  # files
MOST_ARCHIVES = 20  # of one student
LEAST_TIME, MOST_TIME = 946_684_800, 4_102_444_800  # the years 2000 to 2099
MOODLE = re.compile(r"(?P<name>.+?)(?:_(?P<id>\d+))?_assignsubmission_[a-z]+(?:_(?P<file>.*))?", re.DOTALL)
CANVAS = re.compile(
    r"(?:(?P<name>(?!LATE_)[^\x00-/:-@\[-^`{-\x7f]+?)_)?(?P<late>LATE_)?(?P<id>\d{2,}|anon_[^\W_]+)_(?:(?P<number>\d{2,})_(?P<file>.+)|(?:text|link)\.html)",
    re.DOTALL,
)


class Wrong(Exception):
    """One line: what the teacher gave, and what was expected."""


@dataclass
class Student:
    name: str
    id: str = ""
    email: str = ""
    moodle: str = ""  # the number of Moodle's worksheet
    canvas: str = ""  # Canvas's user ID
    time: float | None = None  # when the platform got it
    line: int = 0  # of the roster

    def forms(self) -> set[str]:
        words = re.split(r"[\s,]+", self.name.strip())
        return {_letters("".join(words[at:] + words[:at])) for at in range(len(words))}


@dataclass
class HandIn:
    """Of one student. `label` is what the table calls it; `items` are the files and folders that it is made of."""

    label: str
    source: str = ""
    items: list[str] = field(default_factory=list)
    parts: list[Callable[[], dict[str, Entry]]] = field(default_factory=list)  # of each item its files, archives closed
    student: Student = field(default_factory=lambda: Student(""))
    platform: str = ""  # Moodle, Canvas or none
    is_late: bool = False  # so says Canvas
    is_known: bool = True  # on the roster, or there is none
    remarks: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)  # about what was in it, when it was last opened
    newest: float | None = None  # of its archive's members, then

    def __str__(self) -> str:
        return self.source

    @property
    def is_absent(self) -> bool:
        return not self.items

    def entries(self) -> dict[str, Entry]:
        """Raises Unusable."""
        found: dict[str, Entry] = {}
        for item, part in zip(self.items, self.parts):
            for name, entry in part().items():
                found[f"{item}/{name}" if name in found else name] = entry
        self.said, self.newest = [], None
        archives = [name for name in found if is_archive(name)]
        if not found:
            raise Unusable("it is empty")
        if any(name.endswith((".cu", ".cuh")) for name in found):
            return {name: entry for name, entry in found.items() if name not in archives}
        if not archives:
            names = ", ".join(list(found)[:3])
            raise Unusable(f"nothing in it that is read: {one_line(names)[:100]}; expected zip, tar.gz or .cu")
        return self._latest_of(archives, found)

    def _latest_of(self, archives: list[str], found: dict[str, Entry]) -> dict[str, Entry]:
        if len(archives) > MOST_ARCHIVES:
            raise Unusable(f"{len(archives)} archives in it, expected one, at most {MOST_ARCHIVES}")
        finds = {name: lambda name=name: entries_of_archive(name, found[name]) for name in archives}
        _, latest, self.said = _latest(finds)
        if isinstance(latest, Unusable):
            raise latest
        self.newest = newest_of(latest.values())
        inner = {PurePosixPath(name).name for name in latest}
        loose = {name: entry for name, entry in found.items() if name not in archives}
        return {**{name: each for name, each in loose.items() if name not in inner}, **latest}


def newest_of(entries: Iterable[Entry]) -> float | None:
    """Of times that may be true."""
    return max((entry.time for entry in entries if entry.time and LEAST_TIME < entry.time < MOST_TIME), default=None)


def _latest(finds: dict[str, Callable[[], dict[str, Entry]]]) -> tuple[str, dict[str, Entry] | Unusable, list[str]]:
    """Of several hand-ins of a student the one that counts: its name, its files, and what is said of each other one."""
    found: dict[str, dict[str, Entry] | Unusable] = {}
    times: dict[str, float | None] = {}
    for name, find in finds.items():
        try:
            found[name] = find() or Unusable("it is empty")
        except Unusable as error:
            found[name] = error
        times[name] = None if isinstance(found[name], Unusable) else newest_of(found[name].values())
    counts = max(found, key=lambda name: (isinstance(found[name], dict), times[name] or 0, _natural(name)))
    said = []
    for other in (name for name in sorted(found, key=_natural) if name != counts):
        how = "by its name: no time tells" if times[counts] == times[other] else "its files are newer"
        how = "its time alone is known" if times[counts] and not times[other] else how
        how = f"cannot be used: {found[other]}" if isinstance(found[other], Unusable) else how
        said.append(f"handed in twice: {counts} counts, {other} does not ({how})")
    return counts, found[counts], said


def _natural(name: str) -> list[tuple[int, str]]:
    """9 before 10."""
    return [(int(part[:18]), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", name)]


def _letters(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKC", text).casefold() if letter.isalnum())


# ---- what there is ----


def _files_of(path: Path) -> dict[str, Entry]:
    if path.is_symlink():
        raise Unusable("it is a link, expected a zip or a directory")
    if path.is_dir():
        return entries_of(path)
    if not path.is_file():
        raise Unusable("neither a directory nor a plain file")
    return {path.name: Entry(path.stat().st_size, path.read_bytes)}


def _items_of_archive(path: Path, warn: Callable[[str], None], chapters: set[str]) -> dict[str, dict[str, Entry]]:
    """By the first part of the name. Members' times are those of the download, or of whoever packed it."""

    def refuse(name: str, why: str) -> None:
        warn(f"{one_line(name)}: left out: {why}")

    if (size := path.stat().st_size) > MOST_BULK:
        raise Unusable(f"{size} bytes, expected at most {MOST_BULK}")
    file = path.open("rb")  # as long as its members may be read
    if path.name.lower().endswith(".zip"):
        members = listed(lambda: entries_of_zip(file, refuse, whole=True), MOST_IN_BULK)
    else:
        unpacked = tempfile.TemporaryFile()  # noqa: SIM115
        tar = lambda: unpack_gzip(file, unpacked, MOST_BULK)  # noqa: E731
        members = listed(lambda: entries_of_tar(tar(), refuse, MOST_IN_BULK, whole=True), MOST_IN_BULK)
    mac = "__MACOSX/"
    tops = {name.partition("/")[0] for name in members if not name.startswith(mac)}
    inner = {name if name.startswith(mac) else name.partition("/")[2]: entry for name, entry in members.items()}
    inner.pop("", None)
    of_platform = any(_platform_of(top, True) for top in tops)
    if (
        len(tops) == 1
        and all("/" in name for name in members)
        and not of_platform
        and not chapters & {name.partition("/")[0] for name in inner}
    ):
        members = inner  # a folder around it all
    items: dict[str, dict[str, Entry]] = {}
    for name, entry in members.items():
        top, _, rest = name.partition("/")
        files = items.setdefault(top, {})
        if entry is not FOLDER:
            files[rest or name] = replace(entry, time=None)
    return {
        name: {file: files[file] for _, file in counted([*files], lambda *_: None)} for name, files in items.items()
    }


def _platform_of(name: str, is_folder: bool) -> tuple[str, re.Match] | None:
    for platform, form in (("Moodle", MOODLE), ("Canvas", CANVAS)):
        match = form.fullmatch(name)
        if match and (platform == "Moodle" or not is_folder):
            return platform, match
    return None


def _hand_in(name: str, is_folder: bool, tasks: list[str]) -> tuple[object, HandIn, str] | None:
    """Which hand-in an item is of, a new one for it, and the name that a file has in it; None if it is of none."""
    if found := _platform_of(name, is_folder):
        platform, match = found
        who, number = match["name"] or "", match["id"] or ""
        hand = HandIn(f"{who}_{number}".strip("_"), platform=platform, student=Student(who, number))
        if platform == "Moodle":
            hand.student.moodle = number
        else:
            hand.is_late = bool(match["late"])
            hand.student.canvas = "" if number.startswith("anon_") else number
        file = match["file"] or name
        return (
            (platform, who, number),
            hand,
            f"{match['number']}/{file}" if platform == "Canvas" and match["number"] else file,
        )
    if not is_folder and name.endswith((".cu", ".cuh")):
        stem = name.rpartition(".")[0]
        own = (re.fullmatch(rf"(.+)[ _-]({re.escape(task)}{COPY.pattern})", stem) for task in tasks)
        match = next(filter(None, own), None)
        who = match[1] if match else name
        return ("a task's file of", who), HandIn(who), f"{match[2]}.cu" if match else name
    return (name, HandIn(name), name) if is_folder or is_archive(name) else None


def collect(
    place: Path, tasks: Iterable[str] = (), chapters: Iterable[str] = (), into: Path | None = None
) -> tuple[list[HandIn], list[str]]:
    """The hand-ins, and what was left out of them, why. Raises Wrong."""
    warnings: list[str] = []
    items: dict[str, tuple[bool, Callable[[], dict[str, Entry]]]] = {}  # is it a folder, and its files
    try:
        if place.is_dir():
            for path in sorted(place.iterdir()):
                if into is not None and os.path.realpath(path) == os.path.realpath(into):  # a link may lead to itself
                    warnings.append(f"{path.name}: left out: the results")
                else:
                    items[path.name] = (path.is_dir(), lambda path=path: _files_of(path))
        elif place.is_file() and is_archive(place.name):
            for name, entries in sorted(_items_of_archive(place, warnings.append, set(chapters)).items()):
                items[name] = (name not in entries, lambda entries=entries: entries)
        else:
            what = "a directory of zips and directories, or a bulk download (zip, tar.gz)"
            raise Wrong(f"SUBMISSIONS={place}: expected {what}")
    except (OSError, Unusable) as error:
        raise Wrong(f"SUBMISSIONS={place}: {getattr(error, 'strerror', None) or error}") from error
    if one := next((name for name, (is_folder, _) in items.items() if is_folder and name in set(chapters)), ""):
        raise Wrong(f"SUBMISSIONS={place}: is one submission: {one} is in it; SUBMISSION= grades it")
    found: dict[object, HandIn] = {}
    by_length = sorted(tasks, key=len, reverse=True)
    for name, (is_folder, find) in items.items():
        parsed = None if name[0] == "." or name == "__MACOSX" else _hand_in(name, is_folder, by_length)
        if parsed is None:
            warnings.append(f"{name}: left out: expected zips, tar.gz, directories and .cu, not hidden")
            continue
        key, hand, file = parsed
        hand = found.setdefault(key, hand)
        hand.source = hand.source or str(place / name)
        hand.items.append(name)
        hand.parts.append(find if is_folder else lambda find=find, file=file: dict.fromkeys([file], *find().values()))
    return list(found.values()), warnings


# ---- the roster ----


COLUMNS = {
    "name": ("name", "full name", "student", "student name"),
    "first": ("first name", "given name"),
    "last": ("last name", "surname", "family name"),
    "id": ("id number", "student id", "id"),
    "email": ("e-mail", "email", "e-mail address", "email address", "sis login id"),
    "moodle": ("identifier",),  # of Moodle's grading worksheet, as the next one
    "time": ("last modified (submission)", "handed in"),
}
TIMES = ("%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M", "%d %B %Y, %I:%M %p")  # Moodle's, of a site in English


def time_of(text: str) -> float:
    """Raises ValueError. Without a zone it is this machine's."""
    for form in TIMES:
        try:
            return datetime.strptime(text, form).timestamp()
        except ValueError:
            continue
    if not re.match(r"\d{4}-\d\d-\d\d[T ]\d", text):
        raise ValueError(text)
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def read_roster(path: Path) -> list[Student]:
    """A CSV file with a line of titles (name, id, e-mail, in any order; others are not read), or in that order without
    one. Moodle's grading worksheet and Canvas's export of the gradebook are such files. Raises Wrong."""
    where = f"ROSTER={path}"
    if path.exists() and not path.is_file():  # of a pipe the end may never come
        raise Wrong(f"{where}: is no plain file")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = f"cannot be read: {error.strerror}" if isinstance(error, OSError) else "is not UTF-8"
        raise Wrong(f"{where}: {why}") from error
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        for row in reader:
            rows.append((reader.line_num, [" ".join(cell.split()) for cell in row]))
    except csv.Error as error:
        raise Wrong(f"{where}:{reader.line_num}: {error}") from error
    rows = [(line, row) for line, row in rows if any(row)]
    if not rows:
        raise Wrong(f"{where}: no student in it; expected lines 'name,id,e-mail'")
    titles = [cell.casefold() for cell in rows[0][1]]
    columns = {key: [at for at, title in enumerate(titles) if title in names] for key, names in COLUMNS.items()}
    of_name = columns["name"] + columns["first"] + columns["last"] if columns["name"] else []
    for found in (of_name, *columns.values()):
        if len(found) > 1:
            there = ", ".join(f"'{titles[at]}'" for at in found)
            raise Wrong(f"{where}:1: columns {there}: expected one of them, since they may differ")
    at = {key: found[0] for key, found in columns.items() if found}
    if at:
        rows = rows[1:]
        if "name" not in at and not {"first", "last"} <= at.keys():
            raise Wrong(f"{where}:1: no column 'name'; expected name, id, e-mail")
    else:
        at, titles = {"name": 0, "id": 1, "email": 2}, ["name", "id", "e-mail"]
    return _students(where, rows, titles, at)


def _students(where: str, rows: list[tuple[int, list[str]]], titles: list[str], at: dict[str, int]) -> list[Student]:
    found: list[Student] = []
    lines: dict[tuple[str, str], int] = {}
    for line, row in rows:
        if len(row) != len(titles):
            raise Wrong(f"{where}:{line}: {len(row)} fields, expected {len(titles)}: {', '.join(titles)[:100]}")
        cell = {key: row[column] for key, column in at.items()}
        name = cell.get("name") or f"{cell.get('first', '')} {cell.get('last', '')}".strip()
        if name in ("Points Possible", "Student, Test"):  # of Canvas's export
            continue
        student = Student(name, cell.get("id", ""), cell.get("email", ""), line=line)
        student.moodle = "".join(re.findall(r"\d+$", cell.get("moodle", "")))
        student.canvas = student.id if "sis login id" in titles and "id number" not in titles else ""
        if not name:
            raise Wrong(f"{where}:{line}: no name")
        for key, value in (("id", student.id), ("e-mail", student.email)):
            if value and (other := lines.setdefault((key, value.casefold()), line)) != line:
                raise Wrong(f"{where}:{line}: {key} '{value}' is also that of line {other}")
        if (time := cell.get("time", "-")) not in ("", "-"):
            try:
                student.time = time_of(time)
            except ValueError as error:
                wanted = "2027-03-01T23:59, or Moodle's in English"
                raise Wrong(f"{where}:{line}: time '{time}', expected one such as {wanted}") from error
        found.append(student)
    if not found:
        raise Wrong(f"{where}: no student in it; expected lines 'name,id,e-mail'")
    return found


def stem(label: str) -> str:
    return next((label[: -len(end)] for end in ARCHIVES if label.lower().endswith(end)), label)


def _matches(hand: HandIn, roster: list[Student]) -> list[Student]:
    """Those it may be of: the platform's own number, then an ID or an e-mail address, then the name."""
    own, label = hand.student, stem(hand.label).casefold()
    if hand.platform == "Moodle" and (found := [each for each in roster if each.moodle and each.moodle == own.moodle]):
        return found
    if hand.platform == "Canvas" and (found := [each for each in roster if each.canvas and each.canvas == own.canvas]):
        return found
    words = {label, *re.split(r"[\s_,]+", label)}

    def has(text: str) -> bool:
        text = text.casefold()
        return bool(text) and (text == label or len(text) > 2 and (text in words or label.endswith(f"-{text}")))

    if not hand.platform and (found := [each for each in roster if has(each.id) or has(each.email)]):
        return found
    name = _letters(own.name or label)
    found = [each for each in roster if name in each.forms()]
    return found or [each for each in roster if not hand.platform and has(each.email.partition("@")[0])]


def enroll(hands: list[HandIn], roster: list[Student]) -> list[HandIn]:
    """One of each student on the roster, in its order; then those of nobody there."""
    of: dict[int, list[HandIn]] = {each.line: [] for each in roster}
    unknown = []
    for hand in hands:
        found = _matches(hand, roster)
        if len(found) == 1:
            own = hand.student
            hand.student = replace(found[0], moodle=found[0].moodle or own.moodle, canvas=found[0].canvas or own.canvas)
            of[found[0].line].append(hand)
        else:
            hand.is_known = False
            several = ", ".join(f"line {each.line}" for each in found)
            hand.remarks.append(f"fits several on the roster: {several}" if found else "not on the roster")
            unknown.append(hand)
    return [*(_later_of(of[each.line], each) for each in roster), *unknown]


def _later_of(hands: list[HandIn], student: Student) -> HandIn:
    if len(hands) < 2:
        return next(iter(hands), HandIn("", student=student, remarks=["not handed in"]))
    of = {hand.items[0]: hand for hand in hands}
    counts, _, said = _latest({name: hand.entries for name, hand in of.items()})
    later = of[counts]
    later.remarks += said
    return later


# ---- late ----


@dataclass
class Deadline:
    due: float | None = None
    percent: float = 0  # of the points, for each day that has begun

    @classmethod
    def of(cls, due: str | None, penalty: str | None) -> Deadline:
        """Raises Wrong."""
        match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]+)?)%/day", "0%/day" if penalty is None else penalty)
        if not match or float(match[1]) > 100:
            raise Wrong(f"PENALTY={penalty}: expected a part of the points, for example 10%/day")
        if penalty is not None and due is None:
            raise Wrong("PENALTY= needs DUE=, for example DUE=2027-03-01T23:59")
        try:
            return cls(None if due is None else time_of(due), float(match[1]))
        except ValueError as error:
            raise Wrong(f"DUE={due}: expected a date and a time, for example 2027-03-01T23:59") from error

    def judged(self, hand: HandIn) -> tuple[str, str, str, float]:
        """When it was handed in, by which clock, is it late, and which share of the points stays."""
        time, clock = hand.student.time, "roster"
        if time is None:
            time, clock = hand.newest, "archive"
        shown = datetime.fromtimestamp(time).strftime("%Y-%m-%d %H:%M") if time is not None else ""
        if hand.is_absent:
            return "", "", "", 1.0
        by_canvas = hand.platform == "Canvas" and hand.student.time is None
        if self.due is None or by_canvas:
            late = ("yes, days not known" if hand.is_late else "no") if by_canvas else ""
            return shown, "Canvas" if late else clock if shown else "", late, 1.0
        if time is None:
            return "", "", "not known", 1.0
        days = math.ceil((time - self.due) / 86400)
        late = "no" if days <= 0 else "1 day" if days == 1 else f"{days} days"
        return shown, clock, late, max(0.0, 1 - self.percent / 100 * max(0, days))

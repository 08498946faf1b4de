"""A submission: a directory, a zip or tar.gz, or single files -> the regions of its tasks, and remarks about them.

What counts is the text between a task's two marker lines, wherever its file lies. A file named ID.cu without markers,
such as 04.update.cu, is a region as it stands; of its copies, ID-2.cu or "ID (2).cu", that of the highest number.
Nothing is unpacked and no link is followed. What makes a whole submission unusable (no zip, a path that leaves it)
raises Unusable, one line; all else costs only itself.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import struct
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NoReturn

from lib.tasks import BEGIN, END, NOT_TEXT

# A place in a message, before it is said in the lines of a submission: @@[ID/]NAME:LINE@@.
PLACE = re.compile(r"@@(?:([\w.-]+)/)?([\w.-]+):(\d{1,9})@@")
UNTITLED = re.compile(r"([ \t]*)// task ([^\s:]+)[ \t]*$")  # as BEGIN, without the ": title"
# What Canvas adds to the name of a file that is handed in again, and a browser to that of one that is there already.
COPY = re.compile(r"(?:-([0-9]{1,4}))?(?: ?\(([0-9]{1,4})\))?")
ARCHIVES = (".zip", ".tar.gz", ".tgz")
MOST_ARCHIVE = 64 << 20  # of a tar.gz also unpacked
MOST_FILES = 20_000
MOST_TEXT = 256 << 10
MOST_SOURCES = 16 << 20
MOST_REMARKS = 30
# (my: a learner's own exercises, tools/own.)
LEFT_ALONE = frozenset(
    (".git", "build", "__MACOSX", "classroom", "common", "simcc", "tests", "tools", "plots", "gpu", "my")
)


class Unusable(Exception):
    """One line."""


@dataclass(frozen=True)
class Region:
    """What a submission has of one task. `line`: of its first line in `file`, the student's own."""

    text: str
    file: str
    line: int

    @cached_property
    def words(self) -> list[str]:
        return self.text.split()


@dataclass
class Submission:
    regions: dict[str, Region] = field(default_factory=dict)  # by the task's ID
    markers: dict[tuple[str, str, str], int] = field(default_factory=dict)  # (file, "task" or "end", ID): its line
    problems: dict[str, str] = field(default_factory=dict)  # file: why it was not read
    remarks: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)  # sources that are of no task, or were not read; remarks name them
    altered: set[str] = field(default_factory=set)  # files that differ from those handed out outside of the tasks
    others: dict[str, str] = field(
        default_factory=dict
    )  # task: what is in the file of its name, which has not its lines
    texts: dict[str, str] = field(default_factory=dict)  # predictions.txt, WORKLOG.md, class.tsv

    @property
    def checksum(self) -> str:
        """Of all that grading knows of it."""
        own = (self.regions, self.markers, self.problems, self.others, self.texts)
        known = repr((*(sorted(each.items()) for each in own), self.remarks, sorted(self.altered)))
        return hashlib.sha256(known.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True)
class Entry:
    size: int
    read: Callable[[], bytes]
    problem: str = ""
    time: float | None = None  # of an archive's member


FOLDER = Entry(0, bytes, "is a folder")  # of an archive; its name ends in "/"


def readable(text: str) -> str:
    """What no terminal should see becomes "?"."""
    text = os.fsencode(text).decode("utf-8", "replace")
    return re.sub(r"[^\t\n -~\xa0-\ud7ff\ue000-\ufffd]", "?", text)


def one_line(text: str) -> str:
    return " ".join(readable(text).split())


def copy_of(stem: str, known: Iterable[str]) -> tuple[str, tuple[int, int]]:
    """The task whose own file this is, "" if it is of none, and the numbers of a copy."""
    for task in known:
        if stem.startswith(task) and (match := COPY.fullmatch(stem, len(task))):
            return task, (int(match[1] or 0), int(match[2] or 0))
    return "", (0, 0)


def markers_of(text: str) -> dict[tuple[str, str], int]:
    """{("task" or "end", ID): its line}"""
    found: dict[tuple[str, str], int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if match := BEGIN.match(line):
            found.setdefault(("task", match[2]), number)
        elif match := END.match(line):
            found.setdefault(("end", match[1]), number)
    return found


# ---- what there is ----


def _entries_of_directory(path: Path) -> Iterator[tuple[str, Entry]]:
    if not os.access(path, os.R_OK | os.X_OK):
        raise Unusable("this directory cannot be read")
    for directory, names, files in os.walk(path):
        around = directory == str(path) and names[1:] == files == []  # a folder around it all may have any name
        names[:] = sorted(name for name in names if around or name not in LEFT_ALONE)  # links are not followed
        for at in (Path(directory, name) for name in sorted(files)):
            status = at.lstat()
            link = "is a link, expected a file" if stat.S_ISLNK(status.st_mode) else "is no plain file"
            problem = "" if stat.S_ISREG(status.st_mode) else link
            yield at.relative_to(path).as_posix(), Entry(status.st_size, at.read_bytes, problem)


def _refuse(name: str, why: str) -> NoReturn:
    raise Unusable(f"refused: '{one_line(name)}' {why}")


def counted(names: list[str], refuse: Callable[[str, str], object], whole: bool = False) -> list[tuple[int, str]]:
    """The members of an archive that count, by their place in it: not those that leave it, nor (unless `whole`) what
    lies in folders left alone."""
    names = [name.replace("\\", "/") for name in names]
    around = len({name.partition("/")[0] for name in names} - {"__MACOSX"}) == 1
    found = []
    for at, name in enumerate(names):
        parts = PurePosixPath(name).parts
        if re.search(r"^/|(?:^|/)\.\.(?:/|$)|^[A-Za-z]:", name):
            refuse(name, "leaves the archive")
        elif parts and (whole or not LEFT_ALONE.intersection(parts[around:-1]) and parts[0] != "__MACOSX"):
            found.append((at, str(PurePosixPath(*parts))))
    return found


def _name_in_zip(info: zipfile.ZipInfo) -> str:
    """Canvas and macOS write UTF-8 without the flag that says so; Python then reads the bytes as code page 437."""
    if not info.flag_bits & 0x800:
        try:
            return info.filename.encode("cp437").decode("utf-8")
        except ValueError:
            pass
    return info.filename


def _time_in_zip(info: zipfile.ZipInfo) -> float | None:
    """Seconds, of UTC if they are there, else of this machine's zone."""
    extra = info.extra
    while len(extra) >= 9:
        kind, size = struct.unpack("<HH", extra[:4])
        if kind == 0x5455 and size >= 5 and extra[4] & 1:
            return float(struct.unpack("<i", extra[5:9])[0])
        extra = extra[4 + size :]
    try:
        return time.mktime((*info.date_time, 0, 0, -1)) if info.date_time[0] > 1980 else None
    except (ValueError, OverflowError):
        return None


def entries_of_zip(
    file: BinaryIO, refuse: Callable[[str, str], object] = _refuse, whole: bool = False
) -> Iterator[tuple[str, Entry]]:
    """`refuse` is told the members that a link or a path leads out of the archive; it may raise. `whole`: of a class,
    in which a folder may be that of a student who handed in nothing."""
    archive = zipfile.ZipFile(file)
    members = archive.infolist()
    if whole and min((info.header_offset for info in members), default=0):  # Python takes a zip in it for it
        raise Unusable("a damaged zip file: its end is missing")
    for at, name in counted([_name_in_zip(info) for info in members], refuse, whole):
        info = members[at]
        if stat.S_ISLNK(info.external_attr >> 16):
            refuse(name, "is a link, expected files only")
            continue
        if info.is_dir():
            if whole:
                yield f"{name}/", FOLDER
            continue

        def read(info: zipfile.ZipInfo = info) -> bytes:
            with archive.open(info) as file:
                return file.read(info.file_size)

        problem = "is encrypted" if info.flag_bits & 1 else ""
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # of others Python unpacks all at once
            problem = f"is packed by method {info.compress_type}, expected deflate"
        yield name, Entry(info.file_size, read, problem, _time_in_zip(info))


def unpack_gzip(file: BinaryIO, into: BinaryIO, most: int) -> BinaryIO:
    """Raises Unusable past `most` bytes."""
    size, unpacker = 0, zlib.decompressobj(31)
    while chunk := unpacker.unconsumed_tail or file.read(1 << 16):
        part = unpacker.decompress(chunk, 1 << 20)
        size += len(part)
        if size > most:
            raise Unusable(f"more than {most} bytes when it is unpacked")
        into.write(part)
        if unpacker.eof:
            break
    if not unpacker.eof:
        raise Unusable("a damaged tar.gz file")
    into.seek(0)
    return into


def entries_of_tar(
    file: BinaryIO, refuse: Callable[[str, str], object] = _refuse, most: int | None = None, whole: bool = False
) -> Iterator[tuple[str, Entry]]:
    archive, members = tarfile.open(fileobj=file, mode="r:"), []  # noqa: SIM115
    for info in archive:
        if len(members) == (most or MOST_FILES):
            raise Unusable(f"more than {most or MOST_FILES} files in it")
        members.append(info)
    for at, name in counted([info.name for info in members], refuse, whole):
        info = members[at]
        if info.issym() or info.islnk():
            refuse(name, "is a link, expected files only")
        elif info.isdir():
            if whole:
                yield f"{name}/", FOLDER
        else:

            def read(info: tarfile.TarInfo = info) -> bytes:
                return archive.extractfile(info).read()

            yield name, Entry(info.size, read, "" if info.isreg() else "is no plain file", float(info.mtime))


def is_archive(name: str) -> bool:
    return name.lower().endswith(ARCHIVES)


def _found_in_archive(name: str, size: int, read: Callable[[], bytes]) -> Iterator[tuple[str, Entry]]:
    if size > MOST_ARCHIVE:
        raise Unusable(f"{size} bytes, expected at most {MOST_ARCHIVE}; hand in only the files that are asked for")
    content = read()
    if name.lower().endswith(ARCHIVES[1:]) and content[:2] == b"\x1f\x8b":
        return entries_of_tar(unpack_gzip(io.BytesIO(content), io.BytesIO(), MOST_ARCHIVE))
    if content.count(b"PK\1\2") > MOST_FILES:  # each entry begins so, whatever number the end of the file says
        raise Unusable(f"more than {MOST_FILES} files in it")
    return entries_of_zip(io.BytesIO(content))


def listed(find: Callable[[], Iterator[tuple[str, Entry]]], most: int | None = None) -> dict[str, Entry]:
    """Raises Unusable, and nothing else."""
    entries: dict[str, Entry] = {}
    try:
        for name, entry in find():
            if len(entries) == (most or MOST_FILES):
                raise Unusable(f"more than {most or MOST_FILES} files in it")
            entries[name] = entry
    except Unusable:
        raise
    except Exception as error:  # zipfile and tarfile raise a dozen kinds for a damaged table of contents
        why = "cannot be read" if isinstance(error, (OSError, RecursionError)) else "a damaged zip file"
        why = "a damaged tar.gz file" if isinstance(error, (tarfile.TarError, zlib.error)) else why
        no_zip = "not a zip file" in str(error)
        raise Unusable("not a zip file (nor a directory)" if no_zip else why) from error
    return entries


def entries_of_archive(name: str, entry: Entry) -> dict[str, Entry]:
    if entry.problem:
        raise Unusable(f"{one_line(name)} {entry.problem}")
    return listed(lambda: _found_in_archive(name, entry.size, entry.read))


def entries_of(path: Path) -> dict[str, Entry]:
    """What lies in a directory, an archive, or is a task's own file."""
    if not path.exists():
        raise Unusable("no such file or directory")
    if not path.is_dir() and not path.is_file():
        raise Unusable("neither a directory nor a plain file")
    if path.is_dir():
        return listed(lambda: _entries_of_directory(path))
    entry = Entry(path.stat().st_size, path.read_bytes)
    return {path.name: entry} if path.suffix in (".cu", ".cuh") else entries_of_archive(path.name, entry)


def entries_in(path: Path) -> dict[str, Entry]:
    """Of one submission."""
    entries = entries_of(path)
    archives = [name for name in entries if is_archive(name)]
    if path.is_dir() and len(archives) == 1 and not any(name.endswith((".cu", ".cuh")) for name in entries):
        entries = entries_of_archive(archives[0], entries[archives[0]])  # a learning platform's folder of one student
    if not entries:
        raise Unusable("it is empty")
    return entries


def _text_of(entry: Entry) -> str:
    """Raises ValueError, why it has none."""
    if entry.problem:
        raise ValueError(entry.problem)
    if entry.size > MOST_TEXT:
        raise ValueError(f"has {entry.size} bytes, expected at most {MOST_TEXT}")
    try:
        content = entry.read()
    except Exception as error:  # zipfile and zlib raise a dozen kinds for a damaged member
        raise ValueError("cannot be read" if isinstance(error, OSError) else "is damaged in the zip") from error
    if b"\0" in content:
        raise ValueError(NOT_TEXT)
    if not content.strip():
        raise ValueError("is empty")
    text = content.decode("utf-8", errors="replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n")  # line ends of other systems are no mistake


# ---- regions ----


@dataclass
class _Reader:
    """Puts together a submission from its files. `given`: {"04_fa1/paper.cu": its text as it was handed out}."""

    given: Mapping[str, str]
    known: frozenset[str]  # the tasks
    untouched: Callable[[str, str], bool]  # (ID, text): is it as it was handed out?
    others: frozenset[str] = frozenset()  # names of the course's files without a task
    submission: Submission = field(default_factory=Submission)

    def remark(self, text: str) -> None:
        text, remarks = one_line(text[:300]), self.submission.remarks
        if len(remarks) < MOST_REMARKS and text not in remarks:
            remarks.append(text)

    def not_read(self, place: str, why: str) -> None:
        self.submission.unread.append(one_line(place))
        self.remark(f"{place} {why}")

    def place_of(self, name: str) -> str:
        """The handed-out file that this one is, "04_fa1/paper.cu", or its own name."""
        path = PurePosixPath(name)
        own = "/".join(path.parts[-2:])
        same = [place for place in self.given if PurePosixPath(place).name == path.name]
        if own not in self.given and not re.match(r"\d\d_\w+$", path.parent.name):
            own = same[0] if len(same) == 1 else name
        return own[-200:].replace("@@", "??")  # a name is no place in a message

    def add(self, task: str, region: Region) -> None:
        old = self.submission.regions.setdefault(task, region)
        if old.words == region.words:
            return
        if self.untouched(task, old.text):
            self.submission.regions[task], old, region = region, region, old
        self.remark(f"{task}: not the same in {old.file} and {region.file}; {old.file} counts")

    def is_passed_over(self, path: PurePosixPath) -> bool:
        """A hidden file, and one of the course without a task."""
        chapters = {part for part in path.parts if re.fullmatch(r"\d\d_\w+", part)}
        elsewhere = chapters and not chapters & {place.partition("/")[0] for place in self.given}
        return path.name[0] == "." or path.name in self.others or bool(elsewhere)

    def read_source(self, name: str, text: str) -> None:
        path = PurePosixPath(name)
        place, (stem, _) = self.place_of(name), copy_of(path.stem, self.known)
        if stem and "// task " not in text:
            self.add(stem, Region(text, place, 1))
            return
        for marker, line in markers_of(text).items():
            self.submission.markers.setdefault((place, *marker), line)
        outside = list(self.take_regions(place, text))
        markers = self.markers_of(text) if stem or place not in self.given else {}
        if stem and ("task", stem) not in markers:
            there = ", ".join(dict.fromkeys(each for _, each in markers)) or "another task"
            self.submission.others.setdefault(stem, one_line(f"{place} has lines of {there}, and not of {stem}")[:300])
        if place not in self.given:
            if not stem and not markers and not self.is_passed_over(path):
                self.not_read(
                    place, f"is no file of a task, and was not read: expected a name such as {min(self.known)}.cu"
                )
            return
        expected = [line for _, line in _Reader({}, self.known, self.untouched).take_regions("", self.given[place])]
        for (number, line), other in zip([*outside, (text.count("\n") + 1, "")], [*expected, ""]):
            if line != other:
                self.submission.altered.add(place)
                self.remark(
                    f"{place}:{number}: changed outside of the tasks: only what lies between their lines counts"
                )
                return

    def begins(self, line: str, task: str) -> re.Match | None:
        """Of a known task the title may be missing; within a region that is a comment."""
        match = BEGIN.match(line) or (UNTITLED.match(line) if not task else None)
        return match if match and (":" in match[0] or match[2] in self.known) else None

    def markers_of(self, text: str) -> dict[tuple[str, str], int]:
        """As markers_of, with those that have no title."""
        untitled = ((line, UNTITLED.match(line)) for line in text.split("\n"))
        known = {("task", match[2]): 0 for _, match in untitled if match and match[2] in self.known}
        return {**known, **markers_of(text)}

    def take_regions(self, place: str, text: str) -> Iterator[tuple[int, str]]:
        """Adds the regions of a file. Yields its other lines, numbered, without blanks and comments."""
        task, first, lines = "", 0, []
        for number, line in enumerate([*text.split("\n"), None], 1):
            begin, end = (self.begins(line, task), END.match(line)) if line is not None else (None, None)
            if task and not (end and end[1] == task) and (begin or end or line is None):
                self.remark(f"{place}:{first - 1}: '// task {task}: ...' without its '// end {task}'")
                task = ""
            if begin or end:
                marker = ("task", begin[2]) if begin else ("end", end[1])
                if marker[1] not in self.known:
                    self.remark(f"{place}:{number}: there is no task '{marker[1]}'")
                elif end and task:
                    self.add(task, Region("".join(lines), place, first))
                task, first, lines = begin[2] if begin else "", number + 1, []
                yield number, " ".join(marker)
            elif task:
                lines.append(line + "\n")
            elif line and (bare := re.sub(r"\s+|//.*", "", line)):
                yield number, bare


def read_entries(
    entries: Mapping[str, Entry],
    given: Mapping[str, str],
    known: frozenset[str],
    untouched: Callable[[str, str], bool],
    others: frozenset[str] = frozenset(),
) -> Submission:
    """`given`: {"04_fa1/paper.cu": its text as handed out}; `known`: the tasks; `others`: names of files of the course
    that have none. Raises Unusable."""
    reader = _Reader(given, known, untouched, others)
    submission, size = reader.submission, 0

    def rank(name: str) -> tuple[object, ...]:
        """The first one counts: of copies the last one."""
        _, (again, copy) = copy_of(PurePosixPath(name).stem, known)
        return -again, -copy, name.count("/"), name

    for name in sorted(entries, key=rank):
        base, place = PurePosixPath(name).name, reader.place_of(name)
        is_source, meant = base.endswith((".cu", ".cuh")), base.casefold().removesuffix(".txt")
        if not is_source and meant.endswith((".cu", ".cuh")):
            reader.not_read(place, f"was not read: expected a name such as {meant}")
        if not is_source and (base not in ("predictions.txt", "WORKLOG.md", "class.tsv") or base in submission.texts):
            continue
        try:
            size += entries[name].size if entries[name].size <= MOST_TEXT else 0  # others are not read
            if size > MOST_SOURCES:
                raise Unusable(f"its sources have more than {MOST_SOURCES} bytes")
            text = _text_of(entries[name])
            if is_source:
                reader.read_source(name, text)
            else:
                submission.texts[base] = text
        except ValueError as error:
            submission.problems[place if is_source else base] = str(error)
            if place in given or is_source and not reader.is_passed_over(PurePosixPath(name)):
                reader.not_read(place, str(error))
    if not submission.regions and not any(place in given for place in submission.problems):
        unread = [f"; {name} {why}" for name, why in submission.problems.items() if name.endswith((".cu", ".cuh"))]
        unread += [f"; {remark}" for remark in submission.remarks]
        expected = "expected files with '// task ID: ...' and '// end ID', or ID.cu"
        raise Unusable(f"no region of a task is in it: {expected}{one_line(next(iter(unread), ''))}")
    return submission

"""gdb for kernels on the simulated device: cuda-gdb's words, for what simcc -g has built.

    cuda block (1,0,0) thread (5,0,0)    looks at that thread: its frames, its variables, threadIdx
    cuda                                 which one that is
    info cuda threads                    who stands at which line, who waits where
    info cuda blocks, info cuda kernels  what else runs
    break row.cu:12 if threadIdx.x == 5 && blockIdx.x == 1

A program names this file, and gdb loads it where it may (`add-auto-load-safe-path`); or: gdb -x gdb.py PROGRAM.
Threads of a block are fibers on one thread of the CPU: of those that do not run, what they have saved is shown, and the
registers are put back before anything goes on. One block runs at a time (SIM_THREADS=1), so that `next` meets no other.

Of the engine and of simcc's headers nothing is shown: `step` skips them, `bt` leaves them out (not with -no-filters),
`up` ends at the kernel.
"""

import os
import re

import gdb
from gdb.FrameDecorator import FrameDecorator

HOME = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
SKIPPED = [f"{HOME}/{folder}/" for folder in ("engine", "include")]
SAVED = {  # where sim_fiber_switch() has left a register of a thread that waits, from its stack pointer
    "i386:x86-64": (
        {"r15": 0, "r14": 8, "r13": 16, "r12": 24, "rbx": 32, "rbp": 40, "rip": 48},
        ("rsp", 56),
    ),
    "aarch64": ({**{f"x{19 + i}": 8 * i for i in range(12)}, "pc": 88}, ("sp", 160)),
}
# By enum lane_state.
STATES = ("is ready", "is ready", "waits for its block", "waits for its warp", "waits for its warp", "has left")
AT_BARRIER, LEFT = 2, 5
BEFORE_IT = "has not begun"
RUNS_ON = "run start starti continue next step finish until advance jump signal stepi nexti kill detach".split()


def value(expression):
    return gdb.parse_and_eval(expression)


def set_registers(values):
    gdb.newest_frame().select()
    for name, held in values.items():
        value(f"${name} = {held}")


class Focus:
    """The thread of the device that is looked at, where it is not the one that runs."""

    lane = None
    registers = {}  # those of the one that runs, while another's are shown

    @classmethod
    def put_back(cls):
        if cls.registers:
            set_registers(cls.registers)
        cls.registers, cls.lane = {}, None


def running():
    """The thread that runs on the selected thread of the CPU, or None."""
    try:
        lane = value("sim_lane")
        return lane if int(lane) else None
    except gdb.error:  # before the program's own threads have variables
        return None


def focus():
    return Focus.lane or running()


def three(vector):
    return tuple(int(vector[axis]) for axis in "xyz")


def written(position):
    return "({},{},{})".format(*position)


def block_of_the_worker():
    """The worker that runs a block, on whichever thread of the CPU that is; it is selected."""
    if Focus.lane is not None:
        return Focus.lane["worker"]
    for thread in filter(None, [gdb.selected_thread(), *gdb.selected_inferior().threads()]):
        thread.switch()
        lane = running()
        if lane is not None:
            return lane["worker"]
    raise gdb.GdbError("no kernel is running")


def lanes(worker):
    return [worker["lanes"][number] for number in range(int(worker["thread_count"]))]


def place_of(lane):
    """Where a thread stands: the call it waits in, or its last access."""
    if lane["state"] in (2, 3, 4):
        site = int(lane["site"])
    elif int(lane["window"]["count"]):
        site = int(lane["window"]["keys"][int(lane["window"]["count"]) - 1]) & ((1 << 24) - 1)
    else:
        return BEFORE_IT if not int(lane["entered"]) else "its beginning"
    record = value(f"((struct sim_site *)&__start_sim_sites)[{site - 1}]")
    return f"{record['file'].string()}:{int(record['line'])}"


def how(lane, now):
    """What a thread does, and where; `now` is the one that runs."""
    if now is not None and int(lane["number"]) == int(now["number"]):
        return "runs"
    state, place = int(lane["state"]), place_of(lane)
    if state == LEFT or place == BEFORE_IT:
        return STATES[LEFT] if state == LEFT else BEFORE_IT
    if state == AT_BARRIER and not int(lane["warp"]["at_barrier"]) >> int(lane["index"]) & 1:
        return f"has passed the barrier at {place}"
    return f"{STATES[state]} at {place}"


def is_own(frame):
    """Is it of the program's own code, on the device or on the host?"""
    found = frame.find_sal().symtab
    if found is None:
        return frame.pc() != 0 and not re.match(r"sim[._[]", frame.name() or "")
    return not os.path.realpath(found.fullname()).startswith(tuple(SKIPPED))


def to_the_kernel():
    """Selects the innermost frame of the program's own code."""
    frame = gdb.newest_frame()
    while frame is not None and not is_own(frame):
        frame = frame.older()
    if frame is not None:
        frame.select()


def is_last(frame, beside):
    """Does the program's code in the kernel end with this frame?"""
    return focus() is not None and is_own(frame) and beside is not None and not is_own(beside)


def is_first(frame):
    return is_last(frame, frame.older())


def leaves(frame):
    """Does the thread leave its kernel on this line?"""
    if not is_first(frame):
        return False
    line = frame.architecture().disassemble(frame.pc(), frame.find_sal().last or frame.pc())
    return any("sim_leave" in each["asm"] for each in line)


class Leaves(gdb.Command):
    """Before gdb's command of that name: an error where it would leave the device's own code."""

    ENDS = "the thread leaves its kernel on this line: `continue`, or `tbreak` where another one is to stop"
    WHERE = {
        "up": (is_first, "Initial frame selected; you cannot go up."),
        "down": (lambda frame: is_last(frame, frame.newer()), "Bottom (innermost) frame selected; you cannot go down."),
        "finish": (is_first, "a kernel has no caller: `continue`, or `tbreak` where to stop"),
        "next": (lambda _: leaves(gdb.newest_frame()), ENDS),
        "step": (lambda _: leaves(gdb.newest_frame()), ENDS),
    }

    def __init__(self, word):
        self.would, self.reason = self.WHERE[word]
        super().__init__(f"cuda-before-{word}", gdb.COMMAND_OBSCURE)

    def invoke(self, _text, _from_tty):
        if running() is not None and self.would(gdb.selected_frame()):
            raise gdb.GdbError(self.reason)


class Named(FrameDecorator):
    """Without the types of the parameters, as gdb's own frames are."""

    def function(self):
        name = super().function()
        return re.sub(r"\([^()]*(\([^()]*\)[^()]*)*\)( const)?$", "", name) if isinstance(name, str) else name


class OwnFrames:
    """What `bt` shows."""

    name, enabled, priority = "simcc", True, 100

    @staticmethod
    def filter(frames):
        return (Named(each) for each in frames if is_own(each.inferior_frame()))


class Dynamic:
    """Dynamic shared arrays, of which there is no debug information: found by their declarations in the source."""

    DECLARED = re.compile(
        r"^([ \t]*)extern\s+__shared__\s+(?:(?:__align__|alignas)\s*\(\w+\)\s*)?([^;()]*?)(\w+)\s*\[\s*\]\s*;", re.M
    )
    names = ()

    @classmethod
    def update(cls, _event=None):
        for name in cls.names:
            gdb.execute(f"macro undef {name}")
        cls.names = ()
        try:
            found = cls.seen_from(gdb.selected_frame())
        except (gdb.error, OSError):
            return
        for name, kind, size in found:
            gdb.execute(f"macro define {name} (*(({kind} *)sim_dynamic_shared)@({size} / sizeof({kind})))")
        cls.names = tuple(name for name, _, _ in found)

    @classmethod
    def seen_from(cls, frame):
        place, function, lane = frame.find_sal(), frame.function(), focus()
        if not (lane and function and place.symtab):
            return []
        with open(place.symtab.fullname(), encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
        outside, inside = (
            "\n".join(part) for part in (lines[: function.line - 1], lines[function.line - 1 : place.line])
        )
        size = int(lane["worker"]["launch"]["request"]["dynamic_shared_bytes"])
        found = {name: kind for column, kind, name in cls.DECLARED.findall(outside) if not column}
        found.update({name: kind for _, kind, name in cls.DECLARED.findall(inside)})
        return [(name, kind.strip(), size) for name, kind in found.items()]


class Cuda(gdb.Command):
    """cuda [block (X,Y,Z)] [thread (X,Y,Z)]: looks at that thread of the kernel; without words, says which it is."""

    def __init__(self):
        super().__init__("cuda", gdb.COMMAND_RUNNING)

    PLACE = r"\(\s*\d+(?:\s*,\s*\d+){0,2}\s*\)|\d+(?:\s*,\s*\d+){0,2}"

    def invoke(self, text, _from_tty):
        if not re.fullmatch(rf"\s*((block|thread)\s*({self.PLACE})?\s*)*", text):
            raise gdb.GdbError("cuda: expected block (X,Y,Z) thread (X,Y,Z)")
        wanted = {word: self.position(place) for word, place in re.findall(rf"(block|thread)\s*({self.PLACE})", text)}
        worker = block_of_the_worker()
        block = three(worker["block"])
        if wanted.get("block", block) != block:
            raise gdb.GdbError(f"block {written(wanted['block'])} does not run now; {written(block)} does")
        if "thread" in wanted:
            found = [lane for lane in lanes(worker) if three(lane["thread"]) == wanted["thread"]]
            if not found:
                raise gdb.GdbError(f"the block has no thread {written(wanted['thread'])}")
            self.look_at(found[0])
        lane = focus()
        print(f"block {written(block)}, thread {written(three(lane['thread']))}")
        gdb.execute("frame")

    @staticmethod
    def position(text):
        numbers = [int(number) for number in re.findall(r"\d+", text)]
        return tuple((numbers + [0, 0, 0])[:3])

    @staticmethod
    def look_at(lane):
        Focus.put_back()
        now = running()
        if now is not None and int(now["number"]) == int(lane["number"]):
            to_the_kernel()
            return
        if int(lane["state"]) == LEFT or place_of(lane) == BEFORE_IT:
            raise gdb.GdbError(f"thread {written(three(lane['thread']))} {how(lane, running())}")
        saved, (stack_pointer, room) = SAVED[gdb.selected_frame().architecture().name()]
        at = int(lane["fiber"]["stack_pointer"])
        gdb.newest_frame().select()
        Focus.registers = {name: int(value(f"(unsigned long)${name}")) for name in [*saved, stack_pointer]}
        shown = {name: int(value(f"*(unsigned long *){at + offset}")) for name, offset in saved.items()}
        set_registers({**shown, stack_pointer: at + room})
        Focus.lane = lane
        to_the_kernel()
        Dynamic.update()


class InfoCuda(gdb.Command):
    """info cuda threads: where the threads of the running block stand; info cuda blocks, kernels: which one runs."""

    def __init__(self):
        super().__init__("info cuda", gdb.COMMAND_STATUS)

    def invoke(self, text, _from_tty):
        shows = {"threads": self.threads, "blocks": self.blocks, "kernels": self.kernels}.get(text.strip() or "threads")
        if not shows:
            raise gdb.GdbError("info cuda: expected threads, blocks or kernels")
        shows(block_of_the_worker())

    @staticmethod
    def kernels(worker):
        request = worker["launch"]["request"]
        grid, block = (written(three(request[size])) for size in ("grid", "block"))
        print(f"* {request['name'].string()}<<<{grid}, {block}>>>, launch {int(request['number'])}")

    @staticmethod
    def blocks(worker):
        before, all_of_them = int(worker["block_order"]), int(worker["launch"]["block_total"])
        print(f"* {written(three(worker['block']))} runs")
        print(f"  {before} ended before it, {all_of_them - before - 1} not begun")

    @staticmethod
    def threads(worker):
        now, chosen, groups = running(), focus(), []
        for lane in lanes(worker):
            if not groups or groups[-1][2] != how(lane, now):
                groups.append((lane, lane, how(lane, now)))
            groups[-1] = (groups[-1][0], lane, groups[-1][2])
        print(f"block {written(three(worker['block']))}")
        for first, last, stands in groups:
            here = "*" if int(first["number"]) <= int(chosen["number"]) <= int(last["number"]) else " "
            span = written(three(first["thread"]))
            span += f" to {written(three(last['thread']))}" if int(first["number"]) != int(last["number"]) else ""
            print(f"{here} {span} {stands}")


class ThreadIdx(gdb.Function):
    """Where the threadIdx of the thread that is looked at lies."""

    def __init__(self):
        super().__init__("cuda_thread")

    def invoke(self):
        lane = focus()
        if lane is None:
            raise gdb.GdbError("threadIdx: no kernel is running here")
        return int(lane["thread"].address)


class PutBack(gdb.Command):
    def __init__(self):
        super().__init__("cuda-put-back", gdb.COMMAND_OBSCURE)

    def invoke(self, _text, _from_tty):
        Focus.put_back()


def has_exited(_event):
    Focus.registers, Focus.lane = {}, None


gdb.events.exited.connect(has_exited)
gdb.events.stop.connect(Dynamic.update)
gdb.frame_filters[OwnFrames.name] = OwnFrames
for folder in SKIPPED:
    for depth in ("*", "*/*", "*/*/*"):
        gdb.execute(f"skip -gfi {folder}{depth}", to_string=True)
Cuda(), InfoCuda(), ThreadIdx(), PutBack()
for word in Leaves.WHERE:
    Leaves(word)
for word in (*RUNS_ON, *Leaves.WHERE):
    hook = ["cuda-put-back"] * (word in RUNS_ON) + [f"cuda-before-{word}"] * (word in Leaves.WHERE)
    gdb.execute("\n".join([f"define hook-{word}", *hook, "end"]))
for name, meaning in {
    # gdb wants the type of what it does not evaluate, too: behind a condition that is false.
    "threadIdx": "(*(uint3 *)$cuda_thread())",
    "blockIdx": "sim_builtin_block",
    "blockDim": "sim_builtin_block_dim",
    "gridDim": "sim_builtin_grid_dim",
}.items():
    gdb.execute(f"macro define {name} {meaning}")
# With LC_ALL=C no name of a file beyond ASCII could be read.
if "currently ANSI" in gdb.execute("show host-charset", to_string=True):
    gdb.execute("set charset UTF-8")
gdb.execute("set environment SIM_THREADS=1")
gdb.execute("handle SIGURG nostop noprint pass", to_string=True)

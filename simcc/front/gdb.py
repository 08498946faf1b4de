"""gdb for kernels on the simulated device: cuda-gdb's words, for what simcc -g has built.

    cuda block (1,0,0) thread (5,0,0)    looks at that thread: its frames, its variables, threadIdx
    cuda                                 which one that is
    info cuda threads                    who stands at which line, who waits where
    break row.cu:12 if threadIdx.x == 5 && blockIdx.x == 1

A program names this file, and gdb loads it where it may (`add-auto-load-safe-path`); or: gdb -x gdb.py PROGRAM.
Threads of a block are fibers on one thread of the CPU: of those that do not run, what they have saved is shown, and the
registers are put back before anything goes on. One block runs at a time (SIM_THREADS=1), so that `next` meets no other.
"""

import re

import gdb

SAVED = {  # where sim_fiber_switch() has left a register of a thread that waits, from its stack pointer
    "i386:x86-64": (
        {"r15": 0, "r14": 8, "r13": 16, "r12": 24, "rbx": 32, "rbp": 40, "rip": 48},
        ("rsp", 56),
    ),
    "aarch64": ({**{f"x{19 + i}": 8 * i for i in range(12)}, "pc": 88}, ("sp", 160)),
}
# By enum lane_state.
STATES = ("is ready", "is ready", "waits for its block", "waits for its warp", "waits for its warp", "has left")
LEFT = 5
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
    lane = value("sim_lane")
    return lane if int(lane) else None


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
    return f"{STATES[state]} at {place}"


def to_the_kernel():
    """Selects the innermost frame of the program's own code."""
    frame = gdb.newest_frame()
    while frame is not None:
        found = frame.find_sal().symtab
        if found and not re.search(r"/simcc/engine/|/engine/(run|count|check|api)/", found.fullname()):
            frame.select()
            return
        frame = frame.older()


class Cuda(gdb.Command):
    """cuda [block (X,Y,Z)] [thread (X,Y,Z)]: looks at that thread of the kernel; without words, says which it is."""

    def __init__(self):
        super().__init__("cuda", gdb.COMMAND_RUNNING)

    def invoke(self, text, _from_tty):
        wanted = {word: self.position(place) for word, place in re.findall(r"(block|thread)\s*\(?([\d\s,]+)\)?", text)}
        if not wanted and text.strip():
            raise gdb.GdbError("cuda: expected block (X,Y,Z) thread (X,Y,Z)")
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


class InfoCuda(gdb.Command):
    """info cuda threads: where the threads of the running block stand."""

    def __init__(self):
        super().__init__("info cuda", gdb.COMMAND_STATUS)

    def invoke(self, text, _from_tty):
        if text.strip() not in ("", "threads"):
            raise gdb.GdbError("info cuda: expected threads")
        worker = block_of_the_worker()
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
Cuda(), InfoCuda(), ThreadIdx(), PutBack()
for word in RUNS_ON:
    gdb.execute(f"define hook-{word}\ncuda-put-back\nend")
for name, meaning in {
    # gdb wants the type of what it does not evaluate, too: behind a condition that is false.
    "threadIdx": "(*(uint3 *)$cuda_thread())",
    "blockIdx": "sim_builtin_block",
    "blockDim": "sim_builtin_block_dim",
    "gridDim": "sim_builtin_grid_dim",
}.items():
    gdb.execute(f"macro define {name} {meaning}")
gdb.execute("set environment SIM_THREADS=1")
gdb.execute("handle SIGURG nostop noprint pass", to_string=True)

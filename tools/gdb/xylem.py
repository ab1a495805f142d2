# SPDX-License-Identifier: BSD-3-Clause
"""gdb commands for programs that Xylem's mpiexec runs; `xylem gdb` loads them.

    info ranks              what every rank does, and where
    rank N                  go to rank N, whether it runs or waits
    rank apply LIST|all CMD run a gdb command in each of these ranks
    $_rank()                the rank of the selected thread, -1 where there is none

All ranks live in one process. One that runs is a thread; one that waits is a fiber: its registers
lie on its stack. An unwinder shows them to gdb below the innermost frame of the thread that would
run the fiber, and a frame filter hides that frame.
"""
import atexit
import os
import re
import shutil
import struct
import tempfile

import gdb
from gdb.unwinder import Unwinder, register_unwinder

STATES = ("waiting", "ready", "running", "sleeping", "ended")
SHT_SYMTAB, STT_OBJECT = 2, 1
BEFORE_INIT, RUNNING, FINALIZED = range(3)

# The fields of the table `xylem_debug` (src/launch/debug.c), and of the one it leads to.
FIELDS = ("version", "job", "job_size", "job_ranks", "rank_bytes", "rank_fiber", "rank_phase",
          "rank_call_name", "rank_call_caller", "rank_process", "process_ended",
          "process_exit_code", "process_image", "process_program", "program_stride", "fiber",
          "images")
FIBER_FIELDS = ("fiber_state", "fiber_low", "fiber_high", "fiber_context", "fiber_worker",
                "worker_thread")

# What a context holds: (register, offset), and how far the stack pointer is above it afterwards.
CONTEXTS = {
    "i386:x86-64": ([("rip", 56), ("rbp", 48), ("rbx", 40), ("r12", 32), ("r13", 24), ("r14", 16),
                     ("r15", 8)], "rsp", 64),
    "aarch64": ([("pc", 8), ("x29", 0), ("x30", 8)]
                + [(f"x{19 + i}", 16 + 8 * i) for i in range(10)], "sp", 176),
}


def read(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def word(address):
    return struct.unpack("@Q", read(address, 8))[0]


def integer(address):
    return struct.unpack("@i", read(address, 4))[0]


def text(address, limit=256):
    found = b""
    while b"\0" not in found and len(found) < limit:
        found += read(address + len(found), 16)
    return found.split(b"\0")[0].decode("ascii", "replace")


class Layout:
    """Where things are in the stopped process; gdb.error when it is no job of Xylem's."""

    def __init__(self):
        try:
            if not gdb.selected_inferior().threads():
                raise gdb.error("nothing runs")
            table = int(gdb.parse_and_eval("(unsigned long)&xylem_debug"))
            values = struct.unpack(f"@{len(FIELDS)}Q", read(table, 8 * len(FIELDS)))
        except gdb.error as error:
            raise gdb.GdbError("No ranks: this process is no job of Xylem's mpiexec, or has not "
                               "started.") from error
        self.__dict__.update(zip(FIELDS, values))
        if self.version != 1:
            raise gdb.GdbError("This script belongs to another version of Xylem than the program.")
        values = struct.unpack(f"@{len(FIBER_FIELDS)}Q", read(self.fiber, 8 * len(FIBER_FIELDS)))
        self.__dict__.update(zip(FIBER_FIELDS, values))
        job = word(self.job)
        if job == 0:
            raise gdb.GdbError("No ranks: the job has not started.")
        self.size = integer(job + self.job_size)
        self.ranks = word(job + self.job_ranks)


class Rank:
    """What the memory says of one rank."""

    def __init__(self, layout, number):
        at = layout.ranks + number * layout.rank_bytes
        fiber, process = word(at + layout.rank_fiber), word(at + layout.rank_process)
        name = word(at + layout.rank_call_name)
        self.number = number
        self.phase = integer(at + layout.rank_phase)
        self.call = text(name) if name else None
        self.caller = word(at + layout.rank_call_caller)
        self.is_started = fiber != 0 and process != 0
        if not self.is_started:
            return
        self.has_ended = read(process + layout.process_ended, 1) != b"\0"
        self.exit_code = integer(process + layout.process_exit_code)
        self.image = word(process + layout.process_image)
        self.image_end = self.image + word(word(process + layout.process_program)
                                           + layout.program_stride)
        self.state = read(fiber + layout.fiber_state, 1)[0]
        self.low = word(fiber + layout.fiber_low)
        self.high = word(fiber + layout.fiber_high)
        self.context = word(fiber + layout.fiber_context)
        self.thread = word(word(fiber + layout.fiber_worker) + layout.worker_thread)

    def is_own(self, address):
        """Is it an address in the program, as this rank runs it?"""
        return self.image <= address < self.image_end


class Threads:
    """Who runs on which thread, by stack pointers; the selection is put back."""

    def __init__(self):
        self.by_stack, self.by_handle = [], {}
        with Selection():
            View.current = None
            for thread in gdb.selected_inferior().threads():
                if not thread.is_valid() or thread.is_running():
                    continue
                thread.switch()
                frame = gdb.newest_frame()
                self.by_stack.append((int(frame.read_register("sp")) & (1 << 64) - 1, thread))
                try:
                    self.by_handle[int.from_bytes(thread.handle(), "little")] = thread
                except gdb.error:
                    pass

    def of(self, rank):
        """The thread that has the rank's frames; None: it is parked."""
        for stack, thread in self.by_stack:
            if rank.low <= stack < rank.high:
                return thread
        if rank.state == STATES.index("running"): # on the stack of a signal handler
            return self.by_handle.get(rank.thread)
        return None

    def worker(self, rank):
        return self.by_handle.get(rank.thread) or self.by_stack[0][1]


class View:
    """A parked rank, shown below the innermost frame of a thread."""
    current = None

    def __init__(self, rank, thread):
        thread.switch()
        frame = gdb.newest_frame()
        name = frame.architecture().name()
        if name not in CONTEXTS:
            raise gdb.GdbError(f"Waiting ranks cannot be shown on {name}.")
        saved, stack, above = CONTEXTS[name]
        self.rank, self.ptid = rank, thread.ptid
        self.at = (int(frame.read_register("pc")), int(frame.read_register("sp")))
        self.registers = [(register, word(rank.context + offset)) for register, offset in saved]
        self.registers.append((stack, rank.context + above))

    def hides(self, frame):
        """Is it the thread's own innermost frame (or one inlined there)?"""
        return (int(frame.read_register("pc")), int(frame.read_register("sp"))) == self.at

    @staticmethod
    def show(view):
        View.current = view
        gdb.invalidate_cached_frames()

    @staticmethod
    def active():
        view, thread = View.current, gdb.selected_thread()
        return view if view and thread and thread.ptid == view.ptid else None


def local_copy(path, directory):
    """A copy of a program in which variables are local symbols: gdb takes a global one from the
    first object that has a symbol of its name, which is always the first rank's."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    start, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    for header in range(start, start + size * count, size):
        kind, = struct.unpack_from("<I", data, header + 4)
        offset, length = struct.unpack_from("<QQ", data, header + 24)
        for symbol in range(offset, offset + length, 24) if kind == SHT_SYMTAB else ():
            if data[symbol + 4] & 15 == STT_OBJECT:
                data[symbol + 4] = STT_OBJECT
    name = os.path.join(directory, f"{len(os.listdir(directory))}-{os.path.basename(path)}")
    with open(name, "wb") as file:
        file.write(data)
    return name


def shown_images(layout):
    """(address, file) of every image that debuggers know."""
    entry, images = word(word(layout.images) + 8), []
    while entry:
        address, name, _, entry = struct.unpack("@4Q", read(entry, 32))
        images.append((address, text(name, 4096)))
    return images


def load_local_copies():
    """After gdb has attached, or opened a core file: read the images from such copies. A program
    that gdb started has them already (src/process/image/debug_copy.c)."""
    images = shown_images(Layout())
    files = {name for _, name in images}
    if not files or any(name.startswith("/proc/") or not os.path.exists(name) for name in files):
        return
    directory = tempfile.mkdtemp(prefix="xylem-gdb-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    copies = {name: local_copy(name, directory) for name in files}
    others = {objfile.filename for objfile in gdb.objfiles()} - files
    gdb.execute("set auto-solib-add off", to_string=True)
    gdb.execute("nosharedlibrary", to_string=True)
    for name in others:
        gdb.execute("sharedlibrary " + re.sub("[^A-Za-z0-9_/-]", ".", name), to_string=True)
    for address, name in images:
        gdb.execute(f"add-symbol-file {copies[name]} -o {address:#x}", to_string=True)


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class ParkedUnwinder(Unwinder):
    def __init__(self):
        super().__init__("xylem-waiting-ranks")

    def __call__(self, pending):
        view = View.active()
        if not view or not view.hides(pending):
            return None
        word_type = gdb.lookup_type("unsigned long")
        info = pending.create_unwind_info(FrameId(gdb.Value(view.rank.context), gdb.Value(view.at[0])))
        for name, value in view.registers:
            info.add_saved_register(name, gdb.Value(value).cast(word_type))
        return info


class ParkedFilter:
    """Leaves out the frames of the thread that shows a parked rank."""
    name, enabled, priority = "xylem-waiting-ranks", True, 100

    def filter(self, frames):
        view = View.active()
        if not view:
            return frames
        return (frame for frame in frames if not view.hides(frame.inferior_frame()))


class Selection:
    """`with Selection():` puts thread, frame and view back afterwards."""

    def __enter__(self):
        self.thread, self.view = gdb.selected_thread(), View.current
        try:
            self.level = gdb.selected_frame().level()
        except gdb.error:
            self.level = 0

    def __exit__(self, *_):
        View.show(self.view)
        if not self.thread or not self.thread.is_valid():
            return
        self.thread.switch()
        frame = gdb.newest_frame()
        while frame.level() < self.level and frame.older():
            frame = frame.older()
        frame.select()


def program_frame(rank):
    """The innermost frame of the program; the innermost of all where there is none."""
    view = View.active()
    frame = first = gdb.newest_frame()
    while frame and view and view.hides(frame):
        frame = first = frame.older()
    for _ in range(200):
        if frame is None:
            break
        if rank.is_own(frame.pc()):
            return frame
        frame = frame.older()
    return first or gdb.newest_frame()


def enter(rank, threads):
    """Select the rank: its thread, or a view of its registers; then the program's frame."""
    View.show(None)
    thread = threads.of(rank)
    if thread:
        thread.switch()
    else:
        View.show(View(rank, threads.worker(rank)))
    program_frame(rank).select()


def is_reachable(rank, threads):
    return rank.is_started and not rank.has_ended and (threads.of(rank) or rank.context)


def state_of(rank, threads):
    if not rank.is_started or (not rank.context and not threads.of(rank)):
        return "not started"
    if rank.has_ended:
        return f"ended with {rank.exit_code}"
    return STATES[rank.state]


def call_of(rank):
    if rank.call:
        return rank.call
    return {BEFORE_INIT: "before MPI_Init", FINALIZED: "after MPI_Finalize"}.get(rank.phase, "")


def describe(address, known):
    """`function at file:line`; `known` is a rank whose code gdb has symbols of."""
    block = None
    for _ in range(2):
        line = gdb.find_pc_line(address)
        if line.symtab:
            break
        address = known(address)
    try:
        block = gdb.block_for_pc(address)
    except RuntimeError:
        pass
    while block and not block.function:
        block = block.superblock
    name = block.function.name if block and block.function else None
    if not line.symtab:
        return name or "??"
    return (f"{name} at " if name else "") + f"{line.symtab.filename}:{line.line}"


def place_of(rank, threads, first):
    """Where the program is: by the call it is in, or by its frames."""
    def known(address):
        return address - rank.image + first.image if rank.is_own(address) else address

    if not is_reachable(rank, threads):
        return ""
    if rank.call and rank.is_own(rank.caller - 1):
        return describe(rank.caller - 1, known)
    with Selection():
        enter(rank, threads)
        frame = gdb.selected_frame()
        return describe(frame.pc() - (1 if frame.level() > 0 else 0), known)


def rank_of_selection():
    """(layout, number) of the rank whose view or thread is selected; number is None where none is."""
    layout = Layout()
    view = View.active()
    if view:
        return layout, view.rank.number
    stack = int(gdb.newest_frame().read_register("sp")) & (1 << 64) - 1
    for number in range(layout.size):
        rank = Rank(layout, number)
        if rank.is_started and not rank.has_ended and rank.low <= stack < rank.high:
            return layout, number
    return layout, None


def parse_ranks(words, size):
    if words == "all":
        return list(range(size))
    chosen = []
    for part in words.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if not match:
            raise gdb.GdbError(f"'{words}' is no list of ranks; write it like 0-3,8, or all.")
        first, last = int(match[1]), int(match[2] or match[1])
        if first > last or last >= size:
            raise gdb.GdbError(f"There is no rank {max(first, last)}: the job has {size}, counted "
                               "from 0.")
        chosen += range(first, last + 1)
    return chosen


class InfoRanks(gdb.Command):
    """What every rank does: its state, its MPI call and the place in the program.
Usage: info ranks [LIST]
LIST is like 0-3,8. The selected rank has a *."""

    def __init__(self):
        super().__init__("info ranks", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        layout, selected = rank_of_selection()
        threads, first = Threads(), Rank(layout, 0)
        rows = [("", "Rank", "State", "MPI call", "Place")]
        for number in parse_ranks(argument.strip() or "all", layout.size):
            rank = Rank(layout, number)
            rows.append(("*" if number == selected else "", str(number), state_of(rank, threads),
                         call_of(rank), place_of(rank, threads, first)))
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        for row in rows:
            gdb.write(" ".join([row[i].ljust(widths[i]) for i in range(4)] + [row[4]]).rstrip() + "\n")


class RankCommand(gdb.Command):
    """Select a rank by its number in MPI_COMM_WORLD, or print which one is selected.
Usage: rank [N]
The frame is the innermost one of the program. A rank that waits has no next line: 'continue' runs
the job, and leaves it."""

    def __init__(self):
        super().__init__("rank", gdb.COMMAND_RUNNING, prefix=True)

    def invoke(self, argument, from_tty):
        if not argument.strip():
            self.say()
            return
        layout = Layout()
        numbers = parse_ranks(argument.strip(), layout.size)
        if len(numbers) != 1:
            raise gdb.GdbError("One rank at a time; 'rank apply LIST COMMAND' visits several.")
        threads, rank = Threads(), Rank(layout, numbers[0])
        if not is_reachable(rank, threads):
            raise gdb.GdbError(f"Rank {rank.number} has no frames: {state_of(rank, threads)}.")
        enter(rank, threads)
        gdb.write(f"[Switching to rank {title(rank, threads)}]\n")
        gdb.execute("frame")

    def say(self):
        layout, number = rank_of_selection()
        if number is None:
            gdb.write("[No rank runs on this thread]\n")
        else:
            gdb.write(f"[Current rank is {title(Rank(layout, number), Threads())}]\n")


def title(rank, threads):
    call = call_of(rank)
    return f"{rank.number} ({state_of(rank, threads)}{', ' if call else ''}{call})"


class RankApply(gdb.Command):
    """Run a gdb command in several ranks.
Usage: rank apply LIST|all COMMAND
LIST is like 0-3,8. Ranks that have ended are left out; an error in one does not end the others."""

    def __init__(self):
        super().__init__("rank apply", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        words = argument.strip().split(None, 1)
        if len(words) != 2:
            raise gdb.GdbError("Usage: rank apply LIST|all COMMAND")
        layout, threads = Layout(), Threads()
        with Selection():
            for number in parse_ranks(words[0], layout.size):
                rank = Rank(layout, number)
                if not is_reachable(rank, threads):
                    continue
                enter(rank, threads)
                gdb.write(f"\nRank {title(rank, threads)}:\n")
                try:
                    gdb.execute(words[1])
                except gdb.error as error:
                    gdb.write(f"{error}\n")


class RankFunction(gdb.Function):
    """The rank of the selected thread, for conditions: break solve if $_rank() == 3. -1: none."""

    def __init__(self):
        super().__init__("_rank")

    def invoke(self):
        try:
            number = rank_of_selection()[1]
        except gdb.GdbError: # no job yet: 'break main' stops in mpiexec's own main, too
            number = None
        return -1 if number is None else number


def refuse_steps():
    """Called before commands that run a thread to a line: a parked rank has none to go to."""
    view = View.active()
    if view:
        raise gdb.GdbError(f"Rank {view.rank.number} waits: it cannot be stepped. 'continue' runs "
                           "the job; 'info ranks' shows which ranks run.")


def install():
    InfoRanks()
    RankCommand()
    RankApply()
    RankFunction()
    register_unwinder(None, ParkedUnwinder(), replace=True)
    gdb.frame_filters[ParkedFilter.name] = ParkedFilter()
    gdb.events.cont.connect(lambda event: setattr(View, "current", None))
    gdb.events.exited.connect(lambda event: setattr(View, "current", None))
    for command in ("step", "next", "finish", "until", "advance", "stepi", "nexti"):
        gdb.execute(f"define hook-{command}\npython refuse_steps()\nend")
    gdb.execute("set breakpoint pending on") # rank code is loaded by mpiexec
    try:
        load_local_copies()
    except (gdb.error, gdb.GdbError):
        pass # nothing runs yet
    except (OSError, struct.error) as error:
        gdb.write(f"Variables that are not static are shown as the first rank has them: {error}\n")


install()

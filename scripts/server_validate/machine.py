"""What else the machine did, from /proc, and how this program keeps out of a server's way."""

import contextlib
import os

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
LOAD_CORE, MODEL_CORE = 0, 1


def stat():
    """Ticks of all processors: used, stolen, all."""
    with open("/proc/stat", encoding="utf8") as file:
        fields = [int(field) for field in file.readline().split()[1:9]]
    return sum(fields) - fields[3] - fields[4], fields[7], sum(fields)


def own_ticks():
    """By process: those of this program and of all that it started and that still run."""
    parents, used = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", encoding="utf8") as file:
            fields = file.read().rpartition(")")[2].split()
            parents[int(name)], used[int(name)] = int(fields[1]), int(fields[11]) + int(fields[12])

    def is_own(pid):
        while pid not in (0, os.getpid()):
            pid = parents.get(pid, 0)
        return pid != 0

    return {pid: ticks for pid, ticks in used.items() if is_own(pid)}


class Watch:
    """From its making: the shares of all processors' time that the host stole, and that others used."""

    def __init__(self):
        self.before, self.own = stat(), own_ticks()

    def shares(self):
        used, stolen, whole = (after - before for after, before in zip(stat(), self.before))
        # A model that was loaded before may end meanwhile: what it used then counts as others'.
        own = sum(ticks - self.own.get(pid, 0) for pid, ticks in own_ticks().items())
        return stolen / max(whole, 1), max(0, used - stolen - own) / max(whole, 1)


def can_be_real_time():
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except PermissionError:
        return False
    return True


def stay_awake():
    """Cores do not sleep until this is closed: a core that sleeps wakes late, and sleeps more while it is profiled than
    under load. None where the system does not allow it."""
    try:
        file = open("/dev/cpu_dma_latency", "wb", buffering=0)
        file.write(bytes(4))
    except OSError:
        return None
    return file


@contextlib.contextmanager
def in_front():
    """This thread runs on the load's core, before all else where the system allows it."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {LOAD_CORE})
    is_real_time = can_be_real_time()
    if is_real_time:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(6))
    try:
        yield
    finally:
        if is_real_time:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, cores)

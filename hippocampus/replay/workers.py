"""Work on many files in local processes, or on Ray: one result per file, as it is done.

Files are a stream: the largest of a thousand comes first, and no more are kept. The work itself is
not known here.
"""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Literal, NoReturn, TypeVar

from hippocampus.errors import HippocampusError, RecordingError
from hippocampus.replay.readers import RecordedFile

T = TypeVar("T")
File = TypeVar("File", bound=RecordedFile)
Engine = Literal["processes", "ray"]
SMALL_BYTES = 2_000_000
"""Less work is done in this process: others would take longer to start."""
MAX_WAITING = 1_000
"""The number of files of which the largest comes first."""
KILLED = "its process was killed twice, as it is where memory is short"
CGROUPS = Path("/sys/fs/cgroup")


def available_cores() -> int:
    """Return the number of usable cores: by the process's affinity and its container's limit."""
    usable = getattr(os, "sched_getaffinity", None)
    limits = [len(usable(0)) if usable else os.cpu_count() or 1]
    # Linux limits the control groups of this process, and those that they are in.
    groups = [CGROUPS, CGROUPS / "cpu"]
    for line in _read("/proc/self/cgroup").splitlines():
        _, controllers, own = line.split(":", 2)
        if not controllers or "cpu" in controllers.split(","):
            groups.append(CGROUPS / ("cpu" if controllers else "") / own.strip("/"))
    outer = {folder for group in groups for folder in (group, *group.parents)}
    for folder in filter(lambda folder: folder.is_relative_to(CGROUPS), outer):
        old = (_read(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
        for limit in (_read(folder / "cpu.max"), " ".join(old)):
            match limit.split():
                case [quota, period] if quota.isdecimal():
                    limits.append(int(quota) // int(period))
    return max(1, min(limits))


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text("ascii")
    except OSError:
        return ""


def no_result(file: RecordedFile) -> NoReturn:
    """Raise a `RecordingError`: a file has no result."""
    raise RecordingError(str(file), KILLED)


def over_files(
    files: Iterable[File],
    work: Callable[[File], T],
    *,
    jobs: int | None = None,
    engine: Engine = "processes",
    lost: Callable[[File], T] = no_result,
) -> Iterator[T]:
    """Yield what `work` returns for a file as it is done.

    `jobs` is the number of processes, by default `available_cores()`. Where a process is killed, its
    file is worked on once more; where that is killed too, `lost` gives the result.

    Raises:
        HippocampusError: Ray is not installed.
        RecordingError: a file has no result, and `lost` is not given.
    """
    stream = iter(files)
    chunks = iter(lambda: list(itertools.islice(stream, MAX_WAITING)), [])
    ordered = (file for chunk in chunks for file in sorted(chunk, key=size_of, reverse=True))
    if engine == "ray":
        yield from _on_ray(ordered, work, jobs, lost)
        return
    jobs = jobs or available_cores()
    first, size = list[File](), 0
    while size < SMALL_BYTES and (file := next(ordered, None)):
        first.append(file)
        size += size_of(file)
    whole = itertools.chain(first, ordered)
    if jobs == 1 or size < SMALL_BYTES:
        yield from map(work, whole)
    else:
        yield from _over_processes(whole, work, jobs, lost)


def size_of(file: RecordedFile) -> int:
    """Return the bytes of a file; 0 where it is gone."""
    if not isinstance(file, Path):
        return file.size
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _end_with_parent() -> None:
    """End this process after the one that asked for it, which may be killed in the middle of a file."""

    def wait_for_parent() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
            os._exit(1)

    threading.Thread(target=wait_for_parent, daemon=True).start()


def _over_processes(
    files: Iterator[File], work: Callable[[File], T], jobs: int, lost: Callable[[File], T]
) -> Iterator[T]:
    # A pool breaks as a whole where one process is killed, so each process is a pool of its own.
    # None is forked from this process, which has threads; they are from one that has our modules.
    names = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in names else "spawn")
    context.set_forkserver_preload(["hippocampus.replay.run"])
    new_pool = functools.partial(ProcessPoolExecutor, 1, context, initializer=_end_with_parent)
    free = [new_pool() for _ in range(jobs)]

    def result(file: File) -> T:
        for _ in range(2):
            pool = free.pop()
            try:
                return pool.submit(work, file).result()
            except BrokenProcessPool:
                pool.shutdown(wait=False)
                pool = new_pool()
            finally:
                free.append(pool)
        return lost(file)

    threads = ThreadPoolExecutor(jobs)  # each waits for a process
    running = {threads.submit(result, file) for file in itertools.islice(files, jobs)}
    try:
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {threads.submit(result, file) for file in itertools.islice(files, len(done))}
            yield from (future.result() for future in done)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for pool in free:
            pool.shutdown(wait=False, cancel_futures=True)


def _on_ray(
    files: Iterator[File], work: Callable[[File], T], jobs: int | None, lost: Callable[[File], T]
) -> Iterator[T]:
    """Run on the cluster of `RAY_ADDRESS`, or on one that is started here and ends with the files."""
    try:
        import ray
    except ImportError as missing:
        reason = "--engine ray needs Ray: pip install 'hippocampus-context[ray]'"
        raise HippocampusError(reason) from missing
    is_ours = not ray.is_initialized()
    if is_ours:
        cores = None if "RAY_ADDRESS" in os.environ else jobs or available_cores()
        ray.init(num_cpus=cores, include_dashboard=False, log_to_driver=False)
    task = ray.remote(max_retries=1)(lambda file: work(file))  # noqa: PLW0108 - Ray takes no partial
    running: dict[object, File] = {}
    try:
        limit = jobs or int(ray.cluster_resources()["CPU"])
        while True:
            for file in itertools.islice(files, limit - len(running)):
                running[task.remote(file)] = file
            if not running:
                return
            for done in ray.wait(list(running))[0]:
                file = running.pop(done)
                try:
                    result = ray.get(done)
                except ray.exceptions.WorkerCrashedError:
                    result = lost(file)
                yield result
    finally:
        if is_ours:
            ray.shutdown()

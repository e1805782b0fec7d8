"""Runners: the same steps, the same answers and errors, whatever the store and the world."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zarr.abc.store import RangeByteRequest, Store
from zarr.buffer.cpu import Buffer
from zarr.runners import asynchronous, choose
from zarr.runners import sync as resources
from zarr.runners.asynchronous import AsyncRunner, LoopRunner
from zarr.runners.choose import async_runner_for, runner_for
from zarr.runners.inline import InlineRunner
from zarr.runners.locks import table as lock_table
from zarr.runners.sync import SyncError, sync
from zarr.settings import config
from zarr.steps.requests import (
    Await,
    Delete,
    DeletePrefix,
    Gather,
    Get,
    GetRanges,
    Hold,
    List,
    ListDir,
    Put,
    PutIfAbsent,
    Size,
    Steps,
    Transfer,
)
from zarr.storage import LocalStore, MemoryStore, WrapperStore, ZipStore

B = Buffer.from_bytes
Run = Callable[[Store, Steps[Any]], Any]


class SlowStore(WrapperStore[Any]):
    """Has coroutines only, as far as the library can see; counts what is under way."""

    def __init__(self, store: Store, delay: float = 0.0) -> None:
        super().__init__(store)
        self.delay = delay
        self.now = self.most = self.gets = 0
        self.fail_on: str | None = None

    @property
    def synchronous(self) -> bool:
        return False

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        self.now += 1
        self.gets += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(self.delay)
            if key == self.fail_on:
                raise ConnectionError(f"lost {key}")
            return await super().get(key, prototype, byte_range)
        finally:
            self.now -= 1


def run_inline(store: Store, steps: Steps[Any]) -> Any:
    return InlineRunner(store).run(steps)  # type: ignore[arg-type]


def run_async(store: Store, steps: Steps[Any]) -> Any:
    return asyncio.run(AsyncRunner(store).run(steps))


def run_loop(store: Store, steps: Steps[Any]) -> Any:
    return LoopRunner(store).run(steps)


WORLDS: list[Any] = [
    pytest.param(lambda _: MemoryStore(), run_inline, id="inline-memory"),
    pytest.param(LocalStore, run_inline, id="inline-local"),
    pytest.param(lambda path: ZipStore(path / "a.zip", mode="w"), run_inline, id="inline-zip"),
    pytest.param(lambda path: MemoryStore(), run_async, id="async-memory"),
    pytest.param(LocalStore, run_async, id="async-local"),
    pytest.param(lambda path: SlowStore(MemoryStore()), run_async, id="async-coroutines"),
    pytest.param(lambda path: SlowStore(LocalStore(path)), run_loop, id="loop-local"),
    pytest.param(lambda path: MemoryStore(), run_loop, id="loop-memory"),
]




@pytest.fixture(params=[p.values for p in WORLDS], ids=[p.id for p in WORLDS])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Steps[Any]], Any]:
    make, runner = request.param
    store = make(tmp_path)
    return lambda steps: runner(store, steps)


def raw(value: Any) -> Any:
    return None if value is None else value.to_bytes()


def test_every_request(run: Callable[[Steps[Any]], Any]) -> None:
    def steps() -> Steps[list[Any]]:
        seen: list[Any] = []
        yield Put("a/x", B(b"0123456789"))
        yield Put("a/b/y", B(b"1"))
        seen.append(raw((yield Get("a/x"))))
        seen.append(raw((yield Get("a/x", RangeByteRequest(2, 4)))))
        seen.append(raw((yield Get("nope"))))
        ranges = [RangeByteRequest(0, 1), RangeByteRequest(8, 10)]
        seen.append([raw(part) for part in (yield GetRanges("a/x", ranges))])
        seen.append((yield GetRanges("nope", ranges)))
        seen.append((yield PutIfAbsent("a/x", B(b"no"))))
        seen.append((yield PutIfAbsent("a/z", B(b"yes"))))
        seen.append((yield Size("a/x")))
        seen.append((yield Size("nope")))
        seen.append(sorted((yield List("a"))))
        seen.append(sorted((yield List(""))))
        seen.append(sorted((yield ListDir("a"))))
        seen.append(sorted((yield ListDir("nope"))))
        seen.append((yield Delete("a/z")))
        seen.append((yield DeletePrefix("a/b")))
        seen.append(sorted((yield List(""))))
        return seen

    assert run(steps()) == [
        b"0123456789", b"23", None, [b"0", b"89"], None, False, True, 10, None,
        ["a/b/y", "a/x", "a/z"], ["a/b/y", "a/x", "a/z"], ["b", "x", "z"], [], None, None, ["a/x"],
    ]  # fmt: skip


def test_gather_keeps_order_and_draws_lazily(run: Callable[[Steps[Any]], Any]) -> None:
    drawn: list[int] = []

    def child(number: int) -> Steps[int]:
        yield Put(f"k/{number}", B(b"x"))
        inner = yield Gather([leaf(number)])
        return int(inner[0])

    def leaf(number: int) -> Steps[int]:
        yield Get(f"k/{number}")
        return number * 10

    def children() -> Iterator[Steps[int]]:
        for number in range(300):
            drawn.append(number)
            yield child(number)

    def steps() -> Steps[Any]:
        empty = yield Gather([])
        return empty, (yield Gather(children()))

    assert run(steps()) == ([], [n * 10 for n in range(300)])
    assert drawn == list(range(300))


def test_errors_are_thrown_in_and_may_be_handled(run: Callable[[Steps[Any]], Any]) -> None:
    def steps() -> Steps[str]:
        try:
            yield Put("a", b"no buffer")  # type: ignore[arg-type]
        except TypeError as error:
            caught = type(error).__name__
        yield Put("a", B(b"1"))
        return caught

    assert run(steps()) == "TypeError"


def test_errors_keep_their_type_and_notes(run: Callable[[Steps[Any]], Any]) -> None:
    closed: list[str] = []

    def child(number: int) -> Steps[None]:
        try:
            yield Get("a")
            if number == 3:
                try:
                    yield Put("b", 5)  # type: ignore[arg-type]
                except TypeError as error:
                    error.add_note(f"while writing {number}")
                    raise
            yield Get("a")
        finally:
            closed.append("child")

    def steps() -> Steps[None]:
        try:
            yield Gather(child(number) for number in range(10))
        finally:
            closed.append("parent")

    with pytest.raises(TypeError) as caught:
        run(steps())
    assert caught.value.__notes__ == ["while writing 3"]
    assert closed[-1] == "parent"


def test_a_generator_that_never_yields(run: Callable[[Steps[Any]], Any]) -> None:
    def steps() -> Steps[int]:
        if False:
            yield Get("a")
        return 5

    assert run(steps()) == 5


def test_what_is_no_request_is_an_error(run: Callable[[Steps[Any]], Any]) -> None:
    def steps() -> Steps[None]:
        yield "Get me a value"

    with pytest.raises(TypeError, match="no request"):
        run(steps())


def test_await_runs_coroutines_of_others(run: Callable[[Steps[Any]], Any]) -> None:
    async def codec(value: int) -> int:
        await asyncio.sleep(0)
        return await asyncio.to_thread(lambda: value + 1)

    async def broken() -> None:
        raise KeyError("inside")

    def steps() -> Steps[Any]:
        answers = [(yield Await(lambda: codec(1)))]
        try:
            yield Await(broken)
        except KeyError as error:
            answers.append(error.args[0])
        answers += yield Gather(one(number) for number in range(5))
        return answers

    def one(number: int) -> Steps[int]:
        return (yield Await(lambda: codec(number)))

    assert run(steps()) == [2, "inside", 1, 2, 3, 4, 5]


class Job:
    """Stands for a job of the core: notes what it was given."""

    def __init__(self, count: int) -> None:
        self.found: dict[int, Any] = {}
        self.count = count
        self.lock = threading.Lock()

    def stop(self) -> None:
        """There is no work that goes on."""

    def from_files(self, root: str, keys: Any) -> None:
        with self.lock:
            for index, name in enumerate(keys.keys(None)):
                path = Path(root) / name
                self.found[index] = path.read_bytes() if path.exists() else None

    def from_buffers(self, payloads: Any, first: int) -> None:
        with self.lock:
            for index, payload in enumerate(payloads):
                self.found[first + index] = None if payload is None else bytes(payload)

    def to_files(self, root: str, keys: Any, fsync: bool) -> None:
        with self.lock:
            for index, name in enumerate(keys.keys(None)):
                payload = self.encode(index, 1)[0]
                path = Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                if payload is None:
                    path.unlink(missing_ok=True)
                else:
                    path.write_bytes(payload)

    def encode(self, first: int, count: int) -> list[bytes | None]:
        return [b"%d" % n if n % 3 else None for n in range(first, first + count)]


class Keys:
    prefix = ""

    def __init__(self, count: int) -> None:
        self.count = count

    def keys(self, coords: Any) -> list[str]:
        return [f"c/{number}" for number in range(self.count)]


@pytest.mark.parametrize("count", [1, 5, 200])
@pytest.mark.parametrize("nbytes", [0, 64 << 20])
def test_transfers(run: Callable[[Steps[Any]], Any], count: int, nbytes: int) -> None:
    def steps() -> Steps[tuple[Job, list[str]]]:
        yield Put("c/0", B(b"to be deleted"))
        yield Transfer(Job(count), "write", Keys(count), None, count=count, nbytes=nbytes)
        job = Job(count)
        yield Transfer(job, "read", Keys(count), None, count=count, nbytes=nbytes)
        return job, (yield List(""))

    job, keys = run(steps())
    assert job.found == {n: b"%d" % n if n % 3 else None for n in range(count)}
    assert sorted(keys) == sorted(f"c/{n}" for n in range(count) if n % 3)


def test_transfer_of_some_slots(run: Callable[[Steps[Any]], Any]) -> None:
    class SomeKeys(Keys):
        pass

    names = Transfer(Job(2), "read", SomeKeys(10), None, count=2, slots=[7, 2]).names()
    assert names == ["c/7", "c/2"]


# ------------------------------------------------------------------------------------------------ holds


def counting_steps(turns: int) -> Steps[None]:
    """Reads a number, waits, and writes it back one higher: loses updates unless the key is held."""
    yield Hold(["n"])
    value = yield Get("n")
    number = 0 if value is None else int(value.to_bytes())
    if turns:
        time.sleep(0.0005)
    yield Put("n", B(b"%d" % (number + 1)))


def test_a_runner_goes_after_the_names_of_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the end of a program, which clears modules before it frees the last objects."""
    heard: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", heard.append)
    runner = runner_for(MemoryStore())
    monkeypatch.setattr(choose, "_guard", None)
    del runner
    gc.collect()
    assert not heard


def test_threads_lose_no_update() -> None:
    store = MemoryStore()
    runner = runner_for(store)

    def work() -> None:
        for _ in range(20):
            runner.run(counting_steps(1))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert raw(store.get_sync("n")) == b"160"
    assert len(lock_table.LOCKS) == 0


@pytest.mark.parametrize("make", [MemoryStore, lambda: SlowStore(MemoryStore(), 0.0005)])
def test_tasks_and_threads_lose_no_update(make: Callable[[], Store]) -> None:
    store = make()
    runner = async_runner_for(store)

    async def tasks() -> None:
        await asyncio.gather(*(runner.run(counting_steps(0)) for _ in range(20)))

    threads = [threading.Thread(target=asyncio.run, args=(tasks(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    inner = store if isinstance(store, MemoryStore) else store._store  # type: ignore[attr-defined]
    assert raw(inner.get_sync("n")) == b"80"
    assert len(lock_table.LOCKS) == 0


def test_two_store_objects_of_one_folder_share_their_locks(tmp_path: Path) -> None:
    def work(store: LocalStore) -> None:
        for _ in range(20):
            runner_for(store).run(counting_steps(1))

    threads = [threading.Thread(target=work, args=(LocalStore(tmp_path),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert raw(LocalStore(tmp_path).get_sync("n")) == b"80"


def test_held_keys_are_not_taken_twice_and_go_with_their_steps(run: Callable[[Steps[Any]], Any]) -> None:
    def steps() -> Steps[int]:
        yield Hold(["a/zarr.json"], "node")
        yield Hold(["x", "y"])
        yield Hold(["y"])
        yield Gather(child() for _ in range(3))
        return len(lock_table.LOCKS)

    def child() -> Steps[None]:
        yield Hold(["x"])
        yield Hold(["z"])

    assert run(steps()) == 3
    assert len(lock_table.LOCKS) == 0


def test_holds_out_of_order_are_refused(run: Callable[[Steps[Any]], Any]) -> None:
    def steps(first: Hold, second: Hold) -> Steps[None]:
        yield first
        yield second

    for first, second in (
        (Hold(["b"]), Hold(["a"])),
        (Hold(["a"]), Hold(["b"], "node")),
    ):
        with pytest.raises(RuntimeError, match="cannot hold"):
            run(steps(first, second))
        assert len(lock_table.LOCKS) == 0


def test_an_error_lets_go(run: Callable[[Steps[Any]], Any]) -> None:
    def steps() -> Steps[None]:
        yield Hold(["a"])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(steps())
    assert len(lock_table.LOCKS) == 0


async def test_a_cancelled_waiter_leaves_the_queue() -> None:
    store = MemoryStore()
    runner = AsyncRunner(store)
    release = asyncio.Event()

    async def wait() -> None:
        await release.wait()

    def holding() -> Steps[None]:
        yield Hold(["a"])
        yield Await(wait)

    def quick() -> Steps[str]:
        yield Hold(["a"])
        return "done"

    first = asyncio.create_task(runner.run(holding()))
    await asyncio.sleep(0)
    second = asyncio.create_task(runner.run(quick()))
    third = asyncio.create_task(runner.run(quick()))
    await asyncio.sleep(0.01)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert not third.done()
    release.set()
    await first
    assert await third == "done"
    assert len(lock_table.LOCKS) == 0


def test_a_waiter_whose_loop_is_gone_is_passed_over() -> None:
    table = lock_table.LockTable()
    table.acquire("a")
    loop = asyncio.new_event_loop()
    task = loop.create_task(lock_table.wait_async(table.acquiring("a")))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    got = threading.Event()
    thread = threading.Thread(target=lambda: (table.acquire("a"), got.set()))
    thread.start()
    time.sleep(0.02)
    table.release("a")
    assert got.wait(60)
    thread.join()
    table.release("a")
    assert len(table) == 0
    task._log_destroy_pending = False  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------------ gates and windows


def get_many(count: int) -> Steps[list[Any]]:
    def one(number: int) -> Steps[Any]:
        return (yield Get(f"k/{number}"))

    return (yield Gather(one(number) for number in range(count)))


def test_requests_pass_one_gate() -> None:
    store = SlowStore(MemoryStore(), 0.002)
    with config.set({"async.concurrency": 7}):
        asyncio.run(AsyncRunner(store).run(get_many(100)))
    assert store.most == 7

    async def several() -> None:
        await asyncio.gather(*(AsyncRunner(store).run(get_many(30)) for _ in range(5)))

    store.most = 0
    with config.set({"async.concurrency": 9}):
        asyncio.run(several())
    assert store.most == 9


def test_gate_is_not_held_across_a_gather() -> None:
    store = SlowStore(MemoryStore(), 0.001)

    def nested(depth: int) -> Steps[Any]:
        yield Get("a")
        if depth:
            yield Gather(nested(depth - 1) for _ in range(3))

    with config.set({"async.concurrency": 1}):
        asyncio.run(asyncio.wait_for(AsyncRunner(store).run(nested(4)), 30))


def test_steps_are_drawn_in_a_window() -> None:
    store = SlowStore(MemoryStore(), 0.001)
    alive = [0, 0]

    def one() -> Steps[None]:
        alive[0] += 1
        alive[1] = max(alive)
        yield Get("a")
        alive[0] -= 1

    def steps() -> Steps[None]:
        yield Gather(one() for _ in range(500))

    with config.set({"async.concurrency": 10}):
        asyncio.run(AsyncRunner(store).run(steps()))
    assert alive[1] <= 40


def test_the_first_error_stops_the_others() -> None:
    store = SlowStore(MemoryStore(), 0.002)
    store.fail_on = "k/5"
    with config.set({"async.concurrency": 4}), pytest.raises(ConnectionError, match="lost k/5"):
        asyncio.run(AsyncRunner(store).run(get_many(1000)))
    assert store.gets < 50
    assert store.now == 0


def test_exception_groups_are_unwrapped() -> None:
    class Grouping(SlowStore):
        async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._fail())

        async def _fail(self) -> None:
            raise PermissionError("denied")

    def steps() -> Steps[None]:
        yield Get("a")

    with pytest.raises(PermissionError, match="denied"):
        run_async(Grouping(MemoryStore()), steps())
    with pytest.raises(PermissionError, match="denied"):
        run_loop(Grouping(MemoryStore()), steps())


# ------------------------------------------------------------------------------------------------ cancellation


@pytest.mark.parametrize("kind", ["coroutines", "local", "memory"])
async def test_cancelling_closes_the_steps(kind: str, tmp_path: Path) -> None:
    closed: list[str] = []
    store: Store = {
        "coroutines": SlowStore(MemoryStore()),
        "local": LocalStore(tmp_path),
        "memory": MemoryStore(),
    }[kind]

    async def wait() -> None:
        await asyncio.sleep(0.01)

    def child() -> Steps[None]:
        try:
            yield Hold(["a"])
            for number in range(1000):
                yield Await(wait)
                yield Put(f"{number}", B(b"1"))
        finally:
            closed.append("child")

    def steps() -> Steps[None]:
        try:
            yield Gather([child()])
        finally:
            closed.append("parent")

    task = asyncio.create_task(AsyncRunner(store).run(steps()))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed == ["child", "parent"]
    assert len(lock_table.LOCKS) == 0
    written = len([key async for key in store.list()])
    await asyncio.sleep(0.05)
    assert len([key async for key in store.list()]) == written < 1000


def test_timeouts_cancel_the_work() -> None:
    store = SlowStore(MemoryStore(), 0.05)

    def steps() -> Steps[None]:
        for number in range(1000):
            yield Get("a")
            yield Put(f"{number}", B(b"1"))

    with config.set({"async.timeout": 0.2}), pytest.raises(TimeoutError, match=r"0\.2 seconds"):
        LoopRunner(store).run(steps())
    written = len(store._store._store_dict)
    time.sleep(0.2)
    assert len(store._store._store_dict) == written < 10


@pytest.mark.clock
@pytest.mark.skipif(sys.platform == "win32", reason="posix only")
def test_interrupting_returns_at_once_and_nothing_goes_on() -> None:
    store = SlowStore(MemoryStore(), 0.02)

    def steps() -> Steps[None]:
        for number in range(1000):
            yield Get("a")
            yield Put(f"{number}", B(b"1"))

    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    former = signal.signal(signal.SIGINT, signal.default_int_handler)  # test workers may have it ignored
    try:
        timer.start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            LoopRunner(store).run(steps())
        assert time.monotonic() - start < 10  # all of it takes forty seconds and more
    finally:
        signal.signal(signal.SIGINT, former)
    written = len(store._store._store_dict)
    time.sleep(0.1)
    assert len(store._store._store_dict) == written < 100


# ------------------------------------------------------------------------------------------------ loops, threads, fork


async def test_calls_from_a_running_loop_work() -> None:
    def steps() -> Steps[Any]:
        yield Put("a", B(b"1"))
        return raw((yield Get("a")))

    assert LoopRunner(MemoryStore()).run(steps()) == b"1"
    assert runner_for(SlowStore(MemoryStore())).run(steps()) == b"1"


def test_waiting_on_the_own_loop_is_refused() -> None:
    async def inside() -> str:
        with pytest.raises(SyncError, match=r"within a running loop.*await the asynchronous twin"):
            LoopRunner(MemoryStore()).run(steps())
        with pytest.raises(SyncError, match="await the asynchronous twin"):
            sync(asyncio.sleep(0))
        return "refused"

    def steps() -> Steps[None]:
        yield Get("a")

    assert sync(inside()) == "refused"


def test_several_loops_and_threads_at_once() -> None:
    store = SlowStore(MemoryStore(), 0.001)
    runner = async_runner_for(store)
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            if number % 2:
                asyncio.run(runner.run(get_many(20)))
            else:
                LoopRunner(store).run(get_many(20))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_a_loop_and_pools_of_its_own() -> None:
    store = SlowStore(MemoryStore())
    assert LoopRunner(store).run(get_many(3)) == [None] * 3
    resources.run_helpers(lambda: None, 2)
    lock_table.LOCKS.acquire("held by the parent")
    try:
        pid = os.fork()
        if pid == 0:
            try:
                ok = LoopRunner(store).run(get_many(3)) == [None] * 3
                ok = ok and len(lock_table.LOCKS) == 0
                resources.run_helpers(lambda: None, 2)
                os._exit(0 if ok else 1)
            except BaseException:
                os._exit(2)
        assert os.waitpid(pid, 0)[1] == 0
    finally:
        lock_table.LOCKS.release("held by the parent")


def test_choice_of_runner(tmp_path: Path) -> None:
    memory = MemoryStore()
    runner = runner_for(memory)
    assert type(runner) is InlineRunner
    assert runner_for(memory) is runner
    assert type(runner_for(SlowStore(memory))) is LoopRunner
    assert type(runner_for(WrapperStore(LocalStore(tmp_path)))) is InlineRunner
    assert async_runner_for(memory).store is memory

    class OnlyAsyncGet(MemoryStore):
        async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
            return await super().get(key, prototype, byte_range)

    assert type(runner_for(OnlyAsyncGet())) is LoopRunner


def test_runners_keep_no_store_alive() -> None:
    import gc
    import weakref

    store = MemoryStore()
    ref = weakref.ref(store)
    runner_for(store).run(get_many(1))
    asyncio.run(async_runner_for(store).run(get_many(1)))
    del store
    gc.collect()
    assert ref() is None


def test_inline_runner_enters_few_frames() -> None:
    store = MemoryStore()
    store.set_sync("k", B(b"1"))
    runner = InlineRunner(store)
    frames = 0

    def count(frame: Any, event: str, arg: Any) -> None:
        nonlocal frames
        frames += event == "call"

    def steps() -> Steps[Any]:
        return (yield Get("k"))

    generator = steps()
    sys.setprofile(count)
    try:
        runner.run(generator)
    finally:
        sys.setprofile(None)
    assert frames <= 6


def test_direct_work_stays_on_the_loop() -> None:
    assert asynchronous.DIRECT_BYTES < 1 << 20

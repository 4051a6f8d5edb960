#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the Python module, on adapter 0. Prints KTAP."""

import asyncio
import gc
import inspect
import os
import sys
import threading
import time
import traceback

import vfence


class Devices:
    """An adapter with a device, for a test."""

    def __enter__(self):
        self.adapter = vfence.Adapter()
        self.device = self.adapter.device()
        return self.adapter, self.device

    def __exit__(self, *_):
        self.adapter.close()


def raises(error, call, *args, **kwargs):
    """Return the error that a call must raise."""
    try:
        call(*args, **kwargs)
    except error as caught:
        return caught
    raise AssertionError(f"{call} raises no {error.__name__}")


def the_first_program_of_the_manual():
    source = inspect.getdoc(vfence).split("::")[1]
    said = []
    code = "\n".join(line[4:] for line in source.splitlines() if line.startswith("    "))
    assert "fence.wait(42" in code
    exec(code, {"print": said.append})
    assert said == [42], said


def queues_wait_for_each_other():
    with Devices() as (adapter, device):
        gfx, copy = device.queue(vfence.Node.GFX), device.queue(vfence.Node.COPY)
        drawn, copied = device.fence(), device.fence(7)
        source, target = adapter.buffer(4096), adapter.buffer(4096)
        copy.wait(drawn, 1).copy(target, source, 4096).signal(copied, 8).submit()
        assert copied.value == 7
        gfx.draw(100_000).fill(source, 0x01020304).signal(drawn, 1).submit()
        copied.wait(8, timeout=10)
        assert target.read(0, 8) == bytes([4, 3, 2, 1] * 2)
        copy.wait_idle(10)
        raises(ValueError, target.read, 4092, 8)
        raises(ValueError, target.read, -4, 8)


def parts_of_a_buffer_are_filled():
    with Devices() as (adapter, device):
        queue, buffer = device.queue(), adapter.buffer(4096)
        queue.fill(buffer, 1).fill(buffer, 2, 8, 4).submit()
        queue.wait_idle(10)
        assert buffer.read(0, 16) == b"".join(word.to_bytes(4, "little") for word in (1, 1, 2, 1))
        # Without a size it is the rest of the buffer.
        queue.fill(buffer, 3, 4092).submit()
        queue.wait_idle(10)
        assert buffer.read(4088, 8) == bytes([1, 0, 0, 0, 3, 0, 0, 0])

        def fill_nothing():
            queue.fill(buffer, 4, size=0).submit()
            queue.wait_idle(10)

        # A size of 0 is not the rest, and the GPU refuses it.
        assert raises(OSError, fill_nothing).errno == 5
        assert buffer.read(0, 4) == bytes([1, 0, 0, 0])


def timeouts_are_errors_of_python():
    with Devices() as (_, device):
        fence = device.fence(3)
        fence.wait(3, timeout=0)
        # A wait without limit would see this value.
        later = threading.Timer(60, fence.signal, [4])
        later.start()
        raises(TimeoutError, fence.wait, 4, timeout=0)
        later.cancel()
        raises(TimeoutError, vfence.wait_all, [(fence, 3), (fence, 4)], 0.001)
        assert vfence.wait_any([(fence, 4), (fence, 3)], 0) == 1
        raises(ValueError, vfence.wait_any, [])


def points_come_from_any_iterable():
    with Devices() as (_, device):
        fence = device.fence(3)
        vfence.wait_all(iter([(fence, 1), (fence, 3)]), 0)
        assert vfence.wait_any(((fence, value) for value in (5, 4, 3)), 0) == 2
        raises(ValueError, vfence.wait_any, iter([]))


def errors_have_their_numbers():
    assert raises(OSError, vfence.Adapter, 63).errno == 19
    with Devices() as (adapter, device):
        assert raises(OSError, device.queue, vfence.Node.GFX, 5).errno == 22
        # There is no such kind of engine.
        assert raises(OSError, device.queue, 99).errno == 2
        assert raises(OSError, device.fence().export).errno == 1
        assert raises(OSError, adapter.counter, "no_such").errno == 2
        assert adapter.counter("fences_created") >= 1 and adapter.nodes >= 4
        assert os.fstat(adapter.fileno())


def other_threads_run_while_one_waits():
    with Devices() as (_, device):
        fence = device.fence()
        ended = []
        thread = threading.Thread(target=lambda: ended.append(fence.wait(1, timeout=10)))
        thread.start()
        # The wait would keep this thread from here if it held the lock of the interpreter.
        fence.signal(1)
        thread.join(10)
        assert ended == [None]


def a_fence_is_shared_by_its_descriptor():
    with Devices() as (_, one), Devices() as (_, other):
        fence = one.fence(shareable=True)
        fd = fence.export()
        opened = other.open_fence(fd)
        os.close(fd)
        fence.signal(5)
        opened.wait(5, timeout=0)
        assert opened.value == 5


def a_child_of_fork_reads_the_values_of_its_parent():
    with Devices() as (_, device):
        fence = device.fence(3)
        child = os.fork()
        if not child:
            os._exit(0 if fence.value == 3 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def tasks_wait_for_fences():
    async def work(device):
        fences = [device.fence() for _ in range(10)]
        queue = device.queue()
        tasks = [asyncio.create_task(fence.reached(1)) for fence in fences]
        await asyncio.sleep(0)
        for fence in fences:
            queue.signal(fence, 1)
        queue.submit()
        await asyncio.wait_for(asyncio.gather(*tasks), 10)
        # A value that is reached already.
        await asyncio.wait_for(fences[0].reached(1), 10)

    with Devices() as (_, device):
        asyncio.run(work(device))


def tasks_that_are_cancelled_wait_no_more():
    async def work(device, fence):
        for _ in range(200):
            try:
                await asyncio.wait_for(fence.reached(1), 0.0001)
            except asyncio.TimeoutError:
                continue
            raise AssertionError("a value that was not signaled")

    with Devices() as (adapter, device):
        files = len(os.listdir("/proc/self/fd"))
        # The end of the fence would end all waits.
        fence = device.fence()
        asyncio.run(work(device, fence))
        assert len(os.listdir("/proc/self/fd")) == files
        begun, ended = (adapter.counter(name) for name in ("waits_begun", "waits_cancelled"))
        assert begun and ended, (begun, ended)
        # Nothing is armed any more.
        balance = sum(adapter.counter(f"waits_{end}") for end in ("satisfied", "timed_out", "cancelled"))
        assert begun == balance, (begun, balance)


def descriptors():
    """Return the descriptors of this process that a child would have after exec, and the others."""
    found = {True: set(), False: set()}
    for fd in range(256):
        try:
            found[os.get_inheritable(fd)].add(fd)
        except OSError:
            pass
    return found[True], found[False]


def the_descriptor_of_a_task_closes_on_exec():
    async def work(fence):
        inherited, closed = descriptors()
        task = asyncio.create_task(fence.reached(1))
        await asyncio.sleep(0)
        after = descriptors()
        assert after[0] == inherited, after
        assert len(after[1]) == len(closed) + 1, after
        fence.signal(1)
        await asyncio.wait_for(task, 10)

    with Devices() as (_, device):
        asyncio.run(work(device.fence()))


def a_task_may_have_descriptor_0():
    async def work(fence):
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        os.close(0)
        try:
            task = asyncio.create_task(fence.reached(1))
            await asyncio.sleep(0)
            assert os.fstat(0)
            fence.signal(1)
            await asyncio.wait_for(task, 10)
        finally:
            os.dup2(null, 0)
            os.close(null)

    with Devices() as (_, device):
        asyncio.run(work(device.fence()))


def a_task_learns_that_its_fence_has_gone():
    async def work(fence):
        task = asyncio.create_task(fence.reached(1))
        await asyncio.sleep(0)
        fence.close()
        try:
            await asyncio.wait_for(task, 10)
        except ValueError:
            return
        raise AssertionError("a value that nobody has signaled")

    with Devices() as (_, device):
        asyncio.run(work(device.fence()))


def a_value_that_was_reached_counts_after_a_rewind():
    async def work(fence):
        task = asyncio.create_task(fence.reached(5))
        await asyncio.sleep(0)
        fence.signal(5)
        fence.signal(0)
        await asyncio.wait_for(task, 10)

    with Devices() as (_, device):
        asyncio.run(work(device.fence()))


def objects_close_once_and_are_not_used_then():
    with Devices() as (adapter, device):
        fence, queue = device.fence(), device.queue()
        queue.close()
        queue.close()
        raises(ValueError, queue.submit)
        device.close()
        raises(ValueError, fence.signal, 1)
        raises(ValueError, lambda: fence.value)
        adapter.close()
        raises(ValueError, adapter.device)


def what_was_made_of_an_object_closes_first():
    """All of it, the last one first, by the functions of the library."""
    library, closed = vfence._library, []

    def closing(name):
        function = getattr(library, name)

        def close(pointer):
            closed.append(name)
            function(pointer)

        return function, close

    names = "vf_adapter_close", "vf_device_destroy", "vf_buffer_destroy", "vf_fence_destroy"
    functions = {name: closing(name) for name in names}
    try:
        for name, (_, close) in functions.items():
            setattr(library, name, close)
        adapter = vfence.Adapter()
        device, buffer = adapter.device(), adapter.buffer(4096)
        fence = device.fence()
        adapter.close()
    finally:
        for name, (function, _) in functions.items():
            setattr(library, name, function)
    assert closed == ["vf_fence_destroy", "vf_device_destroy", "vf_buffer_destroy", "vf_adapter_close"], closed
    raises(ValueError, lambda: buffer.address)
    raises(ValueError, lambda: fence.value)


def what_is_collected_is_closed():
    with Devices() as (adapter, device):
        created = adapter.counter("fences_created") - adapter.counter("fences_destroyed")
        for _ in range(50):
            device.fence()
        gc.collect()
        left = adapter.counter("fences_created") - adapter.counter("fences_destroyed")
        assert left <= created + 1, (created, left)


def a_cycle_is_closed_from_its_leaves():
    """Python collects the objects of a cycle in any order; those of the kernel have one."""
    class Client:
        pass

    with vfence.Adapter() as other:
        before = other.counter("fences_created") - other.counter("fences_destroyed")
        for _ in range(20):
            client = Client()
            client.itself, client.adapter = client, vfence.Adapter()
            client.device = client.adapter.device()
            client.queue, client.fence = client.device.queue(), client.device.fence()
            client.queue.draw(1000).signal(client.fence, 1).submit()
            client.buffer = client.adapter.buffer(4096)
            client.queue.fill(client.buffer, 7).submit()
        del client
        gc.collect()
        after = other.counter("fences_created") - other.counter("fences_destroyed")
        assert after == before, (before, after)


def a_part_keeps_what_it_was_made_of():
    assert vfence.Adapter().buffer(4096).address
    assert vfence.Adapter().device().fence(3).value == 3
    vfence.Adapter().device().queue().draw(1000).submit()


def numbers_that_do_not_fit_are_refused():
    with Devices() as (adapter, device):
        fence, queue, buffer = device.fence(), device.queue(), adapter.buffer(4096)
        for value in -1, 2**64, 2**64 + 5:
            raises(ValueError, device.fence, value)
            raises(ValueError, fence.signal, value)
            raises(ValueError, fence.wait, value)
            raises(ValueError, queue.signal, fence, value)
            raises(ValueError, queue.draw, value)
            raises(ValueError, adapter.signal, [(fence, value)])
            raises(ValueError, vfence.wait_any, [(fence, value)])
        for value in -1, 2**32, 2**32 + 5:
            raises(ValueError, queue.draw, 1000, value)
            raises(ValueError, queue.fill, buffer, value)
            raises(ValueError, device.queue, ring_size=value)
            raises(ValueError, vfence.Adapter, value)
        raises(ValueError, queue.fill, buffer, 0, 4092, 8)
        raises(ValueError, queue.fill, buffer, 0, 8, -4)
        raises(ValueError, buffer.read, 8, -4)
        large = adapter.buffer(8192)
        raises(ValueError, queue.copy, buffer, large, 8192)
        raises(ValueError, queue.copy, large, buffer, 8192)
        assert fence.value == 0
        # Times beyond all clocks are for ever, and not over.
        for timeout in 1e10, 1e300, float("inf"):
            thread = threading.Timer(0.01, fence.signal, [fence.value + 1])
            thread.start()
            fence.wait(fence.value + 1, timeout=timeout)
            thread.join()
        raises(TimeoutError, fence.wait, 2**64 - 1, -5)


def a_device_without_its_adapter_is_not_active():
    def driver(what):
        with open(f"/sys/bus/platform/drivers/vfence/{what}", "w") as file:
            file.write("vfence.0")

    with Devices() as (_, device):
        queue, fence = device.queue(), device.fence()
        assert device.is_active
        driver("unbind")
        assert not device.is_active
        assert raises(OSError, fence.wait, 1, 1).errno == 19
        queue.close()
    driver("bind")


def main():
    tests = [value for name, value in globals().items()
             if inspect.isfunction(value) and value.__module__ == "__main__"
             and name not in ("raises", "descriptors", "main")
             and name in (sys.argv[1:] or [name])]
    print(f"# program: bindings\n1..{len(tests)}")
    failed = 0
    for number, test in enumerate(tests, 1):
        begun = time.monotonic()
        try:
            test()
            print(f"ok {number} python.{test.__name__} # {time.monotonic() - begun:.3f} s", flush=True)
        except BaseException:
            print("# " + traceback.format_exc().replace("\n", "\n# "))
            print(f"not ok {number} python.{test.__name__}", flush=True)
            failed = 1
    sys.exit(failed)


main()

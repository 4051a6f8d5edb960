#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of vfence top: what it says of a client that the test itself is. Prints KTAP."""

import asyncio
import inspect
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
import traceback

import vfence

TOP = ["vfence-sanitized", "top"]


def top(*options):
    """Return what the command prints."""
    return subprocess.run([*TOP, *options], check=True, capture_output=True, text=True, timeout=120).stdout


def own(listed):
    """Return the client that this process is, of those that are listed."""
    return next(c for c in listed["clients"] if c["pid"] == os.getpid())


def engines_and_clients_are_busy():
    with vfence.Adapter() as adapter, adapter.device() as device:
        queue = device.queue()
        adapter.buffer(2 << 20)
        buffer = adapter.buffer(3 << 20)
        # More work than a second, which the command looks at, also where it starts slowly.
        for _ in range(1000):
            queue.draw(10_000_000)
        queue.submit()
        said = json.loads(top("--json"))
        assert said["seconds"] > 0.9, said["seconds"]
        assert said["engines"][0]["engine"] == "GFX" and said["engines"][0]["busy_percent"] > 95, said
        assert said["engines"][2]["busy_percent"] < 1, said["engines"]
        client = own(said)
        assert client["busy_percent"]["GFX"] > 95 and client["busy_percent"]["COPY"] == 0, client
        assert client["command"] == "python3" and int(client["memory_bytes"]) >= buffer.size, client
        mine = [q for q in said["queues"] if q["client"] == client["client"]]
        assert [q["state"] for q in mine] == ["running"] and mine[0]["busy_percent"] > 95, mine
        queue.wait_idle(20)


def queues_say_what_they_wait_for():
    async def watch(fence):
        waiting = asyncio.create_task(fence.reached(6))
        await asyncio.sleep(0)
        said, text = json.loads(top("--json")), top("--once")
        fence.signal(6)
        await asyncio.wait_for(waiting, 10)
        return said, text

    with vfence.Adapter() as adapter, adapter.device() as device:
        fence, queue = device.fence(3), device.queue(vfence.Node.COPY)
        queue.wait(fence, 5).submit()
        said, text = asyncio.run(watch(fence))
        blocked = [q for q in said["queues"] if q["state"] == "blocked"]
        assert len(blocked) == 1 and blocked[0]["value"] == "5" and blocked[0]["node"] == 2, blocked
        number = blocked[0]["fence"]
        assert said["awaited_fences"] == [{"fence": number, "kind": "native", "current": "3", "monitored": "5",
                                           "waiters": "1", "least_awaited": "6"}], said["awaited_fences"]
        assert re.search(rf"COPY +user +blocked .* waits for fence {number} to reach 5, it has 3\n", text), text
        assert f"fence {number}, native: has 3, 1 waiters, the first for 6\n" in text, text
        queue.wait_idle(10)


def rates_are_per_second():
    with vfence.Adapter() as adapter, adapter.device() as device:
        fence, queue = device.fence(), device.queue(ring_size=1 << 20)
        # 100 signals in a second, which interrupt nothing, and as many of the progress fence.
        for value in range(1, 1001):
            queue.draw(10_000_000).signal(fence, value).submit()
        said = json.loads(top("--json"))["per_second"]
        assert 195 < said["signals"] < 205 and said["signals"] == said["suppressed"], said
        assert said["interrupts"] == 0, said
        fence.wait(1000, 20)


def it_is_drawn_on_a_terminal_until_q():
    leader, follower = pty.openpty()
    # ncurses keeps its memory at the end.
    quiet = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    with subprocess.Popen(TOP, stdin=follower, stdout=follower, stderr=follower, env=quiet) as process:
        os.close(follower)
        drawn, until = b"", time.monotonic() + 60
        while b"q quit" not in drawn and time.monotonic() < until:
            if select.select([leader], [], [], 1)[0]:
                drawn += os.read(leader, 4096)
        os.write(leader, b"q")
        # The command may still draw: it must not wait for a reader.
        while process.poll() is None and time.monotonic() < until:
            if select.select([leader], [], [], 0.1)[0]:
                try:
                    drawn += os.read(leader, 4096)
                except OSError:
                    break
        assert process.wait(10) == 0
    os.close(leader)
    assert b"vfence0: " in drawn and b"GFX" in drawn and b"q quit" in drawn, drawn[:400]


def an_adapter_that_is_not_there_is_an_error():
    said = subprocess.run([*TOP, "--adapter", "9"], capture_output=True, text=True, check=False)
    assert said.returncode == 1 and said.stderr.startswith("vfence: top: No such device"), said


def main():
    tests = [value for name, value in globals().items() if inspect.isfunction(value)
             and value.__module__ == "__main__" and name not in ("top", "own", "main")]
    print(f"# program: top\n1..{len(tests)}")
    failed = 0
    for number, test in enumerate(tests, 1):
        try:
            test()
            print(f"ok {number} top.{test.__name__}", flush=True)
        except BaseException as error:
            print("# " + traceback.format_exc().replace("\n", "\n# "))
            print("# " + (getattr(error, "stderr", None) or "").replace("\n", "\n# "))
            print(f"not ok {number} top.{test.__name__}", flush=True)
            failed = 1
    sys.exit(failed)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A Vulkan timeline semaphore on vfence: the functions of VK_KHR_timeline_semaphore with their
meaning. Two queues take turns, and the host joins in."""

from collections.abc import Sequence

import vfence

Semaphores = Sequence[tuple[vfence.Fence, int]]
SUCCESS, TIMEOUT = "VK_SUCCESS", "VK_TIMEOUT"


def GetSemaphoreCounterValue(semaphore: vfence.Fence) -> int:
    return semaphore.value


def SignalSemaphore(semaphore: vfence.Fence, value: int) -> None:
    semaphore.signal(value)


def WaitSemaphores(waits: Semaphores, wait_any: bool, timeout: float) -> str:
    """vkWaitSemaphores: for all of them, or for one (VK_SEMAPHORE_WAIT_ANY_BIT)."""
    try:
        if wait_any:
            vfence.wait_any(waits, timeout)
        else:
            vfence.wait_all(waits, timeout)
    except TimeoutError:
        return TIMEOUT
    return SUCCESS


def QueueSubmit2(queue: vfence.Queue, waits: Semaphores, draw_ns: int, signals: Semaphores) -> None:
    """vkQueueSubmit2 with one command buffer, which draws."""
    for fence, value in waits:
        queue.wait(fence, value)
    queue.draw(draw_ns)
    for fence, value in signals:
        queue.signal(fence, value)
    queue.submit()


def main() -> None:
    with vfence.Adapter() as adapter, adapter.device() as device:
        graphics, compute = device.queue(vfence.Node.GFX), device.queue(vfence.Node.COMPUTE)
        semaphore = device.fence()
        # A submission may wait for a value that no one has promised yet.
        for n in range(1, 12, 3):
            QueueSubmit2(graphics, [(semaphore, n)], 1000, [(semaphore, n + 1)])
            QueueSubmit2(compute, [(semaphore, n + 1)], 1000, [(semaphore, n + 2)])
        assert WaitSemaphores([(semaphore, 3)], False, 0.001) == TIMEOUT
        for n in range(1, 12, 3):
            SignalSemaphore(semaphore, n)
            assert WaitSemaphores([(semaphore, n + 2)], True, 5) == SUCCESS
        print("the counter has come to", GetSemaphoreCounterValue(semaphore))


main()

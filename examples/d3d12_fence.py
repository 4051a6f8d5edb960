#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A D3D12 fence on vfence: the names and the meaning of ID3D12Fence and ID3D12CommandQueue, and the
loop that each D3D12 program has, with two frames in flight."""

import asyncio

import vfence


class Fence:
    """ID3D12Fence"""

    def __init__(self, device: vfence.Device, initial: int) -> None:
        self.native = device.fence(initial)

    def GetCompletedValue(self) -> int:
        return self.native.value

    def Signal(self, value: int) -> None:
        self.native.signal(value)

    async def SetEventOnCompletion(self, value: int) -> None:
        """What waits for the event in D3D12 awaits the call here."""
        await self.native.reached(value)


class CommandQueue:
    """ID3D12CommandQueue"""

    def __init__(self, device: vfence.Device, node: vfence.Node) -> None:
        self.native = device.queue(node)

    def Wait(self, fence: Fence, value: int) -> None:
        self.native.wait(fence.native, value).submit()

    def Signal(self, fence: Fence, value: int) -> None:
        self.native.signal(fence.native, value).submit()

    def ExecuteCommandLists(self, draw_ns: int) -> None:
        self.native.draw(draw_ns).submit()


async def main() -> None:
    frames, in_flight, woken = 8, 2, 0
    with vfence.Adapter() as adapter, adapter.device() as device:
        frame, copied = Fence(device, 0), Fence(device, 0)
        graphics, copy = (CommandQueue(device, node) for node in (vfence.Node.GFX, vfence.Node.COPY))
        for n in range(1, frames + 1):
            # Before an allocator is used again the GPU must be done with it.
            if n > in_flight and frame.GetCompletedValue() < n - in_flight:
                await frame.SetEventOnCompletion(n - in_flight)
                woken += 1
            graphics.ExecuteCommandLists(1_000_000)
            graphics.Signal(frame, n)
        # The copy engine waits for the last frame without the CPU.
        copy.Wait(frame, frames)
        copy.Signal(copied, 1)
        await copied.SetEventOnCompletion(1)
        print(f"{frame.GetCompletedValue()} frames, the CPU has waited: {'yes' if woken else 'no'}")


asyncio.run(main())

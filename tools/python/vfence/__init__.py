# SPDX-License-Identifier: MIT
"""Native GPU fences and user-mode queues of the vfence virtual GPU, by libvfence.

A first program::

    import vfence

    with vfence.Adapter() as adapter, adapter.device() as device:
        queue, fence = device.queue(vfence.Node.GFX), device.fence()
        queue.draw(1_000_000).signal(fence, 42).submit()
        fence.wait(42, timeout=1)
        print(fence.value)

Objects close when their ``with`` ends, by close(), or when Python collects them; a device closes
before its adapter. Errors are OSError with the number that the library returned; a wait whose
time is up raises TimeoutError.
"""

from __future__ import annotations

import asyncio
import ctypes
import enum
import errno
import os
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TypeVar

from . import _library as lib

__all__ = ["Adapter", "Buffer", "Device", "Fence", "Node", "Queue", "wait_all", "wait_any"]

_Self = TypeVar("_Self", bound="_Object")
Point = tuple["Fence", int]


class Node(enum.IntEnum):
    """Kinds of engines (enum drm_vfence_node_class)."""

    GFX = 0
    COMPUTE = 1
    COPY = 2
    MM = 3


def _check(code: int) -> int:
    """Return a number that is no error."""
    if code == -errno.ETIME:
        raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
    if code < 0:
        raise OSError(-code, os.strerror(-code))
    return code


def _deadline(timeout: float | None) -> int:
    """Return the absolute time of the library for a timeout in seconds; None: for ever."""
    if timeout is None or timeout * 1e9 >= lib.FOREVER:
        return lib.FOREVER
    return int(lib.vf_deadline(max(0, int(timeout * 1e9))))


def _value(value: int, bits: int = 64) -> int:
    """Return a number of so many bits: ctypes would cut others without a word."""
    if not 0 <= value < 2**bits:
        raise ValueError(f"{value} is not from 0 to 2**{bits} - 1")
    return value


def _points(points: Sequence[Point]) -> ctypes.Array[lib.Point]:
    """Return fences and values as the library takes them."""
    return (lib.Point * len(points))(*[lib.Point(fence.pointer, _value(value)) for fence, value in points])


class _Handle:
    """A pointer of the library that is destroyed once, after those that were made of it.

    A parent's handle keeps the handles of its children, and not the children: Python may collect
    them, and in a cycle it collects parents first.
    """

    def __init__(self, pointer: int | None, destroy: Callable[[int], None],
                 parent: _Handle | None = None) -> None:
        self.pointer, self.destroy, self.parent = pointer, destroy, parent
        self.children: dict[int, _Handle] = {}
        if parent is not None:
            parent.children[id(self)] = self

    def close(self) -> None:
        """Destroy the children, then the object. Closing once more does nothing."""
        pointer, self.pointer = self.pointer, None
        for child in list(self.children.values()):
            child.close()
        if self.parent is not None:
            self.parent.children.pop(id(self), None)
        if pointer is not None:
            self.destroy(pointer)


class _Object:
    """What an object of the library is here."""

    _handle: _Handle

    def __init__(self, pointer: int | None, destroy: Callable[[int], None],
                 parent: _Object | None = None) -> None:
        self._handle = _Handle(pointer, destroy, parent._handle if parent else None)

    @property
    def pointer(self) -> int:
        """The object of the library. ValueError if it is closed."""
        if self._handle.pointer is None:
            raise ValueError(f"{type(self).__name__} is closed")
        return self._handle.pointer

    def close(self) -> None:
        """Destroy the object, and first what was made of it. Closing once more does nothing."""
        self._handle.close()

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        # An object whose creation failed has no handle.
        if hasattr(self, "_handle"):
            self._handle.close()


def _created(function: Callable[..., int], *args: object) -> int | None:
    """Call a function that creates an object, and return the object."""
    pointer = ctypes.c_void_p()
    _check(function(*args, ctypes.byref(pointer)))
    return pointer.value


class Adapter(_Object):
    """A vfence adapter of the machine, opened once more: with its own objects and limits."""

    def __init__(self, index: int = 0) -> None:
        super().__init__(_created(lib.vf_adapter_open, _value(index, 32)), lib.vf_adapter_close)
        self.index = index

    @property
    def nodes(self) -> int:
        """Number of engines."""
        info = lib.AdapterInfo()
        _check(lib.vf_adapter_info(self.pointer, ctypes.byref(info)))
        return int(info.nodes)

    def fileno(self) -> int:
        """Return the descriptor, for ioctls."""
        return int(lib.vf_adapter_fd(self.pointer))

    def device(self) -> Device:
        """Return a new device."""
        return Device(self)

    def buffer(self, size: int) -> Buffer:
        """Return a new buffer of so many bytes."""
        return Buffer(self, size)

    def signal(self, points: Sequence[Point]) -> None:
        """Signal fences from the CPU, in order, in one call."""
        _check(lib.vf_signal(self.pointer, _points(points), len(points)))

    def counter(self, name: str) -> int:
        """Return a counter of the adapter, by its name in `vfence info` (for root)."""
        value = ctypes.c_uint64()
        _check(lib.vf_adapter_counter(self.pointer, name.encode(), ctypes.byref(value)))
        return value.value


class Device(_Object):
    """Owner of queues and fences, which fail as one if their engine is reset."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        super().__init__(_created(lib.vf_device_create, adapter.pointer), lib.vf_device_destroy,
                         adapter)

    @property
    def is_active(self) -> bool:
        """False if the device is lost: create a new one then."""
        state = int(lib.vf_device_state(self.pointer))
        return state != -errno.ENODEV and _check(state) == lib.DEVICE_ACTIVE

    def fence(self, value: int = 0, *, shareable: bool = False) -> Fence:
        """Return a new native fence with a first value."""
        flags = lib.FENCE_SHAREABLE if shareable else 0
        return Fence(self, _created(lib.vf_fence_create, self.pointer, flags, _value(value)))

    def open_fence(self, fd: int) -> Fence:
        """Open a fence that was shared; the caller keeps the descriptor."""
        return Fence(self, _created(lib.vf_fence_open, self.pointer, fd))

    def queue(self, node: Node = Node.GFX, ring_size: int = 65536) -> Queue:
        """Return a new user-mode queue on the first engine of a kind."""
        return Queue(self, node, ring_size)


class Fence(_Object):
    """A native fence: a value of 64 bits that CPU and GPU signal and wait for."""

    def __init__(self, device: Device, pointer: int | None) -> None:
        super().__init__(pointer, lib.vf_fence_destroy, device)
        self.device = device

    @property
    def value(self) -> int:
        """The current value, read without a system call."""
        return int(lib.vf_fence_current(self.pointer))

    def signal(self, value: int) -> None:
        """Signal from the CPU."""
        _check(lib.vf_fence_signal(self.pointer, _value(value)))

    def export(self) -> int:
        """Return a descriptor for other processes; close it when it is passed."""
        return _check(lib.vf_fence_export(self.pointer))

    def wait(self, value: int, timeout: float | None = None) -> None:
        """Sleep until the fence reaches a value, for so many seconds. Other threads run on."""
        _check(lib.vf_fence_wait(self.pointer, _value(value), _deadline(timeout)))

    async def reached(self, value: int) -> None:
        """Wait in asyncio until the fence reaches a value. A task that is cancelled waits no more.

        ValueError if the fence is closed meanwhile, OSError if its adapter goes away.
        """
        loop = asyncio.get_running_loop()
        fd = lib.eventfd()
        event = ctypes.c_uint32()
        adapter = self.device.adapter
        done: asyncio.Future[None] = loop.create_future()

        def fired() -> None:
            if not done.done():
                done.set_result(None)

        try:
            loop.add_reader(fd, fired)
            _check(lib.vf_event_arm(adapter.pointer, _points([(self, value)]), 1, 0, fd,
                                    ctypes.byref(event)))
            await done
            # The event also fires when the fence or its adapter goes. It may be rewound since it fired.
            code = int(lib.vf_fence_wait(self.pointer, value, 0))
            if code != -errno.ETIME:
                _check(code)
        finally:
            loop.remove_reader(fd)
            # One that has fired is gone already.
            if not done.done() or done.cancelled():
                if event.value and adapter._handle.pointer is not None:
                    lib.vf_event_cancel(adapter.pointer, event.value)
            os.close(fd)


class Buffer(_Object):
    """Memory of the GPU, which is mapped for the CPU, too."""

    def __init__(self, adapter: Adapter, size: int) -> None:
        super().__init__(_created(lib.vf_buffer_create, adapter.pointer, _value(size)),
                         lib.vf_buffer_destroy, adapter)
        self.adapter = adapter

    @property
    def address(self) -> int:
        """The address for the GPU."""
        return int(lib.vf_buffer_va(self.pointer))

    @property
    def size(self) -> int:
        """The size in bytes."""
        return int(lib.vf_buffer_size(self.pointer))

    def check(self, offset: int, size: int) -> None:
        """ValueError for bytes that are not in the buffer."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise ValueError(f"{offset} to {offset + size} is not in a buffer of {self.size} bytes")

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes of the buffer."""
        self.check(offset, size)
        return ctypes.string_at(lib.vf_buffer_map(self.pointer) + offset, size)


class Queue(_Object):
    """A user-mode hardware queue. Commands return the queue, so that they can be chained."""

    def __init__(self, device: Device, node: Node, ring_size: int) -> None:
        index = _check(lib.vf_adapter_find_node(device.adapter.pointer, int(node)))
        super().__init__(_created(lib.vf_queue_create, device.pointer, index, _value(ring_size, 32)),
                         lib.vf_queue_destroy, device)
        self.device = device

    def draw(self, duration_ns: int, count: int = 1) -> Queue:
        """Append draws that take so much time of the GPU each."""
        lib.vf_cmd_draw(self.pointer, _value(count, 32), _value(duration_ns))
        return self

    def fill(self, buffer: Buffer, word: int, offset: int = 0, size: int | None = None) -> Queue:
        """Append: fill a part of a buffer with a word of 32 bits."""
        size = buffer.size - offset if size is None else size
        buffer.check(offset, size)
        lib.vf_cmd_fill(self.pointer, buffer.address + offset, size, _value(word, 32))
        return self

    def copy(self, to: Buffer, source: Buffer, size: int) -> Queue:
        """Append: copy bytes from the beginning of a buffer to that of another."""
        to.check(0, size)
        source.check(0, size)
        lib.vf_cmd_copy(self.pointer, to.address, source.address, size)
        return self

    def wait(self, fence: Fence, value: int) -> Queue:
        """Append: the engine executes other queues until the fence reaches the value."""
        lib.vf_cmd_wait(self.pointer, fence.pointer, _value(value))
        return self

    def signal(self, fence: Fence, value: int) -> Queue:
        """Append: signal the fence."""
        lib.vf_cmd_signal(self.pointer, fence.pointer, _value(value))
        return self

    def submit(self) -> None:
        """Give the commands to the GPU, without a system call once the doorbell is connected."""
        _check(lib.vf_queue_submit(self.pointer))

    def wait_idle(self, timeout: float | None = None) -> None:
        """Sleep until all that was submitted is done."""
        _check(lib.vf_queue_wait_idle(self.pointer, _deadline(timeout)))


def _wait(points: Iterable[Point], flags: int, timeout: float | None) -> int:
    listed = list(points)
    if not listed:
        raise ValueError("no fence to wait for")
    first = ctypes.c_uint()
    _check(lib.vf_wait(listed[0][0].device.adapter.pointer, _points(listed), len(listed), flags,
                       _deadline(timeout), ctypes.byref(first)))
    return first.value


def wait_all(points: Iterable[Point], timeout: float | None = None) -> None:
    """Sleep until all fences of one adapter have reached their values."""
    _wait(points, 0, timeout)


def wait_any(points: Iterable[Point], timeout: float | None = None) -> int:
    """Sleep until a fence has reached its value, and return its index."""
    return _wait(points, lib.WAIT_ANY, timeout)

# SPDX-License-Identifier: MIT
"""The functions of libvfence.so.2 that the module uses, with their types."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_int, c_int64, c_uint, c_uint32, c_uint64, c_void_p
from typing import Any

# Constants of vfence_drm.h and vfence.h; a test compares them with the headers.
FOREVER = 2**63 - 1
FENCE_SHAREABLE = 1 << 0
WAIT_ANY = 1 << 0
DEVICE_ACTIVE = 1

_library = ctypes.CDLL("libvfence.so.2")
# Python 3.9 has no os.eventfd().
_libc = ctypes.CDLL(None, use_errno=True)


class Point(ctypes.Structure):
    """struct vf_point"""

    _fields_ = [("fence", c_void_p), ("value", c_uint64)]


class AdapterInfo(ctypes.Structure):
    """struct drm_vfence_adapter_info"""

    _fields_ = [
        ("nodes", c_uint32), ("fence_stride", c_uint32), ("physical_doorbells", c_uint32),
        ("log_entries", c_uint32), ("va_start", c_uint64), ("va_end", c_uint64),
        ("doorbell_size", c_uint32), ("secondary_doorbell_size", c_uint32), ("flags", c_uint32),
        ("pad", c_uint32),
    ]


def eventfd() -> int:
    """Return a new eventfd. The flags are those of open() by the headers of Linux."""
    fd = int(_libc.eventfd(0, os.O_CLOEXEC | os.O_NONBLOCK))
    if fd < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return fd


_OBJECT = POINTER(c_void_p)


def _function(name: str, result: Any, *types: Any) -> Any:
    function = getattr(_library, name)
    function.restype, function.argtypes = result, types
    return function


vf_adapter_open = _function("vf_adapter_open", c_int, c_uint, _OBJECT)
vf_adapter_close = _function("vf_adapter_close", None, c_void_p)
vf_adapter_fd = _function("vf_adapter_fd", c_int, c_void_p)
vf_adapter_info = _function("vf_adapter_info", c_int, c_void_p, POINTER(AdapterInfo))
vf_adapter_find_node = _function("vf_adapter_find_node", c_int, c_void_p, c_int)
vf_adapter_counter = _function("vf_adapter_counter", c_int, c_void_p, c_char_p, POINTER(c_uint64))
vf_device_create = _function("vf_device_create", c_int, c_void_p, _OBJECT)
vf_device_destroy = _function("vf_device_destroy", None, c_void_p)
vf_device_state = _function("vf_device_state", c_int, c_void_p)
vf_buffer_create = _function("vf_buffer_create", c_int, c_void_p, c_uint64, _OBJECT)
vf_buffer_destroy = _function("vf_buffer_destroy", None, c_void_p)
vf_buffer_map = _function("vf_buffer_map", c_void_p, c_void_p)
vf_buffer_va = _function("vf_buffer_va", c_uint64, c_void_p)
vf_buffer_size = _function("vf_buffer_size", c_uint64, c_void_p)
vf_fence_create = _function("vf_fence_create", c_int, c_void_p, c_uint32, c_uint64, _OBJECT)
vf_fence_open = _function("vf_fence_open", c_int, c_void_p, c_int, _OBJECT)
vf_fence_export = _function("vf_fence_export", c_int, c_void_p)
vf_fence_destroy = _function("vf_fence_destroy", None, c_void_p)
vf_fence_current = _function("vf_fence_current", c_uint64, c_void_p)
vf_fence_signal = _function("vf_fence_signal", c_int, c_void_p, c_uint64)
vf_fence_wait = _function("vf_fence_wait", c_int, c_void_p, c_uint64, c_int64)
vf_signal = _function("vf_signal", c_int, c_void_p, POINTER(Point), c_uint)
vf_wait = _function("vf_wait", c_int, c_void_p, POINTER(Point), c_uint, c_uint32, c_int64,
                    POINTER(c_uint))
vf_event_arm = _function("vf_event_arm", c_int, c_void_p, POINTER(Point), c_uint, c_uint32, c_int,
                         POINTER(c_uint32))
vf_event_cancel = _function("vf_event_cancel", c_int, c_void_p, c_uint32)
vf_deadline = _function("vf_deadline", c_int64, c_int64)
vf_queue_create = _function("vf_queue_create", c_int, c_void_p, c_uint, c_uint32, _OBJECT)
vf_queue_destroy = _function("vf_queue_destroy", None, c_void_p)
vf_queue_submit = _function("vf_queue_submit", c_int, c_void_p)
vf_queue_wait_idle = _function("vf_queue_wait_idle", c_int, c_void_p, c_int64)
vf_cmd_draw = _function("vf_cmd_draw", None, c_void_p, c_uint, c_uint64)
vf_cmd_fill = _function("vf_cmd_fill", None, c_void_p, c_uint64, c_uint64, c_uint32)
vf_cmd_copy = _function("vf_cmd_copy", None, c_void_p, c_uint64, c_uint64, c_uint64)
vf_cmd_wait = _function("vf_cmd_wait", None, c_void_p, c_void_p, c_uint64)
vf_cmd_signal = _function("vf_cmd_signal", None, c_void_p, c_void_p, c_uint64)

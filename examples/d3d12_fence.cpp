// SPDX-License-Identifier: MIT
/*
 * A D3D12 fence on vfence: the names and the meaning of ID3D12Fence and ID3D12CommandQueue, and the
 * loop that each D3D12 program has, with two frames in flight.
 *
 *     c++ d3d12_fence.cpp -o d3d12_fence $(pkg-config --cflags --libs libvfence)
 */
#include <cstdio>
#include <stdexcept>
#include <sys/eventfd.h>
#include <unistd.h>
#include <vfence.h>

static void check(int error)
{
	if (error < 0)
		throw std::runtime_error("vfence: error " + std::to_string(-error));
}

struct Device {
	vf_adapter *adapter;
	vf_device *device;

	Device() { check(vf_adapter_open(0, &adapter)); check(vf_device_create(adapter, &device)); }
	~Device() { vf_device_destroy(device); vf_adapter_close(adapter); }
};

class Fence {
public:
	vf_fence *fence;
	vf_adapter *adapter;

	/* ID3D12Device::CreateFence */
	Fence(Device &d, uint64_t initial) : adapter(d.adapter) { check(vf_fence_create(d.device, 0, initial, &fence)); }
	~Fence() { vf_fence_destroy(fence); }

	uint64_t GetCompletedValue() { return vf_fence_current(fence); }
	void Signal(uint64_t value) { check(vf_fence_signal(fence, value)); }

	/* The event of Linux is an eventfd; without one the call itself waits, as in D3D12. */
	void SetEventOnCompletion(uint64_t value, int event)
	{
		const vf_point point = { fence, value };

		check(event < 0 ? vf_fence_wait(fence, value, VF_FOREVER) :
				  vf_event_arm(adapter, &point, 1, 0, event, nullptr));
	}
};

class CommandQueue {
public:
	vf_queue *queue;

	CommandQueue(Device &d, drm_vfence_node_class engines)
	{
		int node = vf_adapter_find_node(d.adapter, engines);

		check(node);
		check(vf_queue_create(d.device, (unsigned int)node, 65536, &queue));
	}
	~CommandQueue() { vf_queue_destroy(queue); }

	void Wait(Fence &fence, uint64_t value) { vf_cmd_wait(queue, fence.fence, value); check(vf_queue_submit(queue)); }
	void Signal(Fence &fence, uint64_t value) { vf_cmd_signal(queue, fence.fence, value); check(vf_queue_submit(queue)); }
	void ExecuteCommandLists(uint64_t draw_ns) { vf_cmd_draw(queue, 1, draw_ns); check(vf_queue_submit(queue)); }
};

int main()
try {
	const uint64_t frames = 8, in_flight = 2;
	Device device;
	Fence frame(device, 0);
	CommandQueue graphics(device, DRM_VFENCE_NODE_GFX), copy(device, DRM_VFENCE_NODE_COPY);
	int event = eventfd(0, EFD_CLOEXEC);
	uint64_t woken = 0, count;

	for (uint64_t n = 1; n <= frames; n++) {
		/* Before an allocator is used again the GPU must be done with it. */
		if (n > in_flight && frame.GetCompletedValue() < n - in_flight) {
			frame.SetEventOnCompletion(n - in_flight, event);
			check(read(event, &count, sizeof(count)) == sizeof(count) ? 0 : -1);
			woken++;
		}
		graphics.ExecuteCommandLists(1000000);
		graphics.Signal(frame, n);
	}
	/* The copy engine waits for the last frame without the CPU. */
	Fence copied(device, 0);
	copy.Wait(frame, frames);
	copy.Signal(copied, 1);
	copied.SetEventOnCompletion(1, -1);
	printf("%llu frames, the CPU has waited: %s\n", (unsigned long long)frame.GetCompletedValue(),
	       woken ? "yes" : "no");
	close(event);
	return 0;
} catch (const std::exception &e) {
	fprintf(stderr, "%s\n", e.what());
	return 1;
}

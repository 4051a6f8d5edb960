// SPDX-License-Identifier: MIT
/*
 * A Vulkan timeline semaphore on vfence: the functions of VK_KHR_timeline_semaphore with their
 * meaning. Two queues take turns, and the host joins in.
 *
 *     c++ vulkan_timeline.cpp -o vulkan_timeline $(pkg-config --cflags --libs libvfence)
 */
#include <cerrno>
#include <cstdio>
#include <vector>
#include <vfence.h>

enum Result { SUCCESS, TIMEOUT, ERROR_DEVICE_LOST };

struct SemaphoreSubmit {
	vf_fence *semaphore;
	uint64_t value;
};

static Result result_of(int error)
{
	return error == -ETIME ? TIMEOUT : error < 0 ? ERROR_DEVICE_LOST : SUCCESS;
}

static Result GetSemaphoreCounterValue(vf_fence *semaphore, uint64_t *value)
{
	*value = vf_fence_current(semaphore);
	return SUCCESS;
}

static Result SignalSemaphore(vf_fence *semaphore, uint64_t value) { return result_of(vf_fence_signal(semaphore, value)); }

/* vkWaitSemaphores: for all of them, or with @any (VK_SEMAPHORE_WAIT_ANY_BIT) for one. */
static Result WaitSemaphores(vf_adapter *adapter, const std::vector<SemaphoreSubmit> &waits, bool any,
			     int64_t timeout_ns)
{
	std::vector<vf_point> points;

	for (const auto &wait : waits)
		points.push_back({ wait.semaphore, wait.value });
	return result_of(vf_wait(adapter, points.data(), (unsigned int)points.size(),
				 any ? DRM_VFENCE_WAIT_ANY : 0, vf_deadline(timeout_ns), nullptr));
}

/* vkQueueSubmit2 with one command buffer, which draws. */
static Result QueueSubmit2(vf_queue *queue, const std::vector<SemaphoreSubmit> &waits, uint64_t draw_ns,
			   const std::vector<SemaphoreSubmit> &signals)
{
	for (const auto &wait : waits)
		vf_cmd_wait(queue, wait.semaphore, wait.value);
	vf_cmd_draw(queue, 1, draw_ns);
	for (const auto &signal : signals)
		vf_cmd_signal(queue, signal.semaphore, signal.value);
	return result_of(vf_queue_submit(queue));
}

/* A queue of a queue family, which is a class of engines here. */
static Result CreateQueue(vf_adapter *adapter, vf_device *device, drm_vfence_node_class family, vf_queue **queue)
{
	int node = vf_adapter_find_node(adapter, family);

	return result_of(node < 0 ? node : vf_queue_create(device, (unsigned int)node, 65536, queue));
}

int main()
{
	vf_adapter *adapter;
	vf_device *device;
	vf_queue *graphics, *compute;
	vf_fence *semaphore;
	uint64_t value = 0;

	if (vf_adapter_open(0, &adapter) || vf_device_create(adapter, &device) ||
	    CreateQueue(adapter, device, DRM_VFENCE_NODE_GFX, &graphics) ||
	    CreateQueue(adapter, device, DRM_VFENCE_NODE_COMPUTE, &compute) ||
	    vf_fence_create(device, 0, 0, &semaphore))
		return 1;
	/* A submission may wait for a value that no one has promised yet. */
	for (uint64_t n = 1; n < 12; n += 3) {
		if (QueueSubmit2(graphics, { { semaphore, n } }, 1000, { { semaphore, n + 1 } }) ||
		    QueueSubmit2(compute, { { semaphore, n + 1 } }, 1000, { { semaphore, n + 2 } }))
			return 1;
	}
	if (WaitSemaphores(adapter, { { semaphore, 3 } }, false, 1000000) != TIMEOUT)
		return 1;
	for (uint64_t n = 1; n < 12; n += 3)
		if (SignalSemaphore(semaphore, n) ||
		    WaitSemaphores(adapter, { { semaphore, n + 2 } }, true, 5000000000))
			return 1;
	GetSemaphoreCounterValue(semaphore, &value);
	printf("the counter has come to %llu\n", (unsigned long long)value);
	vf_queue_destroy(graphics);
	vf_queue_destroy(compute);
	vf_fence_destroy(semaphore);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
	return 0;
}

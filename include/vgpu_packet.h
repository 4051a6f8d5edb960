/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VGPU_PACKET_H_
#define _VGPU_PACKET_H_

/*
 * Packet decoding: pure checks of a private copy of a packet. The module and the property
 * test in user space compile the same source.
 */

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/stddef.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif
#include "drm/vfence_drm.h"

/* Longest draw in ns; it bounds the time that an engine sleeps in one step. */
#define VGPU_DRAW_MAX_NS	10000000000ull

/** union vgpu_packet - private copy of a packet */
union vgpu_packet {
	struct drm_vfence_packet_header header;
	struct drm_vfence_packet_wait wait;
	struct drm_vfence_packet_signal signal;
	struct drm_vfence_packet_log log;
	struct drm_vfence_packet_draw draw;
	struct drm_vfence_packet_copy copy;
	struct drm_vfence_packet_fill fill;
	struct drm_vfence_packet_timestamp timestamp;
	struct drm_vfence_packet_monitored monitored;
	struct drm_vfence_packet_register reg;
	__u64 words[DRM_VFENCE_PACKET_MAX / 8];
};

/**
 * vgpu_packet_length - the length that packets of an opcode must have
 * @opcode: &enum drm_vfence_opcode
 *
 * Return: length in bytes; 0 for an unknown opcode; 1 for NOP, which may have any length.
 */
static inline unsigned int vgpu_packet_length(unsigned int opcode)
{
	switch (opcode) {
	case DRM_VFENCE_OP_NOP:
		return 1;
	case DRM_VFENCE_OP_FENCE_WAIT:
		return sizeof(struct drm_vfence_packet_wait);
	case DRM_VFENCE_OP_FENCE_SIGNAL:
		return sizeof(struct drm_vfence_packet_signal);
	case DRM_VFENCE_OP_LOG:
		return sizeof(struct drm_vfence_packet_log);
	case DRM_VFENCE_OP_DRAW:
		return sizeof(struct drm_vfence_packet_draw);
	case DRM_VFENCE_OP_COPY:
		return sizeof(struct drm_vfence_packet_copy);
	case DRM_VFENCE_OP_FILL:
		return sizeof(struct drm_vfence_packet_fill);
	case DRM_VFENCE_OP_TIMESTAMP:
		return sizeof(struct drm_vfence_packet_timestamp);
	case DRM_VFENCE_OP_HANG:
		return sizeof(struct drm_vfence_packet_header);
	case DRM_VFENCE_OP_MONITORED_SIGNAL:
		return sizeof(struct drm_vfence_packet_monitored);
	case DRM_VFENCE_OP_SET_REGISTER:
	case DRM_VFENCE_OP_READ_REGISTER:
		return sizeof(struct drm_vfence_packet_register);
	default:
		return 0;
	}
}

/*
 * Waits and LOG packets are for user-mode queues alone, signals of monitored fences for
 * kernel-mode queues alone. All other opcodes are for both.
 */
static inline bool vgpu_packet_of_queue(unsigned int opcode, bool user_mode)
{
	switch (opcode) {
	case DRM_VFENCE_OP_FENCE_WAIT:
	case DRM_VFENCE_OP_LOG:
		return user_mode;
	case DRM_VFENCE_OP_MONITORED_SIGNAL:
		return !user_mode;
	default:
		return true;
	}
}

/**
 * vgpu_packet_check_header - may the engine fetch the packet
 * @h: private copy of the header
 * @available: number of bytes between the read pointer and the write pointer
 * @user_mode: the packet is in a user-mode queue
 *
 * Return: DRM_VFENCE_FAULT_NONE or the fault.
 */
static inline enum drm_vfence_fault
vgpu_packet_check_header(const struct drm_vfence_packet_header *h, __u64 available,
			 bool user_mode)
{
	unsigned int length = vgpu_packet_length(h->opcode);

	if (!length || !vgpu_packet_of_queue(h->opcode, user_mode))
		return DRM_VFENCE_FAULT_OPCODE;
	if (h->length < sizeof(*h) || h->length > DRM_VFENCE_PACKET_MAX ||
	    h->length % 8 || h->length > available)
		return DRM_VFENCE_FAULT_LENGTH;
	if (length > 1 && h->length != length)
		return DRM_VFENCE_FAULT_LENGTH;
	if (h->flags)
		return DRM_VFENCE_FAULT_OPERAND;
	return DRM_VFENCE_FAULT_NONE;
}

static inline enum drm_vfence_fault
vgpu_packet_check_span(__u64 va, __u64 size)
{
	if (!size || size % 4 || size > DRM_VFENCE_MAX_BO_SIZE)
		return DRM_VFENCE_FAULT_OPERAND;
	if (va % 4)
		return DRM_VFENCE_FAULT_ALIGNMENT;
	if (va >= DRM_VFENCE_VA_LIMIT)
		return DRM_VFENCE_FAULT_UNMAPPED;
	return DRM_VFENCE_FAULT_NONE;
}

/**
 * vgpu_packet_check_body - are the operands within their ranges
 * @p: private copy whose header has passed vgpu_packet_check_header()
 * @va: output: the address that causes the fault, or 0
 *
 * The address space checks later whether the addresses are mapped.
 *
 * Return: DRM_VFENCE_FAULT_NONE or the fault.
 */
static inline enum drm_vfence_fault
vgpu_packet_check_body(const union vgpu_packet *p, __u64 *va)
{
	enum drm_vfence_fault fault;

	*va = 0;
	switch (p->header.opcode) {
	case DRM_VFENCE_OP_FENCE_WAIT:
		*va = p->wait.current_va;
		return *va % 8 ? DRM_VFENCE_FAULT_ALIGNMENT : DRM_VFENCE_FAULT_NONE;
	case DRM_VFENCE_OP_FENCE_SIGNAL:
		*va = p->signal.current_va % 8 ? p->signal.current_va :
						 p->signal.monitored_va;
		return *va % 8 ? DRM_VFENCE_FAULT_ALIGNMENT : DRM_VFENCE_FAULT_NONE;
	case DRM_VFENCE_OP_LOG:
		if (p->log.pad || p->log.operation > DRM_VFENCE_LOG_MARKER)
			return DRM_VFENCE_FAULT_OPERAND;
		return DRM_VFENCE_FAULT_NONE;
	case DRM_VFENCE_OP_DRAW:
		if (!p->draw.count || p->draw.pad || p->draw.duration_ns > VGPU_DRAW_MAX_NS)
			return DRM_VFENCE_FAULT_OPERAND;
		return DRM_VFENCE_FAULT_NONE;
	case DRM_VFENCE_OP_COPY:
		*va = p->copy.src_va;
		fault = vgpu_packet_check_span(p->copy.src_va, p->copy.size);
		if (fault != DRM_VFENCE_FAULT_NONE)
			return fault;
		*va = p->copy.dst_va;
		return vgpu_packet_check_span(p->copy.dst_va, p->copy.size);
	case DRM_VFENCE_OP_FILL:
		if (p->fill.pad)
			return DRM_VFENCE_FAULT_OPERAND;
		*va = p->fill.dst_va;
		return vgpu_packet_check_span(p->fill.dst_va, p->fill.size);
	case DRM_VFENCE_OP_TIMESTAMP:
		*va = p->timestamp.dst_va;
		return *va % 8 ? DRM_VFENCE_FAULT_ALIGNMENT : DRM_VFENCE_FAULT_NONE;
	case DRM_VFENCE_OP_SET_REGISTER:
	case DRM_VFENCE_OP_READ_REGISTER:
		if (p->reg.index >= DRM_VFENCE_REGISTERS || p->reg.pad)
			return DRM_VFENCE_FAULT_OPERAND;
		if (p->header.opcode == DRM_VFENCE_OP_SET_REGISTER)
			return DRM_VFENCE_FAULT_NONE;
		*va = p->reg.value;
		return *va % 8 ? DRM_VFENCE_FAULT_ALIGNMENT : DRM_VFENCE_FAULT_NONE;
	case DRM_VFENCE_OP_MONITORED_SIGNAL:
		*va = p->monitored.current_va;
		return *va % 8 ? DRM_VFENCE_FAULT_ALIGNMENT : DRM_VFENCE_FAULT_NONE;
	default:
		return DRM_VFENCE_FAULT_NONE;
	}
}

#endif

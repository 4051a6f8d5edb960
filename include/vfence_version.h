/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The version of the interface to programs, which is that of the project. uapi/drm/vfence_drm.h
 * says what each version has brought.
 */
#ifndef _VFENCE_VERSION_H_
#define _VFENCE_VERSION_H_

#define VFENCE_MAJOR	2
#define VFENCE_MINOR	0

#endif

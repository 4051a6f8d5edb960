// SPDX-License-Identifier: GPL-2.0-only
/* vfence dump: the device core dump of a hang, with the packets decoded. */

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "tool.h"

#define DUMPS		"/sys/class/devcoredump"
#define TITLE		"**** vfence device core dump ****"
#define MAX_WORDS	256
#define MAX_TEXT	32768

/* A dump as text, and the part of the ring that it has. */
struct dump {
	char text[MAX_TEXT];
	uint64_t word[MAX_WORDS];
	unsigned int words;
	/* Position of the first word, of the packet in flight, of what the client writes next. */
	uint64_t from, read, write;
};

/* Return the value behind a name, or "". The caller frees it. */
static char *value(const struct dump *dump, const char *name)
{
	const char *line = dump->text;
	size_t length = strlen(name);

	while (line && *line) {
		if (!strncmp(line, name, length) && !strncmp(line + length, ": ", 2)) {
			line += length + 2;
			return strndup(line, strcspn(line, "\n"));
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return strdup("");
}

static uint64_t number(const struct dump *dump, const char *name)
{
	char *text = value(dump, name);
	uint64_t n = text ? strtoull(text, NULL, 0) : 0;

	free(text);
	return n;
}

static void read_ring(struct dump *dump)
{
	const char *line = strstr(dump->text, "\nring:\n");
	unsigned long long at, word;
	char mark;

	line = line ? line + strlen("\nring:\n") : NULL;
	while (line && dump->words < MAX_WORDS &&
	       sscanf(line, "%c 0x%llx: 0x%llx", &mark, &at, &word) == 3) {
		if (!dump->words)
			dump->from = at;
		dump->word[dump->words++] = word;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	dump->read = number(dump, "read_ptr");
	dump->write = number(dump, "write_ptr");
}

/* Read the file of a dump. Return false if it is of another driver or of another adapter. */
static bool read_dump(const char *path, unsigned int adapter, struct dump *dump)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char name[32];
	size_t n = 0;
	ssize_t got = 1;
	char *of;
	bool right;

	if (fd < 0)
		return false;
	while (got > 0 && n < sizeof(dump->text) - 1) {
		got = read(fd, dump->text + n, sizeof(dump->text) - 1 - n);
		n += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	dump->text[n] = 0;
	if (strncmp(dump->text, TITLE, strlen(TITLE)))
		return false;
	snprintf(name, sizeof(name), "vfence%u", adapter);
	of = value(dump, "adapter");
	right = adapter == UINT32_MAX || (of && !strcmp(of, name));
	free(of);
	return right;
}

/* Find a dump. Return 0 and the path of its file, or an error. */
static int find_dump(unsigned int adapter, struct dump *dump, char *path, size_t size)
{
	struct dirent *entry;
	DIR *dir = opendir(DUMPS);
	int ret = -ENOENT;

	if (!dir)
		return -ENOENT;
	while (ret && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, size, DUMPS "/%s/data", entry->d_name);
		if (access(path, R_OK))
			ret = errno == EACCES ? -EACCES : ret;
		else if (read_dump(path, adapter, dump))
			ret = 0;
		if (ret == -EACCES)
			break;
	}
	closedir(dir);
	return ret;
}

/* Return the next words as a structure; zeros where the dump ends. */
static uint64_t word_at(const struct dump *dump, uint64_t at)
{
	uint64_t i = (at - dump->from) / 8;

	return at >= dump->from && i < dump->words ? dump->word[i] : 0;
}

#define PACKET(dump, at, type) ({						\
	struct drm_vfence_packet_##type packet;					\
	uint64_t words[sizeof(packet) / 8];					\
	unsigned int w;								\
	for (w = 0; w < sizeof(packet) / 8; w++)				\
		words[w] = word_at(dump, (at) + w * 8);				\
	memcpy(&packet, words, sizeof(packet));					\
	packet; })

#define U(n)	((unsigned long long)(n))

static void print_packet(const struct dump *dump, uint64_t at, unsigned int opcode)
{
	switch (opcode) {
	case DRM_VFENCE_OP_NOP:
		printf("NOP\n");
		break;
	case DRM_VFENCE_OP_FENCE_WAIT: {
		struct drm_vfence_packet_wait p = PACKET(dump, at, wait);

		printf("WAIT      fence at 0x%llx for %llu\n", U(p.current_va), U(p.value));
		break;
	}
	case DRM_VFENCE_OP_FENCE_SIGNAL: {
		struct drm_vfence_packet_signal p = PACKET(dump, at, signal);

		printf("SIGNAL    fence at 0x%llx with %llu\n", U(p.current_va), U(p.value));
		break;
	}
	case DRM_VFENCE_OP_LOG: {
		struct drm_vfence_packet_log p = PACKET(dump, at, log);

		printf("LOG       entry %u: fence %u, %llu\n", p.index, p.fence, U(p.value));
		break;
	}
	case DRM_VFENCE_OP_DRAW: {
		struct drm_vfence_packet_draw p = PACKET(dump, at, draw);

		printf("DRAW      %u of %.3f ms\n", p.count, (double)p.duration_ns / 1e6);
		break;
	}
	case DRM_VFENCE_OP_COPY: {
		struct drm_vfence_packet_copy p = PACKET(dump, at, copy);

		printf("COPY      %llu bytes from 0x%llx to 0x%llx\n", U(p.size), U(p.src_va),
		       U(p.dst_va));
		break;
	}
	case DRM_VFENCE_OP_FILL: {
		struct drm_vfence_packet_fill p = PACKET(dump, at, fill);

		printf("FILL      %llu bytes at 0x%llx with 0x%x\n", U(p.size), U(p.dst_va),
		       p.value);
		break;
	}
	case DRM_VFENCE_OP_TIMESTAMP: {
		struct drm_vfence_packet_timestamp p = PACKET(dump, at, timestamp);

		printf("TIMESTAMP to 0x%llx\n", U(p.dst_va));
		break;
	}
	case DRM_VFENCE_OP_HANG:
		printf("HANG\n");
		break;
	case DRM_VFENCE_OP_MONITORED_SIGNAL: {
		struct drm_vfence_packet_monitored p = PACKET(dump, at, monitored);

		printf("MONITORED fence at 0x%llx with %llu\n", U(p.current_va), U(p.value));
		break;
	}
	default:
		printf("opcode %u, of the driver or illegal\n", opcode);
		break;
	}
}

/* Print the end of a log, if the dump has one. */
static void print_log(const struct dump *dump, const char *name)
{
	unsigned long long value, time;
	unsigned int fence, operation;
	char title[32];
	const char *line;

	snprintf(title, sizeof(title), "\n%s log:\n", name);
	line = strstr(dump->text, title);
	if (!line)
		return;
	printf("\nlast entries of the %s log:\n", name);
	line += strlen(title);
	while (line && sscanf(line, "fence %u, operation %u, value %llu, time %llu", &fence,
			      &operation, &value, &time) == 4) {
		printf("  %-9s fence %u, %llu, at %llu\n",
		       operation == DRM_VFENCE_LOG_MARKER ? "MARKER" :
		       operation == DRM_VFENCE_LOG_WAIT_UNBLOCKED ? "WAIT" : "SIGNAL",
		       fence, value, time);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
}

/* The types of WDDM that occur here. */
static const char *type_name(uint64_t type)
{
	static const char *const names[] = {
		[1] = "FORCED", [6] = "ENGINE_TIMEOUT", [9] = "ENGINE_TIMEOUT_PROMOTED",
		[10] = "PAGE_FAULT", [12] = "ENGINE_PAGE_FAULT",
	};

	return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "UNKNOWN";
}

/* Where packets begin is known from the one in flight on. */
static void print_packets(const struct dump *dump)
{
	uint64_t at = dump->read, end = dump->from + dump->words * 8ull;

	printf("\nin flight, and what follows:\n");
	while (at < dump->write && at < end) {
		uint64_t word = word_at(dump, at);
		struct drm_vfence_packet_header header;

		memcpy(&header, &word, sizeof(header));
		printf("%c 0x%-8llx ", at == dump->read ? '>' : ' ', U(at));
		print_packet(dump, at, header.opcode);
		if (header.length < 8 || header.length > DRM_VFENCE_PACKET_MAX ||
		    header.length % 8) {
			printf("  the length of this packet is not legal: %u\n", header.length);
			return;
		}
		at += header.length;
	}
	if (at >= dump->write)
		printf("  0x%-8llx the client has written no more\n", U(dump->write));
	else
		printf("  0x%-8llx the dump ends\n", U(end));
}

static const char *node_name(uint64_t class_id)
{
	static const char *const names[] = { "GFX", "COMPUTE", "COPY", "MM", "PAGING" };

	return class_id < sizeof(names) / sizeof(names[0]) ? names[class_id] : "unknown";
}

static void print_dump(const struct dump *dump)
{
	char *adapter = value(dump, "adapter"), *command = value(dump, "command");
	bool engine = number(dump, "reason") == 0x141;

	printf("%s: the %s engine (node %llu) %s; %s is to be reset (0x%llx)\n", adapter,
	       node_name(number(dump, "class")), U(number(dump, "node")),
	       number(dump, "responsive") ? "was busy" : "made no progress",
	       engine ? "it" : "the adapter", U(number(dump, "reason")));
	printf("type: %s (%llu)\n", type_name(number(dump, "type")), U(number(dump, "type")));
	printf("turns: %llu submitted, %llu completed\n", U(number(dump, "submitted")),
	       U(number(dump, "completed")));
	if (!number(dump, "turn")) {
		printf("nothing was on the engine\n");
	} else {
		printf("process: %llu (%s), context %llu, queue %llu\n",
		       U(number(dump, "process")), command, U(number(dump, "context")),
		       U(number(dump, "queue")));
		printf("the queue: %llu packets completed, %.3f ms on engines\n",
		       U(number(dump, "packets")), (double)number(dump, "busy_ns") / 1e6);
		printf("the packet in flight: %.3f ms of it\n",
		       (double)number(dump, "used_ns") / 1e6);
		print_packets(dump);
		print_log(dump, "wait");
		print_log(dump, "signal");
	}
	free(command);
	free(adapter);
}

static int release(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, "0", 1) == 1 ? 0 : -errno;
	close(fd);
	return ret;
}

int dump_main(const struct options *options)
{
	struct dump *dump = calloc(1, sizeof(*dump));
	char path[PATH_MAX];
	int ret = dump ? find_dump(options->adapter, dump, path, sizeof(path)) : -ENOMEM;

	if (ret == -ENOENT) {
		fputs("vfence: dump: there is none: no engine has hung, or it was released\n",
		      stderr);
	} else if (ret == -EACCES) {
		fputs("vfence: dump: only root can read what clients have put into rings\n",
		      stderr);
	} else if (!ret) {
		read_ring(dump);
		print_dump(dump);
		if (options->release)
			ret = release(path);
	}
	free(dump);
	return ret;
}

#include "guard.h"

#include "cuda_runtime_api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_VIOLATION = 97, MOST_STACK = 8 << 20 };

/* The engine's: the thread of the device that is running here, NULL in host code; where device memory lies. */
struct lane;
extern __thread struct lane *sim_lane __attribute__((tls_model("local-exec")));
extern uintptr_t sim_arena_first, sim_arena_span;

/* From guard_begin.o and guard_end.o, between which the submission is linked. */
extern char guard_data_first[], guard_data_end[], guard_bss_first[], guard_bss_end[];

static bool closed;
static uintptr_t frame_end;
static FILE *violation;

int guard_prepare(const char *directory, struct error *error)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/violation.txt", directory);
	if (!(violation = fopen(path, "w")))
		return error_set(error, EXIT_ENVIRONMENT, "%s: cannot be written", path);
	return 0;
}

void guard_close(void *frame)
{
	frame_end = (uintptr_t)frame;
	closed = true;
}

void guard_open(void)
{
	closed = false;
}

static _Noreturn void refuse(const char *what)
{
	fprintf(violation, "%s\n", what);
	fflush(violation);
	_exit(STATUS_VIOLATION);
}

static bool inside(uintptr_t address, size_t bytes, uintptr_t first, uintptr_t end)
{
	return address >= first && address <= end && bytes <= end - address;
}

static bool may_write(uintptr_t address, size_t bytes)
{
	return inside(address, bytes, frame_end - MOST_STACK, frame_end) ||
	       inside(address, bytes, (uintptr_t)guard_data_first, (uintptr_t)guard_data_end) ||
	       inside(address, bytes, (uintptr_t)guard_bss_first, (uintptr_t)guard_bss_end);
}

static inline __attribute__((always_inline)) void look(const void *pointer, size_t bytes, bool write)
{
	const uintptr_t address = (uintptr_t)pointer;
	if (sim_lane != NULL || !closed)
		return;
	if (address - sim_arena_first < sim_arena_span)
		refuse(write ? "host code writes device memory" : "host code reads device memory");
	if (write && !may_write(address, bytes))
		refuse("host code writes memory that is not its own");
}

#define HOOK(name, bytes, write)                                                                                     \
	void __tsan_##name(void *pointer, const void *site);                                                         \
	void guard_##name(void *pointer, const void *site);                                                          \
	void guard_##name(void *pointer, const void *site)                                                           \
	{                                                                                                            \
		look(pointer, bytes, write);                                                                         \
		__tsan_##name(pointer, site);                                                                        \
	}
#define HOOKS(bytes)                                                                                                 \
	HOOK(read##bytes, bytes, false)                                                                              \
	HOOK(write##bytes, bytes, true)                                                                              \
	HOOK(volatile_read##bytes, bytes, false)                                                                     \
	HOOK(volatile_write##bytes, bytes, true)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

#define UNALIGNED_HOOKS(bytes)                                                                                       \
	HOOK(unaligned_read##bytes, bytes, false)                                                                    \
	HOOK(unaligned_write##bytes, bytes, true)
UNALIGNED_HOOKS(2)
UNALIGNED_HOOKS(4)
UNALIGNED_HOOKS(8)
UNALIGNED_HOOKS(16)

#define RANGE_HOOK(name, write)                                                                                      \
	void __tsan_##name(void *pointer, size_t bytes, const void *site);                                           \
	void guard_##name(void *pointer, size_t bytes, const void *site);                                            \
	void guard_##name(void *pointer, size_t bytes, const void *site)                                             \
	{                                                                                                            \
		look(pointer, bytes, write);                                                                         \
		__tsan_##name(pointer, bytes, site);                                                                 \
	}
RANGE_HOOK(read_range, false)
RANGE_HOOK(write_range, true)

#define COPY(name)                                                                                                   \
	void *sim_##name##_s4(void *to, const void *from, size_t bytes, const void *site);                           \
	void *guard_##name##_s4(void *to, const void *from, size_t bytes, const void *site);                         \
	void *guard_##name##_s4(void *to, const void *from, size_t bytes, const void *site)                          \
	{                                                                                                            \
		look(from, bytes, false);                                                                            \
		look(to, bytes, true);                                                                               \
		return sim_##name##_s4(to, from, bytes, site);                                                       \
	}                                                                                                            \
	void *guard_##name(void *to, const void *from, size_t bytes);                                                \
	void *guard_##name(void *to, const void *from, size_t bytes)                                                 \
	{                                                                                                            \
		look(from, bytes, false);                                                                            \
		look(to, bytes, true);                                                                               \
		return name(to, from, bytes);                                                                        \
	}
COPY(memcpy)
COPY(memmove)

void *sim_memset_s4(void *to, int value, size_t bytes, const void *site);
void *guard_memset_s4(void *to, int value, size_t bytes, const void *site);
void *guard_memset_s4(void *to, int value, size_t bytes, const void *site)
{
	look(to, bytes, true);
	return sim_memset_s4(to, value, bytes, site);
}

void *guard_memset(void *to, int value, size_t bytes);
void *guard_memset(void *to, int value, size_t bytes)
{
	look(to, bytes, true);
	return memset(to, value, bytes);
}

/* CUDA calls that write through a pointer of the caller's. */
cudaError_t guard_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t guard_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	look(value, sizeof *value, true);
	return cudaDeviceGetAttribute(value, attribute, device);
}

cudaError_t guard_cudaGetDevice(int *device);
cudaError_t guard_cudaGetDevice(int *device)
{
	look(device, sizeof *device, true);
	return cudaGetDevice(device);
}

cudaError_t guard_cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t guard_cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
	look(properties, sizeof *properties, true);
	return cudaGetDeviceProperties(properties, device);
}

/* printf left in a kernel is no mistake; nobody reads it here. */
#define SILENT(name)                                                                                                 \
	int guard_##name(void);                                                                                      \
	int guard_##name(void)                                                                                       \
	{                                                                                                            \
		return 0;                                                                                            \
	}
SILENT(printf)
SILENT(puts)
SILENT(putchar)
SILENT(sim_printf)
SILENT(sim_puts)
SILENT(sim_putchar)
SILENT(sim_vprintf)

/* What the device's clang pass copies structs with. */
void *guard_mempcpy(void *to, const void *from, size_t bytes);
void *guard_mempcpy(void *to, const void *from, size_t bytes)
{
	look(from, bytes, false);
	look(to, bytes, true);
	return mempcpy(to, from, bytes);
}

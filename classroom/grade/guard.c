#include "guard.h"

#include "cuda_runtime_api.h"
#include "sim.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_VIOLATION = 97, MOST_STACK = 8 << 20 };

/* From guard_begin.o and guard_end.o, between which the submission is linked. */
extern char guard_data_first[], guard_data_end[], guard_bss_first[], guard_bss_end[];

static bool closed;
static uintptr_t frame_end, device_first;
static size_t device_bytes;
static FILE *violation;

int guard_prepare(const char *directory, struct error *error)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/violation.txt", directory);
	if (!(violation = fopen(path, "w")))
		return error_set(error, EXIT_ENVIRONMENT, "%s: cannot be written", path);
	sim_device_memory(&device_first, &device_bytes);
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
	if (!closed || sim_in_device_code())
		return;
	if (address - device_first < device_bytes)
		refuse(write ? "host code writes device memory" : "host code reads device memory");
	if (write && !may_write(address, bytes))
		refuse("host code writes memory that is not its own");
}

/* The device knows an access by the address that its hook returns to. So a guard looks, and jumps on to the hook with
 * the stack and the arguments as it found them. */
#define JUMP_ON(guard, hook)                                                                                         \
	__asm__(".text\n\t.globl " guard "\n\t.type " guard ", @function\n" guard ":\n\t"                            \
	        "pushq %rdi\n\tpushq %rsi\n\tpushq %rdx\n\tcall " guard "_look\n\tpopq %rdx\n\tpopq %rsi\n\tpopq "   \
	        "%rdi\n\tjmp " hook "@PLT\n\t.size " guard ", .-" guard)

#define HOOK(name, bytes, write)                                                                                     \
	void guard_##name##_look(const void *pointer);                                                               \
	void guard_##name##_look(const void *pointer)                                                                \
	{                                                                                                            \
		look(pointer, bytes, write);                                                                         \
	}                                                                                                            \
	JUMP_ON("guard_" #name, "__tsan_" #name);
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
	void guard_##name##_look(const void *pointer, size_t bytes);                                                 \
	void guard_##name##_look(const void *pointer, size_t bytes)                                                  \
	{                                                                                                            \
		look(pointer, bytes, write);                                                                         \
	}                                                                                                            \
	JUMP_ON("guard_" #name, "__tsan_" #name);
RANGE_HOOK(read_range, false)
RANGE_HOOK(write_range, true)

#define COPY(name)                                                                                                   \
	void guard_##name##_look(const void *to, const void *from, size_t bytes);                                    \
	void guard_##name##_look(const void *to, const void *from, size_t bytes)                                     \
	{                                                                                                            \
		look(from, bytes, false);                                                                            \
		look(to, bytes, true);                                                                               \
	}                                                                                                            \
	JUMP_ON("guard_" #name, #name);                                                                              \
	void guard_sim_##name##_look(const void *to, const void *from, size_t bytes);                                \
	void guard_sim_##name##_look(const void *to, const void *from, size_t bytes)                                 \
	{                                                                                                            \
		guard_##name##_look(to, from, bytes);                                                                \
	}                                                                                                            \
	JUMP_ON("guard_sim_" #name, "sim_" #name);
COPY(memcpy)
COPY(memmove)

void guard_memset_look(const void *to, int value, size_t bytes);
void guard_memset_look(const void *to, int value, size_t bytes)
{
	(void)value;
	look(to, bytes, true);
}
JUMP_ON("guard_memset", "memset");

void guard_sim_memset_look(const void *to, int value, size_t bytes);
void guard_sim_memset_look(const void *to, int value, size_t bytes)
{
	guard_memset_look(to, value, bytes);
}
JUMP_ON("guard_sim_memset", "sim_memset");

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

/*
 * Kernels come with host code of their own, launchers, and that may end the program or break it. Then one line says so, and
 * the exit status is EXIT_VERIFICATION: a program that ends before its results has shown nothing.
 */
#ifndef RUN_HOST_CODE_H
#define RUN_HOST_CODE_H

/* From now on, until host_code_unguard: exit(0), _exit(0), quick_exit(), abort() and signals such as SIGSEGV. `program` is kept.
 * exit(0) is not seen where the C library has no on_exit() (musl). */
void host_code_guard(const char *program);

/* The kernel that runs now, for that line; kept; NULL: none. */
void host_code_of(const char *kernel);

/* What ends the program now is its own end. */
void host_code_unguard(void);

#endif

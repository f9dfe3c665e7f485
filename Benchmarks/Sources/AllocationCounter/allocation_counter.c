#define _GNU_SOURCE
#include "allocation_counter.h"
#include <errno.h>
#include <execinfo.h>
#include <stdio.h>
#include <stddef.h>
#include <time.h>

// The executable's malloc comes before the C library's for every shared library too; glibc keeps its own under these names.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static uint64_t calls;
static int64_t traces;

static void count(void) {
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    if (__atomic_load_n(&traces, __ATOMIC_RELAXED) <= 0) return;
    __atomic_sub_fetch(&traces, 1, __ATOMIC_RELAXED);
    void *frames[16];
    int depth = backtrace(frames, 16);
    backtrace_symbols_fd(frames, depth, 2);
    dprintf(2, "--\n");
}

void allocation_trace(int64_t number) {
    // The first backtrace of a process loads the unwinder, which allocates itself.
    void *frames[2];
    backtrace(frames, 2);
    __atomic_store_n(&traces, number, __ATOMIC_RELAXED);
}

void *malloc(size_t size) { count(); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { count(); return __libc_calloc(number, size); }
void *realloc(void *old, size_t size) { count(); return __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) { count(); return __libc_memalign(alignment, size); }
int posix_memalign(void **result, size_t alignment, size_t size) {
    count();
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : ENOMEM;
}

uint64_t allocation_count(void) { return __atomic_load_n(&calls, __ATOMIC_RELAXED); }

int64_t thread_cpu_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

#pragma once
#include <stdint.h>
// Calls to malloc, calloc, realloc and aligned forms by all threads since the process began.
uint64_t allocation_count(void);
// CPU time of the calling thread in nanoseconds.
int64_t thread_cpu_nanoseconds(void);
// Prints where the next `number` allocations come from to standard error.
void allocation_trace(int64_t number);

#pragma once
// The door to libspandsp: loss concealment for G.711.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <limits.h>
#include <time.h>
#include <stdio.h>
#include <math.h>
#include <stdbool.h>
#include <inttypes.h>
#include <spandsp/telephony.h>
#include <spandsp/alloc.h>
#include <spandsp/fast_convert.h>
#include <spandsp/vector_int.h>
#include <spandsp/plc.h>

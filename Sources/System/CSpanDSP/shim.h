#pragma once
// The door to libspandsp: loss concealment for G.711.
#include <stdint.h>
#include <stdbool.h>
#include <inttypes.h>
#include <spandsp/telephony.h>
#include <spandsp/plc.h>

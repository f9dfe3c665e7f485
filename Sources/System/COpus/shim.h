#pragma once
// The door to libopus; the variadic controls have fixed-arity twins here.
#include <opus/opus.h>

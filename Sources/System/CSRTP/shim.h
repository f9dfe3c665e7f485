#pragma once
// The door to libsrtp 2: one context a direction.
#include <srtp2/srtp.h>

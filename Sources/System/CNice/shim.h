#pragma once
// The door to libnice: ICE agents, candidates, addresses.
#include <nice/agent.h>
#include <nice/interfaces.h>

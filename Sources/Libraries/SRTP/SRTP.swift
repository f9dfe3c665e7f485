// One context a direction, protecting or opening packets in place.

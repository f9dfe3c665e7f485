// A client without a screen that proves a gateway from a terminal.

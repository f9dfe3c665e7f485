// Holds the live sessions and calls and carries out their effects through ports.

// Reads the configuration file and says what is wrong with it by key path and line.

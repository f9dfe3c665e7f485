// The soft-phone page, served by the binary.

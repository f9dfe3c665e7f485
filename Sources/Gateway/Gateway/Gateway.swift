// Reads configuration, builds the parts, joins them, drains them.

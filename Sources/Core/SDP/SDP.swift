// Parses, prints and negotiates session descriptions.

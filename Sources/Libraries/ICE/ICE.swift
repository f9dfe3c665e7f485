// Owns one ICE agent: credentials and candidates in, state, paths and datagrams out.

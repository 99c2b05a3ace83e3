"""One script per library that does the same work, each run in an environment of its own."""

"""The command line: one module for each command, each imported only when it is the one that was asked for."""

"""Second implementations, one deployment a module, each with `run(parameters, seed) -> figures`.

They share nothing with the engine: other random numbers, other event loops (SimPy, Ciw, or a few lines of plain
Python), other data structures. A figure is a steady-state mean after a warm-up; equal names mean equal definitions.
"""

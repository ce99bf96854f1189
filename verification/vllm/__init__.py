"""serQ held against vLLM's own scheduler: the same requests, the same clock, every field of every step.

The scheduler is vLLM's, unchanged, driven without a GPU (`driver`); its answers are recorded (`recordings`) or live
(`live`). serQ's side is a program (`programs`) whose sessions are given as data (`model`). `answer` is what both sides
give, `compare` says where they differ. `python -m verification.vllm --help` is the way in.
"""

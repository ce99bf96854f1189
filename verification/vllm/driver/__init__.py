"""vLLM's scheduler and KV-cache manager, unchanged, on a CPU without a model.

Runs in an environment of its own (`verification.vllm.environment`), with the Python sources of one vLLM release on the
path; nothing here imports serQ. `scheduler` sets the scheduler up, `run` feeds it and keeps its clock, and
`python -m verification.vllm.driver` answers scenarios line by line.
"""

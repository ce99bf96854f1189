"""Statistical verification: hand-written second implementations of the example deployments, compared over seeds.

The models under `models` were written from the deployments' descriptions, not from the engine; `compare` runs both
sides and writes `evidence/index.md`. Minutes, not seconds: `python -m verification --seeds 20 --jobs 2`.
"""

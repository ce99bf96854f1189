"""Set vLLM's scheduler up as a scenario asks, with nothing of vLLM that needs a GPU.

Input: a scenario's `Config`. Output: vLLM's own `Scheduler`, synchronous, and the function that hashes a request's
blocks when prefixes are cached. The model is a configuration file and never loaded.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

# vLLM reads these when it is imported: no chatter, no statistics sent, no model looked for on a network
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import vllm
from vllm.config import CacheConfig, DeviceConfig, ModelConfig, SchedulerConfig, VllmConfig
from vllm.utils.hashing import get_hash_fn_by_name
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec
from vllm.v1.structured_output import StructuredOutputManager

from verification.vllm.scenario import Config

MODEL = Path(__file__).resolve().parent / "model"
CONTEXT_MAX = 1 << 18
"""Longest context of the model that is not there [tokens]."""

HASH = "sha256"

BlockHasher = Callable[[Any], Any]


def release() -> str:
    """Give the vLLM release that is imported."""
    return str(vllm.__version__)


@lru_cache
def model_config() -> Any:
    """Give the configuration of the model; reading it takes seconds, so it is read once."""
    return ModelConfig(model=str(MODEL), skip_tokenizer_init=True, max_model_len=CONTEXT_MAX, seed=0, dtype="bfloat16")


@lru_cache
def block_hasher(block_size: int) -> BlockHasher:
    """Give the function that names a request's full blocks by their content."""
    function = get_hash_fn_by_name(HASH)
    init_none_hash(function)
    hasher: BlockHasher = get_request_block_hasher(block_size, function)
    return hasher


def make_scheduler(config: Config) -> Any:
    """Set a scheduler up; an `AssertionError` when vLLM made something else of the configuration.

    One full-attention group of KV blocks, with the null block that vLLM keeps for itself on top of the usable ones.
    """
    blocks = config.usable_blocks + 1
    scheduler_config = SchedulerConfig(
        max_num_batched_tokens=max(config.budget, config.max_seqs),
        max_num_seqs=config.max_seqs,
        max_model_len=CONTEXT_MAX,
        is_encoder_decoder=False,
        enable_chunked_prefill=True,
        long_prefill_token_threshold=config.chunk,
        policy=config.policy,
        async_scheduling=False,
    )
    cache_config = CacheConfig(
        block_size=config.block_size, gpu_memory_utilization=0.9, enable_prefix_caching=config.prefix_caching
    )
    whole = VllmConfig(
        model_config=model_config(),
        scheduler_config=scheduler_config,
        cache_config=cache_config,
        device_config=DeviceConfig("cpu"),
    )
    # The configuration is normalised for the platform, and a budget below max_num_seqs is refused, although the
    # scheduler itself has no quarrel with it: what was asked for is put back.
    whole.cache_config.enable_prefix_caching = config.prefix_caching
    whole.cache_config.block_size = config.block_size
    whole.cache_config.num_gpu_blocks = blocks
    whole.scheduler_config.max_num_batched_tokens = config.budget
    whole.scheduler_config.max_num_seqs = config.max_seqs
    whole.scheduler_config.long_prefill_token_threshold = config.chunk
    whole.scheduler_config.enable_chunked_prefill = True
    group = FullAttentionSpec(block_size=config.block_size, num_kv_heads=1, head_size=1, dtype=torch.float32)
    scheduler = Scheduler(
        vllm_config=whole,
        kv_cache_config=KVCacheConfig(
            num_blocks=blocks, kv_cache_tensors=[], kv_cache_groups=[KVCacheGroupSpec(["layer"], group)]
        ),
        structured_output_manager=StructuredOutputManager(whole),
        block_size=config.block_size,
        log_stats=False,
    )
    assert type(scheduler) is Scheduler
    assert scheduler.max_num_scheduled_tokens == config.budget
    assert scheduler.max_num_running_reqs == config.max_seqs
    assert scheduler.scheduler_reserve_full_isl is True
    assert scheduler.kv_cache_manager.block_pool.get_num_free_blocks() == config.usable_blocks
    return scheduler

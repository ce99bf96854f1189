"""The rules of docs/vllm.md against vLLM's sources: which of them a release has to be read again for."""

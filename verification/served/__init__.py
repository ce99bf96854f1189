"""serQ beside measured runs of vLLM: what is fitted, what is held out, and the page docs/validation.md."""

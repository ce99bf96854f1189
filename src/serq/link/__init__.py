"""IR to linked program: every name an index, every constant a number, every family written out. Knows no time."""

from serq.link.program import link

__all__ = ["link"]

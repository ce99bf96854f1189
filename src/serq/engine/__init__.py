"""The engine: a linked program and a seed into events, samples and figures. Only `assemble` sees the rest of the
package.
"""

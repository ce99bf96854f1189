"""Check that only kernel nodes are left, or were all there was.

The kernel is what the nodes marked K in `syntax.nodes` are; the IR has a place for each of them and for no other.
"""

from __future__ import annotations

from serq.expand.tree import walk
from serq.syntax.nodes import (
    Binding,
    Branch,
    DefinitionCall,
    Entry,
    EntryCall,
    ExpressionDefinition,
    Hold,
    Mark,
    Name,
    Node,
    Parameter,
    Program,
    Pull,
    Queue,
    Request,
    Run,
    RunBlock,
    Serve,
    Server,
    Serving,
    Session,
    StatementDefinition,
    Transfer,
    Use,
    Workload,
)

SURFACE = (
    Binding,
    DefinitionCall,
    Entry,
    EntryCall,
    ExpressionDefinition,
    Mark,
    Parameter,
    Pull,
    Queue,
    Request,
    Serve,
    Server,
    Serving,
    StatementDefinition,
    Transfer,
    Use,
)


class NotKernel(AssertionError):
    """A pass left a surface form behind: our mistake, not the user's.

    Attributes
    ----------
    node : the form
    """

    def __init__(self, node: Node) -> None:
        super().__init__(f"{type(node).__name__} survived the expansion: `{node.span.text}`")
        self.node = node


def assert_kernel(program: Program) -> None:
    """Raise `NotKernel` when a node of the program is none of the kernel's."""
    for node in walk(program):
        if _is_surface(node):
            raise NotKernel(node)


def is_settled(program: Program) -> bool:
    """Tell whether every pass would leave a program as it is and have nothing to say of it.

    The passes also hold a program to one of each block, and a `self` to the entries of queues.
    """
    blocks = [type(item) for item in program.items if isinstance(item, Workload | Session | RunBlock)]
    if len(blocks) > len(set(blocks)):
        return False
    return not any(_is_surface(node) or (isinstance(node, Name) and node.name == "self") for node in walk(program))


def _is_surface(node: Node) -> bool:
    """Tell whether a node is not the kernel's, or not in the kernel's form."""
    match node:
        case Hold():
            return bool(node.bindings)
        case Run():
            return not node.stages
        case Branch():
            return node.drawn
        case Workload():
            return node.session is not None
        case _:
            return isinstance(node, SURFACE)

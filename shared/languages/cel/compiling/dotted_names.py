"""Variables whose names have dots: where there is a variable `a.b`, the path `a.b.c` begins with it, as in cel-go."""

from shared.languages.cel.parsing.syntax import Identifier, Index, Literal, Node, Select


def spelled(node: Node) -> str:
    """`a.b.c` for a path of constants from a name, however its steps are written; otherwise nothing."""
    names: list[str] = []
    while True:
        match node:
            case Select(operand=operand, field=str(name)) | Index(operand=operand, key=Literal(value=str(name))):
                names.append(name)
                node = operand
            case Identifier(name=name) if names:
                return ".".join([name, *reversed(names)])
            case _:
                return ""


def spelled_in(tree: Node) -> frozenset[str]:
    """All names with dots that paths of the tree may begin with."""
    found, waiting = set[str](), [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Select | Index):
            found.add(spelled(node))
        waiting.extend(node.parts)
    return frozenset(found - {""})


def root_of(node: Node) -> Node:
    while isinstance(node, Select | Index):
        node = node.operand
    return node

"""Expressions, by precedence climbing.

Input: a cursor before an expression. Output: the expression's tree, the cursor behind it.
Invariants: only brackets recurse (at most `NESTING_LIMIT` of them); chains of operators, prefixes and `?:` are loops;
no tree is deeper than `DEPTH_LIMIT`, so that later stages may recurse over it.

Loosest to tightest: `?:`, `||`, `&&`, one comparison, `+ -`, `* /`, the prefixes `- ! ~`, `^`.

Reference: language §2, Expressions; notes §1.
"""

from __future__ import annotations

from serq.diagnostics import Label
from serq.records import replace
from serq.syntax.cursor import Cursor, SyntaxFailure, listed, nearest
from serq.syntax.lexer import number_value
from serq.syntax.nodes import (
    Aggregate,
    Binary,
    Call,
    Conditional,
    Draw,
    Expression,
    Indexed,
    Name,
    Number,
    Reference,
    Unary,
)
from serq.syntax.tokens import AGGREGATES, Token, TokenKind
from serq.syntax.vocabulary import DISTRIBUTIONS

# Operations inside one another in one expression, operator chains included.
DEPTH_LIMIT = 200

# Binary operators by how tightly they bind; `^` stands apart, for its right operand is a prefix expression.
BINDING = {
    "||": 1,
    "&&": 2,
    "==": 3,
    "!=": 3,
    "<": 3,
    "<=": 3,
    ">": 3,
    ">=": 3,
    "+": 4,
    "-": 4,
    "*": 5,
    "/": 5,
}
COMPARISON = 3


class ExpressionParser:
    """The expression layer; statements and declarations build on it."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor

    def expression(self, what: str = "an expression") -> Expression:
        """Parse a whole expression and hold it to the depth limit.

        expression = conditional ;
        """
        return self._held(self._conditional(what))

    def _held(self, tree: Expression) -> Expression:
        """Report a tree that is too deep for the stages that recurse over it."""
        if _is_deeper(tree, DEPTH_LIMIT):
            self.cursor.report(
                f"an expression is more than {DEPTH_LIMIT} operations deep",
                "each operation stands inside the next",
                name="nesting-too-deep",
                place=tree.span,
                notes=("a chain such as `a + b + c` is one operation deeper with every term",),
                helps=("name a part of it: with `let`, `set`, or a `def`",),
            )
        return tree

    def parenthesised(self, what: str, after: str) -> Expression:
        """Parse an expression in brackets of its own.

        bracketed = "(" , expression , ")" ;
        """
        opener = self.cursor.expect("(", f"after {after}")
        self.cursor.enter(opener)
        tree = self.expression(what)
        self.close(opener, ")")
        self.cursor.leave()
        return tree

    def keys(self, after: str) -> tuple[Expression, ...]:
        """Parse a list of ordering keys.

        keys = "(" , expression , { "," , expression } , ")" ;
        """
        cursor = self.cursor
        opener = cursor.expect("(", f"after {after}")
        if cursor.at(")"):
            cursor.report(
                f"{after} names no key",
                "at least one key is needed here",
                name="empty-keys",
                place=cursor.span_between(opener, cursor.token),
                helps=("write the order as expressions, the first deciding: `by (size, last)`",),
            )
            cursor.advance()
            return (Number(cursor.since(opener), 0.0),)
        return tuple(self._held(key) for key in self._list(opener, "a key"))

    def arguments(self, after: str) -> tuple[Expression, ...]:
        """Parse the arguments of a call.

        arguments = "(" , [ expression , { "," , expression } ] , ")" ;
        """
        return tuple(self._held(argument) for argument in self._call_arguments(after))

    def index(self) -> Expression:
        """Parse a member index.

        index = "[" , expression , "]" ;
        """
        opener = self.cursor.expect("[", "before an index")
        self.cursor.enter(opener)
        tree = self.expression("an index")
        self.close(opener, "]")
        self.cursor.leave()
        return tree

    def reference(self, what: str) -> Reference:
        """Parse the name of a pool, stage or queue, with a member's index or without.

        reference = dotted , [ index , { "." , name } ] ;
        dotted = name , { "." , name } ;
        """
        first = self.cursor.token
        name, index = self._member(what)
        return Reference(self.cursor.since(first), name, None if index is None else self._held(index))

    def close(self, opener: Token, closer: str) -> None:
        """Take the bracket that closes `opener`, or fail and point at both."""
        cursor = self.cursor
        if cursor.take(closer):
            return
        helps = ("a test for equality is `==`",) if cursor.at("=") else ()
        raise cursor.failure(
            f"expected `{closer}`",
            f"`{closer}` belongs here or before",
            secondary=(Label(cursor.span_of(opener), "opened here"),),
            helps=helps,
        )

    # --------------------------------------------------------------------------------- from loose to tight

    def _conditional(self, what: str) -> Expression:
        """Parse a choice; `a ? b : c ? d : e` is a loop here, not a recursion.

        conditional = binary , [ "?" , conditional , ":" , conditional ] ;
        """
        cursor = self.cursor
        choices: list[tuple[Expression, Expression]] = []
        tree = self._binary(what)
        while cursor.at("?"):
            question = cursor.advance()
            cursor.enter(question)
            then = self._conditional("what holds when the test does, after `?`")
            cursor.leave()
            if not cursor.take(":"):
                raise cursor.failure(
                    "expected `:` and what holds otherwise",
                    "expected `:`",
                    secondary=(Label(cursor.span_of(question), "of this `?`"),),
                )
            choices.append((tree, then))
            tree = self._binary("what holds otherwise, after `:`")
        for test, then in reversed(choices):
            tree = Conditional(test.span.to(tree.span), test, then, tree)
        return tree

    def _binary(self, what: str) -> Expression:
        """Parse operators by how tightly they bind, with a stack; all but comparisons group to the left.

        binary = operand , { binary operator , operand } ;
        binary operator = "||" | "&&" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "+" | "-" | "*" | "/" ;
        """
        cursor = self.cursor
        operands = [self._operand(what)]
        waiting: list[Token] = []

        def reduce() -> None:
            """Join the last two operands by the last waiting operator."""
            right, left = operands.pop(), operands.pop()
            operands.append(Binary(left.span.to(right.span), waiting.pop().text, left, right))

        while cursor.token.kind is TokenKind.MARK and (binding := BINDING.get(cursor.token.text)):
            while waiting and BINDING[waiting[-1].text] >= binding:
                if binding == COMPARISON and BINDING[waiting[-1].text] == COMPARISON:
                    raise self._chained(waiting[-1])
                reduce()
            waiting.append(cursor.advance())
            operands.append(self._operand(f"an operand after `{waiting[-1].text}`"))
        while waiting:
            reduce()
        return operands[0]

    def _chained(self, first: Token) -> SyntaxFailure:
        """Say that `a < b < c` has no meaning here."""
        return self.cursor.failure(
            "comparisons do not chain",
            "would compare the first one's 0 or 1",
            name="chained-comparison",
            secondary=(Label(self.cursor.span_of(first), "the first comparison"),),
            helps=("join two tests with `&&`: `a < b && b < c`",),
        )

    def _operand(self, what: str) -> Expression:
        """Parse prefixes and powers: a prefix binds less tightly than `^` on its right, so `-2 ^ 2` is -4.

        operand = { "-" | "!" } , ( draw | primary , [ "^" , operand ] ) ;
        """
        cursor = self.cursor
        # Each link is a base with the prefixes before it; a loop, for the chain may be long.
        links: list[tuple[list[Token], Expression]] = []
        while True:
            prefixes: list[Token] = []
            while cursor.at("-") or cursor.at("!"):
                prefixes.append(cursor.advance())
                what = f"an operand after `{prefixes[-1].text}`"
            if cursor.at("~"):
                links.append((prefixes, self._draw()))
                break
            links.append((prefixes, self._primary(what)))
            if not cursor.take("^"):
                break
            what = "an operand after `^`"
        tree: Expression | None = None
        for prefixes, base in reversed(links):
            tree = base if tree is None else Binary(base.span.to(tree.span), "^", base, tree)
            for operator in reversed(prefixes):
                tree = Unary(cursor.span_of(operator).to(tree.span), operator.text, tree)
        assert tree is not None
        return tree

    def _draw(self) -> Expression:
        """Parse a draw and check its distribution, whose names are fixed.

        draw = "~" , distribution , arguments ;
        distribution = "exp" | "det" | "uniform" | "erlang" | "h2" | "bernoulli" ;
        """
        cursor = self.cursor
        first = cursor.expect("~", "before a distribution")
        name = cursor.expect_name("a distribution after `~`")
        arguments = self._call_arguments(f"`~{name.text}`")
        tree = Draw(cursor.since(first), name.text, arguments)
        if name.text not in DISTRIBUTIONS:
            near = nearest(name.text, DISTRIBUTIONS)
            cursor.report(
                f"no distribution is named `{name.text}`",
                f"did you mean `{near}`?" if near else "not a distribution",
                name="unknown-distribution",
                place=cursor.span_of(name),
                helps=(f"the distributions are {listed(DISTRIBUTIONS)}",),
            )
        elif len(arguments) != DISTRIBUTIONS[name.text]:
            cursor.report(
                f"`~{name.text}` takes {_count(DISTRIBUTIONS[name.text])}, not {len(arguments)}",
                f"{_count(len(arguments))} given",
                name="distribution-arity",
                place=tree.span,
                helps=(f"write `{_DISTRIBUTION_FORMS[name.text]}`",),
            )
        if cursor.at("^"):
            raise cursor.failure(
                "expected an operator other than `^` after a draw",
                "a draw as the base of a power stands in brackets",
                helps=(f"write `({tree.span.text}) ^ …`",),
            )
        return tree

    def _primary(self, what: str) -> Expression:
        """Parse an operand.

        primary = number | bracketed | aggregate | call | member ;
        """
        cursor = self.cursor
        token = cursor.token
        if token.kind is TokenKind.NUMBER:
            cursor.advance()
            return Number(cursor.span_of(token), number_value(token.text))
        if token.kind is TokenKind.NAME:
            if token.text in AGGREGATES and cursor.at_name(1) and cursor.next_is("in", 2):
                return self._aggregate()
            if cursor.next_is("("):
                return self._call()
            return self._member_value()
        if cursor.at("("):
            cursor.advance()
            cursor.enter(token)
            tree = self._conditional("an expression after `(`")
            self.close(token, ")")
            cursor.leave()
            return replace(tree, span=cursor.since(token))
        raise self._no_operand(what)

    def _no_operand(self, what: str) -> SyntaxFailure:
        """Say that an operand is missing, with the likeliest reason."""
        cursor = self.cursor
        helps: tuple[str, ...] = ()
        if cursor.at("+"):
            helps = ("a number needs no `+` before it",)
        elif cursor.at("=") or cursor.at("=="):
            helps = ("a test for equality is `==`, with an operand on each side",)
        elif cursor.token.kind is TokenKind.STRING:
            helps = ("only `use` and `trace` take a string",)
        return cursor.failure(f"expected {what}", "expected an expression", helps=helps)

    def _aggregate(self) -> Expression:
        """Parse an aggregate over an index.

        aggregate = ( "max" | "min" | "sum" ) , name , "in" , bound , bracketed ;
        bound = number | name | bracketed ;
        """
        cursor = self.cursor
        first = cursor.advance()
        index = cursor.expect_name("an index")
        cursor.expect("in", "after the index")
        form = f"`{first.text} {index.text} in`"
        token = cursor.token
        bound: Expression
        if token.kind is TokenKind.NUMBER:
            cursor.advance()
            bound = Number(cursor.span_of(token), number_value(token.text))
        elif token.kind is TokenKind.NAME:
            cursor.advance()
            bound = Name(cursor.span_of(token), token.text)
        elif cursor.at("("):
            bound = self._inner_bracketed("a bound", form)
        else:
            raise cursor.failure(
                f"expected a number, a constant or `(` after {form}", "how many members the index runs over"
            )
        if not cursor.at("("):
            raise cursor.failure(
                f"expected `(` and what {form} runs over",
                "expected `(`",
                helps=("a bound that is an expression stands in brackets: `max j in (n + 1) (…)`",),
            )
        body = self._inner_bracketed("an expression to run over", form)
        return Aggregate(cursor.since(first), first.text, index.text, bound, body)

    def _call(self) -> Expression:
        """Parse a call of a function, an observable or a definition.

        call = name , arguments ;
        """
        name = self.cursor.expect_name("a function")
        arguments = self._call_arguments(f"`{name.text}`")
        return Call(self.cursor.since(name), name.text, arguments)

    def _member_value(self) -> Expression:
        """Parse a name in an expression, with a member's index or without.

        member = reference ;
        """
        first = self.cursor.token
        name, index = self._member("a name")
        span = self.cursor.since(first)
        return Name(span, name) if index is None else Indexed(span, name, index)

    def _member(self, what: str) -> tuple[str, Expression | None]:
        """Take a dotted name that may have one index: `P[j].kv` and `P.kv[j]` are the same member."""
        cursor = self.cursor
        name, _ = cursor.dotted_name(what)
        if not cursor.at("["):
            return name, None
        index = self._inner_index()
        while cursor.at(".") and cursor.at_name(1):
            cursor.advance()
            name += "." + cursor.advance().text
        if cursor.at("["):
            raise cursor.failure(
                f"expected one index for `{name}`", "a second index", helps=("a family has one index",)
            )
        return name, index

    # ------------------------------------------------------------------------------------------- brackets

    def _inner_index(self) -> Expression:
        """Parse `[…]` inside an expression, whose depth the whole expression is held to."""
        return self._inside(self.cursor.expect("[", "before an index"), "]", "an index")

    def _inner_bracketed(self, what: str, after: str) -> Expression:
        """Parse `(…)` inside an expression."""
        return self._inside(self.cursor.expect("(", f"after {after}"), ")", what)

    def _inside(self, opener: Token, closer: str, what: str) -> Expression:
        """Parse what stands between two brackets, the first taken."""
        self.cursor.enter(opener)
        tree = self._conditional(what)
        self.close(opener, closer)
        self.cursor.leave()
        return tree

    def _call_arguments(self, after: str) -> tuple[Expression, ...]:
        """Parse the arguments of a call inside an expression."""
        opener = self.cursor.expect("(", f"after {after}")
        return () if self.cursor.take(")") else self._list(opener, "an argument")

    def _list(self, opener: Token, what: str) -> tuple[Expression, ...]:
        """Parse expressions between commas up to the closing bracket, the opening one taken."""
        cursor = self.cursor
        cursor.enter(opener)
        trees = [self._conditional(what)]
        while cursor.take(","):
            trees.append(self._conditional(f"{what} after `,`"))
        self.close(opener, ")")
        cursor.leave()
        return tuple(trees)


# How each distribution is written (language §2, Expressions).
_DISTRIBUTION_FORMS = {
    "exp": "~exp(mean)",
    "det": "~det(value)",
    "uniform": "~uniform(low, high)",
    "erlang": "~erlang(phases, mean)",
    "h2": "~h2(mean, cv2)",
    "bernoulli": "~bernoulli(p)",
}


def _count(arguments: int) -> str:
    """Write a count of arguments."""
    return f"{arguments} argument" + ("" if arguments == 1 else "s")


def children(tree: Expression) -> tuple[Expression, ...]:
    """Give the direct parts of an expression, in the order written."""
    match tree:
        case Number() | Name():
            return ()
        case Indexed(index=index):
            return (index,)
        case Call(arguments=arguments) | Draw(arguments=arguments):
            return arguments
        case Unary(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case Conditional(test=test, then=then, otherwise=otherwise):
            return (test, then, otherwise)
        case Aggregate(bound=bound, body=body):
            return (bound, body)


def _is_deeper(tree: Expression, limit: int) -> bool:
    """Tell whether a tree is deeper than a limit, without recursion and no further down than that."""
    level: list[Expression] = [tree]
    for _ in range(limit):
        level = [child for parent in level for child in children(parent)]
        if not level:
            return False
    return True

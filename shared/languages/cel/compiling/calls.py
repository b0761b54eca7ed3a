"""What a call becomes: a closure that evaluates its arguments and runs the function their kinds select."""

from typing import Any

from shared.languages.cel.compiling.selection import Evaluate
from shared.languages.cel.functions.overloads import Function
from shared.languages.cel.functions.regex import Pattern
from shared.languages.cel.functions.registry import FUNCTIONS
from shared.languages.cel.parsing import mistakes
from shared.languages.cel.parsing.syntax import Node
from shared.languages.cel.runtime.comparison import equals
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.failure import Failure, Halt
from shared.languages.cel.runtime.values import Optional


def call(function: Function, arguments: tuple[Evaluate, ...], node: Node) -> Evaluate:
    """By the number of arguments: the common ones are spelled out, because a call is what runs most."""
    match arguments:
        case (only,):
            return _call_one(function, only, node)
        case first, second:
            return _call_two(function, first, second, node)
    return _call_any(function, arguments, node)


def _call_one(function: Function, argument: Evaluate, node: Node) -> Evaluate:
    table = {kind: run for (kind,), run in function.table(1).items()}

    def one(evaluation: Evaluation) -> Any:
        try:
            value = argument(evaluation)
            run = table.get(type(value)) or function.find(value)
            return run(evaluation, value)
        except Halt as halt:
            halt.node = halt.node or node
            raise

    return one


def _call_two(function: Function, first: Evaluate, second: Evaluate, node: Node) -> Evaluate:
    table = function.table(2)

    def two(evaluation: Evaluation) -> Any:
        try:
            left = first(evaluation)
            right = second(evaluation)
            run = table.get((type(left), type(right))) or function.find(left, right)
            return run(evaluation, left, right)
        except Halt as halt:
            halt.node = halt.node or node
            raise

    return two


def _call_any(function: Function, arguments: tuple[Evaluate, ...], node: Node) -> Evaluate:
    table = function.table(len(arguments))

    def many(evaluation: Evaluation) -> Any:
        try:
            values = [argument(evaluation) for argument in arguments]
            run = table.get(tuple([type(value) for value in values])) or function.find(*values)
            return run(evaluation, *values)
        except Halt as halt:
            halt.node = halt.node or node
            raise

    return many


def unknown(name: str, arguments: tuple[Evaluate, ...], node: Node) -> Evaluate:
    """A function nobody has heard of fails when it is called, after its arguments, as in cel-go."""

    def fail(evaluation: Evaluation) -> Any:
        for argument in arguments:
            argument(evaluation)
        failure = Failure(f"there is no function {name}", hint=hint)
        failure.node = node
        raise failure

    hint = mistakes.function(name, FUNCTIONS)
    return fail


def equality(left: Evaluate, right: Evaluate, *, wanted: bool, node: Node) -> Evaluate:
    """`==`, or `!=` when equality is not wanted."""

    def compare(evaluation: Evaluation) -> bool:
        try:
            return equals(evaluation, left(evaluation), right(evaluation)) is wanted
        except Halt as halt:
            halt.node = halt.node or node
            raise

    return compare


def equals_text(argument: Evaluate, text: str) -> Evaluate:
    """`x == "text"`, which is most of what adapters ask; nothing but a string equals a string."""

    def compare(evaluation: Evaluation) -> bool:
        value = argument(evaluation)
        return isinstance(value, str) and value == text

    return compare


def fallback(optional: Evaluate, other: Evaluate, *, function: Function, unwrap: bool, node: Node) -> Evaluate:
    """`or` and `orValue`: the argument is evaluated only when the optional is empty."""

    def choose(evaluation: Evaluation) -> Any:
        value = optional(evaluation)
        if type(value) is not Optional:
            failure = function.mismatch(value)
            failure.node = node
            raise failure
        if not value.present:
            return other(evaluation)
        return value.value if unwrap else value

    return choose


def matches(argument: Evaluate, pattern: str, *, function: Function, node: Node) -> Evaluate:
    """`matches` with a constant pattern, compiled once; one that is no pattern fails when it is used."""
    try:
        match = Pattern(pattern).matches
    except Failure as problem:
        return _failing(argument, problem.problem, pattern, node)

    def test(evaluation: Evaluation) -> Any:
        try:
            text = argument(evaluation)
            if not isinstance(text, str):
                raise function.mismatch(text, pattern)
            return match(evaluation, text)
        except Halt as halt:
            halt.node = halt.node or node
            raise

    return test


def _failing(argument: Evaluate, problem: str, met: str, node: Node) -> Evaluate:
    def fail(evaluation: Evaluation) -> Any:
        argument(evaluation)
        failure = Failure(problem, met=met)
        failure.node = node
        raise failure

    return fail

"""No expression, whoever writes it, eats the process: every kind of work is bounded, and only what is touched costs."""

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.languages.cel import Limits, compile_cel
from shared.languages.errors import EvaluationError, LimitExceeded


def stopped(source: str, *, limits: Limits | None = None, **variables: Any) -> LimitExceeded:
    program = compile_cel(source, limits=limits)
    with pytest.raises(LimitExceeded) as caught:
        program.evaluate(variables)
    return caught.value


@pytest.mark.parametrize(
    ("source", "limit"),
    [
        ("xs.map(x, xs.map(y, xs.map(z, x + y + z)))", "times"),
        ("xs.exists(x, xs.exists(y, xs.exists(z, false)))", "times"),
        ("xs.all(x, xs.all(y, xs.all(z, true)))", "times"),
        ("xs.filter(x, xs.exists_one(y, xs.sortBy(z, z).size() > x))", "times"),
        ("lists.range(10000000)", "steps"),
        ("lists.range(1000000).map(x, x)", "times"),
        ("lists.range(1500).map(x, [x, 'a' + string(x)]).distinct().size()", "steps"),
        ("xs.map(x, huge.contains('nowhere'))", "steps"),
        ("xs.map(x, huge == other)", "steps"),
        ("xs.map(x, huge < other)", "steps"),
        ("xs.map(x, huge.startsWith(other))", "steps"),
        ("xs.map(x, huge.indexOf('nowhere'))", "steps"),
        ("xs.map(x, huge.lastIndexOf('y' + huge.substring(500000)))", "characters"),
        ("xs.map(x, huge.substring(0, 29000).contains(huge.substring(0, 50) + 'y' + huge.substring(0, 40)))", "steps"),
        ("[bytes(huge)].map(b, xs.map(x, b == bytes(other)))", "characters"),
        ("xs.map(x, huge).sort().size()", "steps"),
        ("xs.map(x, strings.quote(huge))", "steps"),
        ("xs.exists(x, timestamp('2026-01-02T03:04:05.' + zeros + 'Z') == timestamp(x))", "characters"),
        ("huge.replace('x', '%%').format([])", "steps"),
        ("xs.map(x, huge.matches('(x+x+)+y'))", "steps"),
        ("xs.map(x, 'x'.matches(string(x) + 'a{1,900}b{1,900}'))", "steps"),
        ("xs.map(x, nested == copy)", "steps"),
        ("xs.map(x, 'x' in many)", "steps"),
        ("xs.map(x, conditionStatus(many, 'x'))", "steps"),
        ("xs.map(x, huge + 'x')", "characters"),
        ("xs.map(x, huge.replace('x', 'yy'))", "characters"),
        ("xs.map(x, huge.upperAscii())", "characters"),
        ("xs.map(x, huge.split(''))", "characters"),
        ("xs.map(x, [huge, huge, huge].join())", "characters"),
        ("xs.map(x, bytes(huge))", "characters"),
        ("xs.map(x, toJson(huge))", "characters"),
        ("xs.map(x, fromJson(numbers))", "characters"),
        ("xs.map(x, many + many)", "characters"),
        ("xs.map(x, many.reverse())", "characters"),
        ("xs.map(x, '%s'.format([many]))", "steps"),
        ("xs.map(x, 'x'.matches(string(x) + '[\\\\pL\\\\pN]{900}') || true)", "steps"),
        ("xs.map(x, huge.substring(0, 9999).matches('a{1,900}b{1,900}'))", "steps"),
        ("xs.exists(x, xs.exists(y, timestamp(0).getHours('Nowhere/' + string(x * 1000 + y)) == 1))", "steps"),
        ("xs.map(x, xs.map(y, string(timestamp(now()))))", "steps"),
        ("xs.map(x, dig({}, huge.replace('x', '.')))", "characters"),
    ],
)
def test_work_that_multiplies_is_stopped_in_time(source: str, limit: str) -> None:
    variables: dict[str, Any] = {
        "xs": list(range(1000)),
        "huge": "x" * 1_000_000,
        "other": "x" * 1_000_000 + "y",
        "many": ["y" * 10] * 100_000,
        "nested": [[0] * 1000] * 100,
        "copy": [[0] * 1000] * 100,
        "numbers": "[" + "0," * 100_000 + "0]",
        "zeros": "0" * 1_000_000,
    }
    started = time.process_time()
    error = stopped(source, **variables)
    assert limit in error.problem
    assert time.process_time() - started < 5


def test_the_failing_part_is_named() -> None:
    assert stopped("1 + xs.map(x, x).size()", limits=Limits(iterations=3), xs=[1, 2, 3, 4]).fragment == "xs.map(x, x)"


@pytest.mark.parametrize(
    ("source", "limits"),
    [
        ("xs.map(x, x).size() == 100", Limits(iterations=100, steps=100)),
        ("'a' + 'b'", Limits(steps=0, growth=0)),
        ("(text + 'b').size() == 41", Limits(growth=41)),
    ],
)
def test_work_up_to_the_limit_is_done(source: str, limits: Limits) -> None:
    compile_cel(source, limits=limits).evaluate({"xs": list(range(100)), "text": "a" * 40})


def test_a_limit_is_not_absorbed_like_a_failure() -> None:
    stopped("xs.all(x, xs.all(y, true)) || true", limits=Limits(iterations=50), xs=list(range(10)))


def test_what_one_evaluation_spends_the_next_one_has_again() -> None:
    program = compile_cel("xs.map(x, x).size()", limits=Limits(iterations=100))
    assert [program.evaluate({"xs": list(range(100))}) for _ in range(3)] == [100, 100, 100]


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "source",
    ["x == y", "x in [y]", "toJson(x)", "toJson([x])", "x.flatten(1000000)", "'%s'.format([x])", "[x, y].distinct()"],
)
def test_a_value_nested_beyond_pythons_stack_is_an_error(source: str) -> None:
    stopped(source, x=nested(100_000), y=nested(100_000))


def test_json_nested_beyond_pythons_stack_is_an_error() -> None:
    with pytest.raises(EvaluationError):
        compile_cel("fromJson(text)").evaluate({"text": "[" * 200_000 + "]" * 200_000})


def test_a_value_that_contains_itself_is_an_error() -> None:
    loop: list[Any] = []
    loop.append(loop)
    stopped("x == y", x=loop, y=[loop])
    with pytest.raises(EvaluationError):
        compile_cel("toJson(x)").evaluate({"x": loop})


class Counted(Mapping[str, Any]):
    """A large object that counts how often anything of it is looked at."""

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self._entries = entries
        self.touched = 0

    def __getitem__(self, key: str) -> Any:
        self.touched += 1
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        for key in self._entries:
            self.touched += 1
            yield key

    def __len__(self) -> int:
        self.touched += 1
        return len(self._entries)


@pytest.mark.parametrize(
    ("source", "touches"),
    [
        ("generation + 1", 0),
        ("has(resources.wanted)", 1),
        ("resources.?wanted.?status.?phase.orValue('') == 'Active'", 1),
        ("resources['wanted'].status.phase", 1),
        ("dig(resources, 'wanted.status.phase')", 1),
        ("[resources].size() + {'r': resources}.size()", 0),
        ("[1, 2, 3].map(x, resources.wanted.status.phase)", 3),
        ("generation == 3 || resources.wanted == {}", 0),
        ("optional.of(resources).hasValue()", 0),
    ],
)
def test_a_large_variable_costs_only_what_is_touched(source: str, touches: int) -> None:
    wanted = {"wanted": {"status": {"phase": "Active"}}}
    counts = []
    for size in (10, 100_000):
        resources = Counted(wanted | {f"k{i}": "x" * 100 for i in range(size)})
        compile_cel(source).evaluate({"resources": resources, "generation": 3})
        counts.append(resources.touched)
    assert counts == [touches, touches]


def test_only_the_variables_an_expression_names_are_asked_for() -> None:
    variables = Counted({"a": {"b": 1}, "unused": object()})
    assert compile_cel("a.b + a.b").evaluate(variables) == 2
    assert variables.touched == 3  # a, a again, and once whether there is a variable a.b


def test_a_program_serves_many_threads_at_once() -> None:
    program = compile_cel("xs.map(x, xs.filter(y, y <= x).size() + offset)")

    def run(offset: int) -> bool:
        expected = [x + 1 + offset for x in range(30)]
        return all(program.evaluate({"xs": list(range(30)), "offset": offset}) == expected for _ in range(20))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(16)))


def test_an_evaluation_may_start_another_of_the_same_program() -> None:
    program = compile_cel("xs.map(x, x + inner.size())")

    class Lazy(Mapping[str, Any]):
        def __getitem__(self, key: str) -> Any:
            if key == "inner":
                return program.evaluate({"xs": [9], "inner": "ab"})
            return [1, 2]

        def __iter__(self) -> Iterator[str]:
            return iter(("xs", "inner"))

        def __len__(self) -> int:
            return 2

    assert program.evaluate(Lazy()) == [2, 3]

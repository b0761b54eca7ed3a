"""Which works a search finds, in both of its languages, and which searches are refused."""

import pytest

from tests.support.maestro_wire import Wire, config_map

ALL = ("plain", "executed", "bare", "it's", "Empty", "ünï", "w_7")


@pytest.fixture
async def stocked(wire: Wire) -> Wire:
    """Seven works of the versions 1, 1 and 2 to 6; the second is being deleted, the third has no metadata."""
    odd = {"manifests": [config_map("a")], "n": 5, "f": 1.5, "b": True, "l": [1, "a", {"k": 1}], "nul": None}
    executed = {"manifests": [config_map("b")], "executer": {"subject": {"type": "ServiceAccount"}}}
    orphan = {"manifests": [config_map("f")], "deleteOption": {"propagationPolicy": "Orphan"}}
    labels = {
        "plain": {"x": "1", "env": "prod"},
        "executed": {"x": "2"},
        "it's": {"x": "null"},
        "Empty": {"x": ""},
        "ünï": {"x": "1", "a": "b"},
        "w_7": {"X": "1"},
    }
    data = {"plain": odd, "executed": executed, "w_7": orphan}
    for version, name in enumerate(ALL):
        metadata = {"name": name, "labels": labels.get(name), "annotations": {"a%b": "q_r"}}
        event = wire.event(name, version=version, data=data.get(name), metadata=metadata)
        if name == "bare":
            del event.attributes["ce-metadata"]
        await wire.publish(event)
    await wire.publish(wire.event("executed", "delete_request"))
    return wire


async def found(wire: Wire, search: str) -> list[str]:
    names = {wire.id_of(name): name for name in ALL}
    for name in ALL:
        search = search.replace(f"<{name}>", wire.id_of(name))
    search = search.replace("SOURCE", wire.source)
    page = await wire.get("/resource-bundles", search=f"consumer_name='{wire.consumer}' and ({search})", orderBy="id")
    ids = [bundle["id"] for bundle in page["items"]]
    assert ids == sorted(ids)
    return sorted((names[each] for each in ids), key=ALL.index)


ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN = ALL


@pytest.mark.parametrize(
    ("search", "names"),
    [
        ("id='<plain>'", [ONE]),
        ("name = '<plain>'", [ONE]),
        ("source='SOURCE'", [*ALL]),
        ("SoUrCe='SOURCE' AND version>4", [SIX, SEVEN]),
        ("resources.version=4", [FIVE]),
        ('"version"=4', [FIVE]),
        ("source!='SOURCE'", []),
        ("source<>'x'", [*ALL]),
        ("version=1", [ONE, TWO]),
        ("version>3", [FIVE, SIX, SEVEN]),
        ("version>=3", [FOUR, FIVE, SIX, SEVEN]),
        ("version<2", [ONE, TWO]),
        ("version<=2", [ONE, TWO, THREE]),
        ("version<>4", [ONE, TWO, THREE, FOUR, SIX, SEVEN]),
        ("version='4'", [FIVE]),
        ("version=4.5", [FIVE]),
        ("version>-1 and version>+5 and version>.5e1", [SEVEN]),
        ("version in (1,2)", [ONE, TWO, THREE]),
        ("version in ('5')", [SIX]),
        ("version not in (1,2,3)", [FIVE, SIX, SEVEN]),
        ("version between 2 and 4", [THREE, FOUR, FIVE]),
        ("version not between 2 and 4", [ONE, TWO, SIX, SEVEN]),
        ("version is 3", [FOUR]),
        ("version is not 3 and version<4", [ONE, TWO, THREE]),
        ("version=99999999999", []),
        ("id in ()", []),
        ("id not in ()", [*ALL]),
        ("id like '________-%'", [*ALL]),
        ("id like '_____-%'", []),
        ("source ilike 'SOURCE'", [*ALL]),
        ("source not like 'SOURCE%'", []),
        ("deleted_at is null", [ONE, THREE, FOUR, FIVE, SIX, SEVEN]),
        ("deleted_at IS NOT NULL", [TWO]),
        ("deleted_at > '2020-01-01'", [TWO]),
        ("not deleted_at > '2020-01-01'", []),
        ("created_at > '2020-01-01T00:00:00Z'", [*ALL]),
        ("created_at < '2020-01-01'", []),
        ("status is null", []),
        ("payload is not null", [*ALL]),
        ("not version=1 and version<4", [THREE, FOUR]),
        ("not (version=1 or version<4)", [FIVE, SIX, SEVEN]),
        ("not not version=1", [ONE, TWO]),
        ("version=1 or version=2 and version=3", [ONE, TWO]),
        ("(version=1 or version=2) and version=2", [THREE]),
        ("name='it''s'", []),
        ("\tversion\n=\t6", [SEVEN]),
    ],
)  # fmt: skip
async def test_a_search_without_json_finds(stocked: Wire, search: str, names: list[str]) -> None:
    assert await found(stocked, search) == names


@pytest.mark.parametrize(
    ("search", "names"),
    [
        ("payload->'metadata'->>'name'='plain'", [ONE]),
        ("payload->'metadata'->>'name'<>'plain'", [TWO, FOUR, FIVE, SIX, SEVEN]),
        ("PAYLOAD -> 'metadata' ->> 'name' = 'plain'", [ONE]),
        ("resources.payload->'metadata'->>'name'='plain'", [ONE]),
        ("payload->'metadata'->>'name'=plain", [ONE]),
        ("payload->'metadata'->>'name'in('plain',w_7)", [ONE, SEVEN]),
        ("payload->'metadata'->>'name' not in ('plain')", [TWO, FOUR, FIVE, SIX, SEVEN]),
        ("payload->'metadata'->>'name'like'%t%'", [TWO, FOUR, FIVE]),
        ("payload->'metadata'->>'name' ilike 'EMP%'", [FIVE]),
        ("payload->'metadata'->>'name'='it\\'s'", [FOUR]),
        ("payload->'metadata'->'labels'->>'x'='1'", [ONE, SIX]),
        ("payload->'metadata'->'labels'->>'X'='1'", [SEVEN]),
        ("payload->'metadata'->'labels'->>'x'<>'1'", [TWO, FOUR, FIVE]),
        ("payload->'metadata'->'labels'->>'x'<>null", [ONE, TWO, FIVE, SIX]),
        ("payload->'metadata'->'labels'->>'x'=null", [FOUR]),
        ("payload->'metadata'->'labels'->>'x' in (1,2)", [ONE, TWO, SIX]),
        ("payload->'metadata'->'annotations'->>'a%b'='q_r'", [ONE, TWO, FOUR, FIVE, SIX, SEVEN]),
        ("payload->'metadata'->'labels'@>'{\"x\":\"1\"}'", [ONE, SIX]),
        ("payload->'metadata'->'labels'@>'{\"x\":\"1\",\"env\":\"prod\"}'", [ONE]),
        ("payload->'metadata'@>'{\"labels\":{\"x\":\"2\"}}'", [TWO]),
        ("payload->'metadata'->'labels'@>'{}'", [ONE, TWO, FOUR, FIVE, SIX, SEVEN]),
        ("payload->'data'->'executer'@>'{}'", [TWO]),
        ("payload->'data'->'manifests'@>'[{\"metadata\":{\"name\":\"f\"}}]'", [SEVEN]),
        ("payload->'data'->'deleteOption'->>'propagationPolicy'='Orphan'", [SEVEN]),
        ("payload->'data'->'n'@>'5.0'", [ONE]),
        ("payload->'data'->>'n'='5'", [ONE]),
        ("payload->'data'->>'f'='1.5'", [ONE]),
        ("payload->'data'->>'b'='true'", [ONE]),
        ("payload->'data'->'b'@>'1'", []),
        ("payload->'data'->'nul'@>'null'", [ONE]),
        ("payload->'data'->>'nul'='null'", []),
        ("payload->'data'->'l'@>'[1]'", [ONE]),
        ("payload->'data'->'l'@>'1'", [ONE]),
        ("payload->'data'->'l'@>'[\"a\",1,1]'", [ONE]),
        ("payload->'data'->'l'@>'{\"k\":1}'", []),
        ("payload->'data'->'l'->>'0'='1'", []),
        ("payload->'resourceversion'@>'3'", [FOUR]),
        ("status->'data'@>'{}'", []),
        ("version>4 and payload->'metadata'->>'name'<>'w_7'", [SIX]),
        ("version in (1,2) and payload->'metadata'->>'name'<>'x'", [ONE, TWO]),
        ("(version=1 or version=6) and payload->'metadata'->>'name'<>'plain'", [TWO, SEVEN]),
        ("version=1 or version=6 and payload->'metadata'->>'name'='plain'", [ONE, TWO]),
        ("id>='<plain>'and(id<='<plain>')and payload->'metadata'->>'name'<>'x'", [ONE]),
        ("payload->'metadata'->>'name'='aü'", []),
    ],
)  # fmt: skip
async def test_a_search_with_json_finds(stocked: Wire, search: str, names: list[str]) -> None:
    assert await found(stocked, search) == names


PLAIN = "Failed to parse search query: {search}"
JSON = "failed to parse the search query: [{at}] error parsing the filter: {problem}"
DATABASE = "Unable to list resources: ERROR: "


@pytest.mark.parametrize(
    ("search", "status", "reason"),
    [
        *[(search, 400, PLAIN.format(search=search)) for search in (
            "bogus", "id=", "='x'", "id='x' id='y'", "(id='x'", "id='x')", "id=='x'", "id='x", 'id="x"', "id=x", "id is",
            "id in", "id in ('a'", "id in ('a',)", "id like 5", "not", "()", "id between 'a'", "id='x' and", "1=1",
            "payload->'a'='b'", "id='a\\'b'",
        )],
        ("nocol='1'", 500, DATABASE + "column resources.nocol does not exist (SQLSTATE 42703)"),
        ("other.id='1'", 400, "other is not a related resource of Resource"),
        ("version='x'", 500, DATABASE + 'invalid input syntax for type bigint: "x" (SQLSTATE 22P02)'),
        ("version like '1'", 500, DATABASE + "operator does not exist: bigint ~~ unknown (SQLSTATE 42883)"),
        ("created_at > 'x'", 500, DATABASE + 'invalid input syntax for type timestamp with time zone: "x" (SQLSTATE 22007)'),
        ("payload='x'", 500, DATABASE + "invalid input syntax for type json (SQLSTATE 22P02)"),
        ("nocol='1' and payload->'a'->>'b'='c'", 500, DATABASE + 'column "nocol" does not exist (SQLSTATE 42703)'),
        ("foo.id='1' and payload->'a'->>'b'='c'", 500, DATABASE + 'missing FROM-clause entry for table "foo" (SQLSTATE 42P01)'),
        ("source->'a'->>'b'='c'", 500, DATABASE + "operator does not exist: text -> unknown (SQLSTATE 42883)"),
        ("payload->'metadata'@>'notjson'", 500, DATABASE + "invalid input syntax for type json (SQLSTATE 22P02)"),
        ("payload->'metadata'->>'name'='üü'", 500, DATABASE + 'invalid byte sequence for encoding "UTF8": 0x00 (SQLSTATE 22021)'),
        ("payload->'metadata'->>'name'='it''s'", 400, JSON.format(at=34, problem="unexpected token `'s'`")),
        ("id is null and payload->'a'->>'b'='c'", 400, JSON.format(at=4, problem="unexpected token `is`")),
        ("not id='x' and payload->'a'->>'b'='c'", 400, JSON.format(at=5, problem="unexpected token `id`")),
        ("id!='x' and payload->'a'->>'b'='c'", 400, JSON.format(at=1, problem="unexpected token `id!`")),
        ("payload->'a'->>'b'>'a'", 400, JSON.format(at=19, problem="unexpected token `>`")),
        ("payload@>'{}'", 400, JSON.format(at=8, problem="unexpected token `@>`")),
        ("payload->'a'@>{}", 400, JSON.format(at=15, problem="unexpected token `{}`")),
        ("payload->'a'->>'b'='c')", 400, JSON.format(at=23, problem="unexpected ')'")),
        ("payload->'a'->>'b'='ü' x", 400, JSON.format(at=25, problem="unexpected token `x`")),
        ("(payload->'a'->>'b'='c'", 400, "failed to parse the search query: EOF while searching for closing brace ')'"),
        ("payload->'a'->>'b'=", 400, "failed to parse the search query: EOF encountered while parsing string"),
        ("payload->'a'->>'b' in ('x'", 400, "failed to parse the search query: EOF encountered while parsing string"),
        (" and ".join(["payload->'a'->>'b'='c'"] * 12), 400, JSON.format(at=294, problem="maximum number of permitted joins (10) exceeded")),
    ],
)  # fmt: skip
async def test_a_search_that_makes_no_sense_is_refused(wire: Wire, search: str, status: int, reason: str) -> None:
    answer = await wire.http.get("/resource-bundles", params={"search": search})

    assert (answer.status_code, answer.json()["reason"]) == (status, reason)

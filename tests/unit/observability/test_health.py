"""Alive and ready, as probes see it."""

from dispatcher.observability.health import Health


def test_ready_as_the_go_adapter_says_it() -> None:
    health = Health(checks={"config": lambda: "", "broker": lambda: ""})
    assert health.ready() == (True, {"status": "ok", "checks": {"config": "ok", "broker": "ok"}})


def test_what_is_missing_is_named() -> None:
    health = Health(checks={"config": lambda: "", "broker": lambda: "not connected"})
    expected = {"status": "error", "message": "not ready", "checks": {"config": "ok", "broker": "not connected"}}
    assert health.ready() == (False, expected)


def test_not_ready_while_it_stops() -> None:
    health = Health(checks={"broker": lambda: ""}, stopping=True)
    assert health.ready() == (False, {"status": "error", "message": "server is shutting down"})


def test_alive_until_something_makes_no_progress() -> None:
    problem = ""
    health = Health(signs={"queue": lambda: problem})
    assert health.alive() == (True, {"status": "ok"})
    problem = "a run is 400 s old"
    assert health.alive() == (False, {"status": "error", "message": "no progress", "checks": {"queue": problem}})


def test_what_is_not_ready_is_alive() -> None:
    assert Health(checks={"broker": lambda: "not connected"}).alive()[0]

"""How the container ends, and which end asks for another pod."""

import pytest

from controlplane_adapter.exits import Exit, exit_for
from controlplane_adapter.reconcile import errors as failures
from shared import errors
from shared.errors import HyperFleetError

ENDS = {
    errors.Unavailable("x"): Exit.TRANSIENT,
    errors.DeadlineExceeded("x"): Exit.TRANSIENT,
    errors.ServerError("x"): Exit.TRANSIENT,
    errors.Misconfigured("x"): Exit.MISCONFIGURED,
    errors.Invalid("x"): Exit.PERMANENT,
    errors.TooLarge("x"): Exit.PERMANENT,
    errors.NotFound("x"): Exit.PERMANENT,
    errors.UnknownConsumer("x"): Exit.PERMANENT,
    errors.AlreadyExists("x"): Exit.PERMANENT,
    errors.Conflict("x"): Exit.PERMANENT,
    errors.Deleting("x"): Exit.PERMANENT,
    errors.NotOwned("x"): Exit.PERMANENT,
    errors.Unauthenticated("x"): Exit.PERMANENT,
    errors.Forbidden("x"): Exit.PERMANENT,
    failures.Stopped("x"): Exit.TRANSIENT,
    failures.OutOfTime("x"): Exit.TRANSIENT,
    failures.PlacementUnavailable("x"): Exit.TRANSIENT,
    failures.NoManagementCluster("x"): Exit.PERMANENT,
    failures.InternalError("x"): Exit.PERMANENT,
}


@pytest.mark.parametrize(("error", "code"), ENDS.items(), ids=[type(each).__name__ for each in ENDS])
def test_each_error_has_its_end(error: HyperFleetError, code: Exit) -> None:
    assert exit_for(error) is code


def test_the_codes_are_those_that_jobs_in_the_field_know() -> None:
    assert {code.name: code.value for code in Exit} == {
        "REPORTED": 0,
        "MISCONFIGURED": 2,
        "PERMANENT": 3,
        "TRANSIENT": 4,
        "UNREPORTED": 5,
    }


def test_each_code_says_what_it_means() -> None:
    assert len({code.meaning for code in Exit}) == len(Exit)

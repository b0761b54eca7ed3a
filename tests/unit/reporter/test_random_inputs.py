"""Whatever the environment, the report file and the pod are, the reporter has conditions that a Job takes.

`make soak` asks for many more cases than a normal run.
"""

import itertools
import os
from datetime import UTC, datetime
from pathlib import Path

from status_reporter import settings
from status_reporter.exits import Exit
from status_reporter.job.patching import patch_for
from status_reporter.pod import container
from status_reporter.report import report_file
from status_reporter.shutdown import Stage
from status_reporter.verdict import Facts, Verdict, misconfigured, verdict
from tests.support.random_reports import ReporterCase, reporter_cases
from tests.unit.reporter.test_any_content import assert_fits

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
ENOUGH = {"JOB_NAMESPACE": "hyperfleet-adapters", "KUBERNETES_API_URL": "http://127.0.0.1:1", "POD_NAME": "pod"}
RUNS = 20_000 if os.environ.get("SOAK") else 2_000


def decided(case: ReporterCase, file: Path) -> Verdict:
    """The last verdict of a run: the adapter has ended, or the time is over."""
    try:
        chosen = settings.load(ENOUGH | case.environment)
    except settings.MisconfiguredReporter as error:
        return misconfigured(str(error), error.usable.condition_types)
    status = {"name": "adapter", "state": case.state, "restartCount": 0}
    pod = {"spec": {"containers": [{"name": "adapter"}]}, "status": {"phase": "Running", "containerStatuses": [status]}}
    found = verdict(
        Facts(
            reading=report_file.read(file, condition_type=chosen.condition_types[0], attempt_began=None),
            container=container.state_of(pod, "adapter"),
            waited=chosen.max_wait,
            max_wait=chosen.max_wait,
            stage=Stage.RUNNING,
        ),
        chosen.condition_types,
    )
    assert found is not None
    return found


def test_every_environment_report_and_pod_has_conditions_that_a_job_takes(tmp_path: Path) -> None:
    file, exits, reasons = tmp_path / "adapter-report.json", set(), set()
    for case in itertools.islice(reporter_cases(seed=12), RUNS):
        file.unlink(missing_ok=True)
        if case.report is not None:
            file.write_bytes(case.report)
        try:
            found = decided(case, file)
            patch = patch_for(found.conditions, found.data, present={}, now=NOW, uid="u")
            assert_fits(patch.body)
            assert found.summary
        except Exception as error:
            error.add_note(str(case))
            raise
        assert "s3cret" not in str(patch.body)
        exits.add(found.exit)
        reasons.add(found.conditions[0].reason)

    assert exits == {Exit.REPORTED, Exit.MISCONFIGURED, Exit.TIMED_OUT}, "the cases have become one-sided"
    assert reasons >= {"Created", "InvalidResultFormat", "AdapterOOMKilled", "AdapterExitedWithError"}

"""`serve --dry-run-event`: the trace on standard output, errors of the run on standard error, and an exit code."""

import argparse
import json

from dispatcher.cli.rehearsing import rehearse_from
from dispatcher.cli.terminal import answer, print_error
from dispatcher.dryrun.json_trace import json_trace
from dispatcher.dryrun.text_trace import text_trace
from dispatcher.engine.runs import Status


def run(arguments: argparse.Namespace) -> int:
    rehearsals = rehearse_from(arguments)
    verbose = arguments.dry_run_verbose
    if arguments.dry_run_output == "json":
        traces = [json_trace(each, verbose=verbose) for each in rehearsals]
        answer(json.dumps(traces if len(traces) > 1 else traces[0], indent=2, ensure_ascii=False))
    else:
        answer(text_trace(rehearsals, verbose=verbose).rstrip("\n"))
    failed = [each for each in rehearsals if each.result.status is Status.FAILED]
    for each in failed:
        for phase, error in each.result.errors.items():
            print_error(f"Error in {phase}: {error}")
    return 1 if failed and not arguments.dry_run_exit_zero else 0

"""All parts judged as one frame would be: parts that cannot tell alone are judged together with their neighbours."""

from collections.abc import Sequence
from dataclasses import replace

from pipelines.preparation.spool import Part
from pipelines.preparation.task import Done, Failed, Runner, Task, prepare_part


def judge_parts(tasks: Sequence[Task], *, run: Runner) -> list[Done]:
    """Prepare all parts, in the order of their series, so that they agree on all that is decided for a whole frame.

    The frequency and the spelling of stamps are those that every part reads from its own rows: what every part votes
    for, the whole frame votes for. A part without a vote of its own, without one good series, or with another vote
    than most parts, is prepared anew together with the part before it, and so on while any is left; in the end that is
    the frame as a whole, in memory.

    Raises:
        DataError: the whole frame breaks the contract, or no part has a good series.
    """
    known: dict[Part, Done | Failed] = {}
    parts = [task.part for task in tasks]
    while True:
        new = [replace(tasks[0], part=part) for part in parts if part not in known]
        known |= {result.part: result for result in run(prepare_part, new)}
        results = [known[part] for part in parts]
        joined = _joined(results)
        if len(joined) == len(parts):
            return [result for result in results if isinstance(result, Done)]
        parts = joined


def _joined(results: Sequence[Done | Failed]) -> list[Part]:
    """Give the parts to judge next: those that do not go with most others are joined with a neighbour.

    Raises:
        DataError: no neighbour can help.
    """
    votes = [result.kinds for result in results if isinstance(result, Done)]
    failed = [result for result in results if isinstance(result, Failed)]
    for result in failed:
        if len(results) == 1 or not result.may_be_helped:
            raise result.error
    if not votes:  # a part with good series, but none that tells the frequency, speaks for all
        raise next((result.error for result in failed if result.error.series is None), failed[0].error)
    usual = max(votes, key=votes.count)
    parts: list[Part] = []
    is_open = False  # whether the newest part still waits for one that goes with the others
    for result in results:
        fits = isinstance(result, Done) and result.kinds == usual
        if parts and (is_open or not fits):
            parts[-1] |= result.part
            is_open = is_open and not fits
        else:
            parts.append(result.part)
            is_open = not fits
    return parts

"""Where the steps of a sequence lie."""

from ...build.kernel import inline

INPUT, FORGET, OUTPUT, CELL = range(4)
"""The gates, in the order of what is given for each."""


@inline
def row_of_step(part, batch, step):
    """The row of a step in arrays that have one for each step of each of the batch."""
    at = part.steps - 1 - step if part.backward else step
    return batch * part.batch_pitch + at * part.step_pitch

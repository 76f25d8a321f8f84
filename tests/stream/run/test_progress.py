"""The share that is done grows with rows, and a run may be told anew whether to wait."""

from doubles import LABELS, ArraySource, a_model, stream, through

from onlinesvm.stream.run import Run, RunOptions


def test_it_grows_with_every_moment_and_ends_at_one(tmp_path):
    _, moments = through(tmp_path / "run", ArraySource(*stream(600)), every=20)
    shares = [moment.done for moment in moments]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(set(shares)) > 12
    for moment in moments:
        assert abs(moment.done - moment.seen / 600) < 0.02


def test_whether_to_wait_is_said_anew_when_a_run_goes_on(tmp_path):
    source = ArraySource(*stream(300))
    source.live = True
    options = RunOptions(classes=LABELS, silence="wait")
    with Run.begin(tmp_path / "run", source, a_model(), options) as run:
        next(iter(run.steps()))
    with Run.resume(tmp_path / "run", source, silence="end") as run:
        assert [moment.seen for moment in run.steps()][-1] == 300
    assert run.ended == "source"

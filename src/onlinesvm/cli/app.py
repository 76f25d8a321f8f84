"""The commands; what they do lives next door."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import onlinesvm
from onlinesvm.cli import options
from onlinesvm.cli.console import plain, stderr, stdout

__all__ = ["app"]

app = typer.Typer(
    help="Support vector machines that learn from a stream.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Model = Annotated[Path, typer.Argument(metavar="MODEL", help=options.SAVED)]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"onlinesvm {onlinesvm.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    pass


def learn(
    given: options.LearnOptions,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line on standard output.")
    ] = False,
) -> None:
    """Learn a file or a stream, row by row; the same command again goes on where it ended."""
    from onlinesvm.cli.learn import learn_command

    raise typer.Exit(learn_command(given, "json" if as_json else "quiet" if quiet else "screen"))


def label(given: options.LabelOptions) -> None:
    """Label rows by hand, most informative first; the same command again goes on."""
    from onlinesvm.cli.labelling import label as go

    go(stdout(), given)


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    out: Annotated[
        Path | None, typer.Option(help="Where the page goes.", show_default="RUN/report.html")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(help="What was learned, for a picture where it has two columns of numbers."),
    ] = None,
) -> None:
    """Write a run as one HTML page that needs nothing else."""
    from onlinesvm.cli.reporting import report_command

    stdout().print(plain(report_command(run, out, source)), soft_wrap=True)


def predict(given: options.PredictOptions) -> None:
    """Write every row again, with what the model says of it."""
    from onlinesvm.cli.predicting import predict as go

    go(stderr(), given)


def evaluate(given: options.EvaluateOptions) -> None:
    """Judge a saved model by rows with labels; nothing is learned."""
    from onlinesvm.cli.judging import evaluate as go

    go(stderr(), stdout(), given)


def audit(given: options.AuditOptions) -> None:
    """Rank the rows of a file by how likely their labels are wrong."""
    from onlinesvm.cli.audit import audit as go

    go(stdout(), given)


def inspect(model: Model) -> None:
    """Show what a saved model or a run is and what it has seen."""
    from onlinesvm.cli.inspecting import describe

    stdout().print(describe(model))


def tune(given: options.TuneOptions) -> None:
    """Find a method and its parameters on the first rows: many on few, the best on more."""
    from onlinesvm.cli.tuning import tune as go

    stdout().print(go(stderr(), given), markup=False, soft_wrap=True)


def merge(
    models: Annotated[
        list[Path], typer.Argument(metavar="MODEL...", help="Saved models, or folders of runs.")
    ],
    out: Annotated[Path, typer.Option(help="Where the merged model goes.")],
) -> None:
    """Make one model of those that learned parts of a stream."""
    from onlinesvm.cli.merging import merge as go

    go(stderr(), models, out)


def unlearn(
    model: Model,
    where: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=VALUE",
            help="Whose examples: shop=2 or, of two key columns, shop=2,customer=17; repeatable.",
        ),
    ],
    certificate: Annotated[Path | None, typer.Option(help="Where the proof goes, as JSON.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where a saved model goes.", show_default="where it was"),
    ] = None,
    scope: Annotated[
        str, typer.Option(help="examples; or all: also what they helped to settle, by retraining.")
    ] = "examples",
) -> None:
    """Remove all rows of a key from the model, with a certificate."""
    from onlinesvm.cli.forgetting import unlearn as go

    go(stderr(), model, where, certificate, out, scope)


def methods() -> None:
    """List every estimator: what it is for and what it can do."""
    from onlinesvm.cli.methods import catalogue

    console = stdout()
    for part in catalogue():
        console.print(part)


def doctor() -> None:
    """Say what is installed, and test in a second that it works."""
    from onlinesvm.cli.doctor import doctor_table, self_test

    console = stdout()
    console.print(doctor_table(), soft_wrap=True)
    console.print()
    well = True
    for tried, came_out in self_test():
        console.print(f"{'[green]ok[/]    ' if came_out else '[bold red]FAILED[/]'} {tried}")
        well = well and came_out
    if not well:
        raise typer.Exit(1)


COMMANDS = (
    *(learn, label, report, predict, evaluate, audit, inspect),
    *(tune, merge, unlearn, methods, doctor),
)
for command in COMMANDS:
    options.register(app, command)

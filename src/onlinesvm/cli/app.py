"""The commands and their options; what they do lives next door."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import onlinesvm
from onlinesvm.cli.console import one_line_errors, stderr, stdout

__all__ = ["app"]

app = typer.Typer(
    help="Support vector machines that learn from a stream.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

DataFile = Annotated[
    Path, typer.Argument(help="Examples: .csv, .tsv, .libsvm, .svm, .svmlight or .npz (X, y).")
]
ModelFile = Annotated[Path, typer.Argument(help="A saved model, e.g. model.safetensors.")]
Target = Annotated[
    str | None,
    typer.Option(help="Name or number of the label column of a table.", show_default="the last"),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a table names its columns.",
        show_default="where it shows",
    ),
]


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


@app.command()
def demo(
    rows: Annotated[int, typer.Option(min=100, help="Length of the stream.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another stream.")] = 0,
    out: Annotated[Path, typer.Option(help="Where the picture goes.")] = Path("demo.png"),
    live: Annotated[
        bool | None,
        typer.Option(
            "--live/--no-live",
            help="A table that redraws itself, or lines.",
            show_default="live on a terminal",
        ),
    ] = None,
) -> None:
    """Watch three machines learn a noisy stream, with a picture at the end."""
    console = stdout()
    with one_line_errors():
        from onlinesvm.cli.demo import run_demo

        animated = console.is_terminal and not console.is_dumb_terminal
        run_demo(console, rows=rows, seed=seed, out=out, live=animated if live is None else live)


@app.command()
def methods() -> None:
    """List every estimator: what it is for and what it can do."""
    with one_line_errors():
        from onlinesvm.cli.methods import catalogue

        console = stdout()
        for part in catalogue():
            console.print(part)


@app.command()
def doctor() -> None:
    """Say what is installed, and test in a second that it works."""
    with one_line_errors():
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


@app.command()
def fit(
    data: DataFile,
    save: Annotated[Path, typer.Option(help="Where the model goes.")] = Path("model.safetensors"),
    method: Annotated[
        str, typer.Option(help="An estimator, see [bold]onlinesvm methods[/].")
    ] = "RampSVC",
    param: Annotated[
        list[str] | None,
        typer.Option("-p", "--param", metavar="NAME=VALUE", help="A parameter of it; repeatable."),
    ] = None,
    target: Target = None,
    header: Header = None,
) -> None:
    """Learn a file in one pass, row by row, and save the model."""
    with one_line_errors():
        from onlinesvm.cli.models import fit_file

        fit_file(
            stderr(),
            data,
            method=method,
            params=param or [],
            target=target,
            header=header,
            save=save,
        )


@app.command()
def predict(
    model: ModelFile,
    data: DataFile,
    out: Annotated[
        Path | None,
        typer.Option(help="Where the predictions go, one a line.", show_default="standard output"),
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Decision values after each prediction.")
    ] = False,
    target: Target = None,
    header: Header = None,
) -> None:
    """Predict the rows of a file; where it has labels, say how many were right."""
    with one_line_errors():
        from onlinesvm.cli.models import predict_file

        predict_file(stderr(), model, data, out=out, scores=scores, target=target, header=header)


@app.command()
def info(model: ModelFile) -> None:
    """Show what a saved model is and what it has seen."""
    with one_line_errors():
        from onlinesvm.cli.models import describe_file

        stdout().print(describe_file(model))

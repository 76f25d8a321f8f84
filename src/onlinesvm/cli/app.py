"""The commands and their options; what they do lives next door."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import onlinesvm
from onlinesvm.cli import options
from onlinesvm.cli.console import one_line_errors, plain, stderr, stdout

__all__ = ["app"]

app = typer.Typer(
    help="Support vector machines that learn from a stream.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
def learn(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A file (CSV, JSON Lines, Parquet, ...; packed or not), a folder, an address, "
            "- for a pipe, or a .toml file with all of this.",
            show_default=False,
        ),
    ],
    target: options.Target = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="A method, see [bold]onlinesvm methods[/].",
            show_default="chosen by the target",
            autocompletion=options.method_names,
        ),
    ] = None,
    param: options.Params = None,
    run: Annotated[
        str | None,
        typer.Option(
            help="The folder of the run; where it has one, it goes on.",
            show_default="NAME.run",
        ),
    ] = None,
    key: options.Key = None,
    ignore: options.Ignore = None,
    types: options.Types = None,
    missing: options.Missing = None,
    header: options.Header = None,
    separator: options.Separator = None,
    format: options.Format = None,
    prepare: Annotated[
        str | None,
        typer.Option(
            help="automatic: gaps, scales, words; as-is: numbers to the model alone.",
            show_default="automatic",
        ),
    ] = None,
    lesson: Annotated[
        int | None,
        typer.Option(min=1, help="Most rows predicted before they are learned.", show_default=1024),
    ] = None,
    window: Annotated[
        int | None, typer.Option(min=1, help="Rows that count as now.", show_default=1000)
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="A metric, such as kappa; repeatable.")
    ] = None,
    fsync: Annotated[
        str | None,
        typer.Option(
            help="always, interval or never: what a power failure may take.",
            show_default="interval",
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Learn so many rows, no more.")] = None,
    max_bad: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Share of rows that may be bad.", show_default="0.1"),
    ] = None,
    follow: Annotated[
        bool | None,
        typer.Option(
            "--follow/--no-follow",
            help="Wait for more, until Ctrl-C.",
            show_default="for brokers",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line on standard output.")
    ] = False,
) -> None:
    """Learn a file or a stream, row by row; the same command again goes on where it ended."""
    with one_line_errors():
        from onlinesvm.cli.learn import learn_command
        from onlinesvm.cli.recipe import parse_pairs, parse_params, parse_words
        from onlinesvm.cli.wishes import Wishes

        wishes = Wishes(
            source=source,
            target=target,
            model=model,
            params=parse_params(param or []),
            run=run,
            key=tuple(key or ()),
            ignore=tuple(ignore or ()),
            types=parse_pairs("--types", types or [], "zip=category"),
            missing=parse_words(missing or []),
            header=header,
            separator=separator,
            format=format,
            prepare=prepare,
            lesson=lesson,
            window=window,
            metrics=tuple(metric or ()),
            fsync=fsync,
            limit=limit,
            max_bad=max_bad,
            follow=follow,
        )
        raise typer.Exit(
            learn_command(wishes, "json" if as_json else "quiet" if quiet else "screen")
        )


@app.command()
def label(
    pool: Annotated[
        str,
        typer.Argument(
            metavar="POOL", help="Rows without labels, in any form that learn takes from a file."
        ),
    ],
    target: Annotated[
        str, typer.Option(help="What the labels are called; a column of that name is not learned.")
    ] = "label",
    classes: Annotated[
        str | None,
        typer.Option(help="The labels to choose from: a,b,c.", show_default="those of the run"),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            help="The folder with all labels; where it has some, it goes on.",
            show_default="NAME.labels",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="A method, see [bold]onlinesvm methods[/].",
            show_default="chosen by the columns",
            autocompletion=options.method_names,
        ),
    ] = None,
    param: options.Params = None,
    ignore: options.Ignore = None,
    types: options.Types = None,
    header: options.Header = None,
    separator: options.Separator = None,
    format: options.Format = None,
) -> None:
    """Label rows by hand, the most useful one first; the same command again goes on."""
    with one_line_errors():
        from onlinesvm.cli.labelling import label as go
        from onlinesvm.cli.recipe import parse_pairs, parse_params
        from onlinesvm.cli.wishes import Reading, folder_for

        reading = Reading(
            target=target,
            ignore=tuple(ignore or ()),
            types=parse_pairs("--types", types or [], "zip=category"),
            header=header,
            separator=separator,
            format=format,
        )
        go(
            stdout(),
            pool,
            reading,
            folder=run or folder_for(pool, ".labels"),
            classes=classes,
            method=model,
            params=parse_params(param or []),
        )


@app.command()
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
    with one_line_errors():
        from onlinesvm.cli.reporting import report_command

        stdout().print(plain(report_command(run, out, source)), soft_wrap=True)


@app.command()
def predict(
    model: options.Model,
    source: options.Source,
    out: Annotated[
        Path | None,
        typer.Option(help="Where the rows go.", show_default="standard output"),
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Decision values behind each prediction.")
    ] = False,
    proba: Annotated[
        bool, typer.Option("--proba", help="The probability of each class, if calibrated.")
    ] = False,
    safe_csv: Annotated[
        bool,
        typer.Option("--safe-csv", help="An apostrophe before labels that begin like a formula."),
    ] = False,
    header: options.Header = None,
    separator: options.Separator = None,
    format: options.Format = None,
) -> None:
    """Write every row again, with what the model says of it."""
    with one_line_errors():
        from onlinesvm.cli.predicting import Columns
        from onlinesvm.cli.predicting import predict as go
        from onlinesvm.cli.wishes import Reading

        if scores and proba:
            raise ValueError("--scores and --proba do not go together; ask for one of them")
        columns: Columns = "scores" if scores else "probabilities" if proba else "prediction"
        reading = Reading(header=header, separator=separator, format=format)
        go(stderr(), model, source, reading, out, columns, safe_csv=safe_csv)


@app.command()
def evaluate(
    model: options.Model,
    source: options.Source,
    target: options.Target = None,
    header: options.Header = None,
    separator: options.Separator = None,
    format: options.Format = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Judge a saved model by rows with labels; nothing is learned."""
    with one_line_errors():
        from onlinesvm.cli.judging import evaluate as go
        from onlinesvm.cli.wishes import Reading

        reading = Reading(target=target, header=header, separator=separator, format=format)
        go(stderr(), stdout(), model, source, reading, "json" if as_json else "table")


@app.command()
def inspect(model: options.Model) -> None:
    """Show what a saved model or a run is and what it has seen."""
    with one_line_errors():
        from onlinesvm.cli.inspecting import describe

        stdout().print(describe(model))


@app.command()
def tune(
    source: options.Source,
    target: options.Target = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A method to try; repeatable.",
            show_default="usual ones",
            autocompletion=options.method_names,
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "-p", "--param", metavar="NAME=VALUE", help="What all candidates have; repeatable."
        ),
    ] = None,
    rows: Annotated[int, typer.Option(min=50, help="First rows to try on.")] = 20_000,
    candidates: Annotated[int, typer.Option(min=2, help="How many are tried.")] = 27,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, other candidates.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes.", show_default="all processors")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Where trials are kept, to go on.", show_default="NAME.tune"),
    ] = None,
    key: options.Key = None,
    ignore: options.Ignore = None,
    types: options.Types = None,
    missing: options.Missing = None,
    header: options.Header = None,
    separator: options.Separator = None,
    format: options.Format = None,
) -> None:
    """Find a method and its parameters on the first rows: many on few, the best on more."""
    with one_line_errors():
        from onlinesvm.cli.recipe import parse_pairs, parse_params, parse_words
        from onlinesvm.cli.tuning import processors
        from onlinesvm.cli.tuning import tune as go
        from onlinesvm.cli.wishes import Reading, folder_for

        reading = Reading(
            target=target,
            key=tuple(key or ()),
            ignore=tuple(ignore or ()),
            types=parse_pairs("--types", types or [], "zip=category"),
            missing=parse_words(missing or []),
            header=header,
            separator=separator,
            format=format,
        )
        command = go(
            stderr(),
            source,
            reading,
            methods=model or [],
            params=parse_params(param or []),
            rows=rows,
            count=candidates,
            seed=seed,
            jobs=jobs or processors(),
            folder=folder or folder_for(source, ".tune"),
        )
        stdout().print(command, markup=False, soft_wrap=True)


@app.command()
def merge(
    models: Annotated[
        list[Path], typer.Argument(metavar="MODEL...", help="Saved models, or folders of runs.")
    ],
    out: Annotated[Path, typer.Option(help="Where the merged model goes.")],
) -> None:
    """Make one model of those that learned parts of a stream."""
    with one_line_errors():
        from onlinesvm.cli.merging import merge as go

        go(stderr(), models, out)


@app.command()
def unlearn(
    model: options.Model,
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
) -> None:
    """Forget all that somebody brought, with a certificate."""
    with one_line_errors():
        from onlinesvm.cli.forgetting import unlearn as go

        go(stderr(), model, where, certificate, out)


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

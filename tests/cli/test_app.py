"""The command line from outside: what it prints, what it writes, how it fails."""

import csv
import re
import signal

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

import onlinesvm
from onlinesvm.cli.app import app
from onlinesvm.datasets import make_checkerboard


def run(*arguments, code=0, words="output"):
    """Output and error text of a command, styles removed, lines unwrapped; or one of them."""
    result = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"}).invoke(app, [*map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return re.sub(r"\x1b\[[0-9;]*m", "", getattr(result, words))


def refused(*arguments):
    """The one line with which a command declines."""
    text = run(*arguments, code=2)
    assert "Traceback" not in text
    (line,) = text.strip().splitlines()
    assert line.startswith("error: ")
    return line


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables with and without labels, and a model that learnt the first."""
    path = tmp_path_factory.mktemp("cli")
    X, y = make_checkerboard(300, board=2, random_state=0)
    X -= 1
    table = "\n".join(f"{a:.6f},{b:.6f},{label}" for (a, b), label in zip(X, y, strict=True))
    (path / "train.csv").write_text("width,height,colour\n" + table)
    (path / "bare.csv").write_text("\n".join(f"{a:.6f},{b:.6f}" for a, b in X))
    lines = (f"{label} 1:{a:.6f} 2:{b:.6f}" for (a, b), label in zip(X, y, strict=True))
    (path / "train.libsvm").write_text("\n".join(lines))
    np.savez(path / "train.npz", X=X, y=y)
    run("fit", path / "train.csv", "-p", "C=10", "-p", "gamma=2", "--save", path / "m.safetensors")
    return path


def test_version_and_help():
    assert run("--version") == f"onlinesvm {onlinesvm.__version__}\n"
    text = run("--help")
    assert all(command in text for command in ("demo", "methods", "fit", "predict", "info"))


def test_methods_lists_every_estimator():
    text = run("methods")
    for cls in onlinesvm.all_estimators():
        assert cls.__name__ in text
    ramp = next(line for line in text.splitlines() if line.startswith("  RampSVC"))
    assert "unlearns" in ramp
    assert text.index("For labels") < text.index(ramp) < text.index("For numbers")


def test_doctor_names_versions_and_tests_itself(monkeypatch):
    text = run("doctor")
    assert re.search(rf"onlinesvm +{onlinesvm.__version__}", text)
    assert re.search(r"core +(baseline|avx2|avx512), built by \S+", text)
    assert text.count("\nok ") == 4
    monkeypatch.setattr(onlinesvm.RampSVC, "kkt_residual", lambda self: 1.0)
    assert run("doctor", code=1).count("FAILED") == 2


def test_doctor_says_how_to_get_an_extra(monkeypatch):
    from onlinesvm.cli import doctor

    def absent(package):
        raise doctor.PackageNotFoundError(package)

    monkeypatch.setattr(doctor, "version", absent)
    assert "no matplotlib: pip install 'onlinesvm[report]'" in run("doctor")


@pytest.mark.parametrize("name", ["train.csv", "train.libsvm", "train.npz"])
def test_fit_predict_info(folder, name):
    model, out = folder / f"{name}.safetensors", folder / f"{name}.txt"
    said = run("fit", folder / name, "-p", "C=10", "-p", "gamma=2", "--save", model)
    assert re.search(r"learnt 300 rows in .* a second\), \d+ support vectors", said)
    assert str(model) in said

    said = run("predict", model, folder / name, "--out", out)
    right = float(re.search(r"([\d.]+)% right, \d+ of 300 rows", said)[1])
    assert right > 90
    assert set(out.read_text().split()) == {"-1", "1"}
    assert len(out.read_text().splitlines()) == 300

    said = run("info", model)
    assert re.search(r"method +RampSVC", said)
    assert re.search(r"parameters +C=10, gamma=2 *\n", said)
    assert re.search(r"classes +2 \(-1, 1\)", said)
    assert re.search(r"examples seen +300", said)
    assert "verbose" not in said


def test_the_saved_model_is_the_one_python_would_have_made(folder):
    table = np.loadtxt(folder / "train.csv", delimiter=",", skiprows=1)
    X, y = pd.DataFrame(table[:, :2], columns=["width", "height"]), table[:, 2].astype(int)
    here = onlinesvm.RampSVC(C=10, gamma=2).fit(X, y)
    there = onlinesvm.load(folder / "m.safetensors")
    np.testing.assert_array_equal(here.decision_function(X), there.decision_function(X))
    assert there.feature_names_in_.tolist() == ["width", "height"]


def test_predictions_go_to_standard_output(folder):
    ask = "predict", folder / "m.safetensors", folder / "bare.csv"
    lines = run(*ask, words="stdout").splitlines()
    assert "taken in the order of training" in run(*ask, words="stderr")
    assert len(lines) == 300
    assert set(lines) == {"-1", "1"}


def test_scores_follow_the_labels(folder):
    ask = "predict", folder / "m.safetensors", folder / "bare.csv", "--scores"
    text = run(*ask, words="stdout")
    table = np.array([line.split(",") for line in text.splitlines()], dtype=float)
    np.testing.assert_array_equal(np.sign(table[:, 1]), table[:, 0])


def test_other_methods_and_text_labels(folder):
    # Labels and names in brackets are words, not colours.
    table, model, out = (folder / name for name in ("[bold].csv", "[x].safetensors", "[y].txt"))
    table.write_text("colour,width\n[red],1\n[blue],-1\n[red],2\n[blue],-2\n")
    method = "PassiveAggressiveClassifier"
    said = run("fit", table, "--method", method, "--target", "colour", "--save", model)
    assert str(model) in said
    assert "100.00% right" in run("predict", model, table, "--target", "colour", "--out", out)
    assert out.read_text().split() == ["[red]", "[blue]", "[red]", "[blue]"]
    said = run("info", model)
    assert re.search(r"classes +2 \(\[blue\], \[red\]\)", said)
    assert str(model) in said


def test_several_classes(folder):
    rng = np.random.default_rng(0)
    names = np.array(["crow", "jay", "rook"])
    y = rng.integers(0, 3, 150)
    X = rng.normal(size=(150, 2)) * 0.3 + np.array([[0, 0], [2, 0], [0, 2]])[y]
    table, model = folder / "birds.csv", folder / "birds.safetensors"
    rows = (f"{a},{b},{name}" for (a, b), name in zip(X, names[y], strict=True))
    table.write_text("\n".join(rows))
    run("fit", table, "--save", model)
    text = run("predict", model, table, "--scores", "--out", folder / "birds.txt")
    assert float(re.search(r"([\d.]+)% right", text)[1]) > 95
    label, *scores = (folder / "birds.txt").read_text().splitlines()[0].split(",")
    assert label == names[np.argmax(np.array(scores, dtype=float))]
    assert "3 (crow, jay, rook)" in run("info", model)


def test_regression_tells_its_error(folder):
    table, model = folder / "line.csv", folder / "line.safetensors"
    table.write_text("\n".join(f"{x},{2 * x}" for x in np.linspace(-1, 1, 50)))
    run("fit", table, "--method", "PassiveAggressiveRegressor", "--save", model)
    assert re.search(r"mean absolute error [\d.e-]+ over 50 rows", run("predict", model, table))
    assert "--scores" in refused("predict", model, table, "--scores")


def test_raw_columns_get_a_hint(folder):
    table = folder / "raw.csv"
    table.write_text("1000,1,0\n-1000,2,1\n500,3,0\n")
    assert "hint" in run("fit", table, "--save", folder / "raw.safetensors")


def test_refusals_of_fit(folder):
    save = ("--save", folder / "never.safetensors")
    train = folder / "train.csv"
    assert "absent.csv: no such file" in refused("fit", folder / "absent.csv", *save)
    assert "did you mean RampSVC?" in refused("fit", train, "--method", "rampsvm", *save)
    assert "C must be" in refused("fit", folder / "absent.csv", "--method", "rampsvc", "-p", "C=-1")
    assert "twice" in refused("fit", train, "-p", "C=1", "-p", "C=2", *save)
    assert "did you mean gamma?" in refused("fit", train, "-p", "gama=1", *save)
    assert "NAME=VALUE" in refused("fit", train, "-p", "C", *save)
    assert "C must be" in refused("fit", train, "-p", "C=-1", *save)
    assert "no column 'shape'" in refused("fit", train, "--target", "shape", *save)
    assert "does not exist" in refused("fit", train, "--save", folder / "no" / "m.safetensors")
    assert "is a folder" in refused("fit", train, "--save", folder)
    np.savez(folder / "bare.npz", X=np.eye(2))
    assert "needs an array y" in refused("fit", folder / "bare.npz", *save)
    (folder / "nan.csv").write_text("1,2,0\nnan,2,1\n")
    assert "NaN" in refused("fit", folder / "nan.csv", *save)
    assert not (folder / "never.safetensors").exists()


def test_refusals_of_predict_and_info(folder):
    model = folder / "m.safetensors"
    assert "no such file" in refused("info", folder / "absent.safetensors")
    assert "train.csv" in refused("info", folder / "train.csv")
    assert "train.csv" in refused("predict", folder / "train.csv", model)
    (folder / "wide.csv").write_text("9,2,3,4,5\n1,2,3,4,5\n")
    assert "features" in refused("predict", model, folder / "wide.csv")
    broken = folder / "broken.safetensors"
    broken.write_bytes(model.read_bytes()[:-10])
    assert "broken.safetensors" in refused("info", broken)
    features = folder / "features.safetensors"
    onlinesvm.NystroemFeatures(4).fit([[1.0, 2.0], [2.0, 1.0]]).save(features)
    assert "predicts nothing" in refused("predict", features, folder / "train.csv")
    assert "NystroemFeatures" in run("info", features, words="stdout")


def test_a_reordered_table_gives_the_same_labels(folder):
    rows = [line.split(",") for line in (folder / "train.csv").read_text().splitlines()]
    other = folder / "other.csv"
    other.write_text("\n".join(f"{i},{h},{c},{w}" for i, (w, h, c) in enumerate(rows)))
    other.write_text(other.read_text().replace("0,height", "row,height", 1))
    model, out = folder / "m.safetensors", folder / "labels.txt"
    expected = run("predict", model, folder / "train.csv", words="stdout")
    said = run("predict", model, other, "--target", "colour", "--out", out)
    assert out.read_text() == expected
    assert "ignored: 'row'" in said
    assert "labels are taken from column 'colour'" in said
    without = folder / "without.csv"
    without.write_text("\n".join(f"{w},{c}" for w, _, c in rows))
    assert "no column 'height'" in refused("predict", model, without)


def test_columns_with_numbers_for_names(folder):
    table, model = folder / "numbers.csv", folder / "numbers.safetensors"
    rows = (folder / "train.csv").read_text().splitlines()[1:]
    table.write_text("0,1,cls\n" + "\n".join(rows))
    assert "learnt 300 rows" in run("fit", table, "--save", model)
    assert re.search(r"columns +2 \(0, 1\)", run("info", model))
    table.write_text("0,1,2\n" + "\n".join(rows))
    assert "--header or --no-header" in refused("fit", table, "--save", model)
    assert "learnt 300 rows" in run("fit", table, "--header", "--save", model)
    assert "learnt 301 rows" in run("fit", table, "--no-header", "--save", model)
    assert "--header is for" in refused("fit", folder / "train.npz", "--header")


# ---- hostile words, failures, interrupts ---------------------------------------------------------

ESCAPE = "\x1b]0;owned\x07\x1b[2J"


def test_no_name_reaches_the_terminal_as_a_command(folder):
    table, model = folder / f"odd{ESCAPE}.csv", folder / "odd.safetensors"
    table.write_text(
        f"width{ESCAPE},colour\n1,red{ESCAPE}\n-1,blu\u202ee\n2,red{ESCAPE}\n-2,blu\u202ee\n"
    )
    method = ("--method", "PassiveAggressiveClassifier")
    texts = [
        run("fit", table, *method, "--save", model),
        run("predict", model, table),
        run("predict", model, table, "--scores"),
        run("info", model),
        refused("fit", table, "--target", "shape"),
        refused("fit", folder / f"{ESCAPE}.csv"),
    ]
    for text in texts:
        assert not set(text) & {"\x1b", "\x07", "\u202e"}
    assert "red\\x1b]0;owned\\x07\\x1b[2J" in texts[1]
    assert len(run("predict", model, table, words="stdout").splitlines()) == 4


def test_predictions_are_written_whole_or_not_at_all(folder, monkeypatch):
    out = folder / "precious.txt"
    out.write_text("precious")
    out.chmod(0o600)

    def full_disk(descriptor):
        raise OSError(28, "No space left on device", str(out))

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full_disk)
        ask = "predict", folder / "m.safetensors", folder / "train.csv", "--out", out
        assert "No space left" in refused(*ask)
    assert out.read_text() == "precious"
    run(*ask)
    assert len(out.read_text().splitlines()) == 300
    assert out.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("trouble", "line"),
    [
        (
            MemoryError("Unable to allocate 7 TiB"),
            "error: not enough memory: Unable to allocate 7 TiB",
        ),
        (MemoryError(), "error: not enough memory"),
        (ValueError("two\nlines\x1b[2J"), "error: two lines\\x1b[2J"),
    ],
)
def test_every_failure_is_one_line(folder, monkeypatch, trouble, line):
    def fail(*_, **__):
        raise trouble

    monkeypatch.setattr(onlinesvm.RampSVC, "fit", fail)
    assert refused("fit", folder / "train.csv", "--save", folder / "never") == line
    assert not (folder / "never").exists()


def test_ctrl_c_is_130_and_leaves_no_model(folder, monkeypatch):
    def interrupted(*_, **__):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(onlinesvm.RampSVC, "fit", interrupted)
    said = run("fit", folder / "train.csv", "--save", folder / "never", code=130)
    assert said.strip() == "stopped"
    assert not (folder / "never").exists()


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line(folder):
    table = folder / "capped.csv"
    table.write_text((folder / "train.csv").read_text())
    ask = ("fit", table, "--method", "SmoSVC", "-p", "max_iter=2", "--save", folder / "capped")
    (line,) = [line for line in run(*ask).splitlines() if "warning" in line.lower()]
    assert line.startswith("warning: SmoSVC stopped before")


def test_labels_with_commas_do_not_shift_the_scores(folder):
    table, model = folder / "commas.csv", folder / "commas.safetensors"
    table.write_text('width,colour\n1,"red, dark"\n-1,blue\n2,"red, dark"\n-2,blue\n')
    run("fit", table, "--method", "PassiveAggressiveClassifier", "--save", model)
    text = run("predict", model, table, "--scores", words="stdout")
    assert [len(row) for row in csv.reader(text.splitlines())] == [2] * 4


def test_demo_writes_a_picture(tmp_path):
    picture = tmp_path / "demo.png"
    said = run("demo", "--rows", 300, "--out", picture)
    assert "15% of them mislabelled" in said
    assert len(re.findall(r"^ +[\d,]+ rows \|", said, flags=re.M)) == 10
    assert re.search(r"[\d.]+%  RampSVC, \d+ support vectors", said)
    assert str(picture) in said
    pixels = imread(picture)
    assert pixels.shape[1] > 1000
    assert pixels.std() > 0.05


def test_demo_can_animate_and_repeat_itself(tmp_path):
    first = run("demo", "--rows", 150, "--seed", 7, "--live", "--out", tmp_path / "a.png")
    assert "150 of 150 examples" in first
    again = run("demo", "--rows", 150, "--seed", 7, "--no-live", "--out", tmp_path / "b.png")
    tail = "On fresh squares"
    assert first.partition(tail)[2].splitlines()[:6] == again.partition(tail)[2].splitlines()[:6]


def test_demo_refuses_before_it_works(tmp_path):
    assert "must end in one of" in refused("demo", "--out", tmp_path / "a.doc")
    assert "does not exist" in refused("demo", "--out", tmp_path / "no" / "a.png")
    assert "is a folder" in refused("demo", "--out", tmp_path)
    assert "100" in run("demo", "--rows", 3, code=2)

"""Files as people have them, drawn from a seed: `python tests/messy_files.py FOLDER`."""

from __future__ import annotations

import gzip
import json
import math
import random
import sys
from collections.abc import Callable
from pathlib import Path

GLAD = ["everything fine and quick", "very happy with the service", "thanks for the help today"]
SORE = ["waited far too long again", "nobody answers the phone here", "time to cancel my contract"]


def customers(path: Path) -> None:
    """Semicolons, decimal commas, gaps, dates, words, two broken lines, packed."""
    rng = random.Random(1)
    lines = ["age;town;joined;income;note;churn"]
    for _ in range(1500):
        town = rng.choice(["Bonn", "Trier", "Rom", "NA"])
        leaves = rng.random() < (0.75 if town == "Bonn" else 0.2)
        says = SORE if leaves == (rng.random() < 0.9) else GLAD
        age = "" if rng.random() < 0.05 else str(rng.randint(18, 80))
        joined = f"{rng.randint(1, 28):02}.{rng.randint(1, 12):02}.{rng.randint(2019, 2025)}"
        income = f"{rng.gauss(3000, 800):.2f}".replace(".", ",")
        note = f"{rng.choice(says)}, call {rng.randint(1, 9999)}"
        lines.append(f"{age};{town};{joined};{income};{note};{'yes' if leaves else 'no'}")
    lines[700] = lines[700].replace(";", ",", 2)
    lines[900] = "forty" + lines[900][lines[900].index(";") :]
    with gzip.open(path / "customers.csv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def flats(path: Path) -> None:
    """A price to be told; quoted text with line ends inside, a byte-order mark, CRLF."""
    rng = random.Random(2)
    lines = ["\ufeffrooms,metres,balcony,district,remarks,price"]
    for _ in range(1200):
        rooms, metres = rng.randint(1, 6), rng.uniform(20, 160)
        district = rng.choice(["north", "south", "harbour"])
        balcony = rng.choice(["yes", "no"])
        price = 900 * metres + 15000 * rooms + (60000 if district == "harbour" else 0)
        price *= 1.08 if balcony == "yes" else 1.0
        price = round(price + rng.gauss(0, 8000))
        remarks = '"renovated\r\nin ""2019"""' if rng.random() < 0.3 else "as seen"
        size = "?" if rng.random() < 0.03 else f"{metres:.1f}"
        lines.append(f"{rooms},{size},{balcony},{district},{remarks},{price}")
    (path / "flats.csv").write_bytes("\r\n".join(lines).encode() + b"\r\n")


def mails(path: Path) -> None:
    """JSON Lines of text, one line cut short."""
    rng = random.Random(3)
    cheap = ["win", "cash", "prize", "now", "free", "offer", "click", "claim", "bonus", "urgent"]
    plain = [
        "meeting",
        "report",
        "lunch",
        "tomorrow",
        "please",
        "find",
        "attached",
        "invoice",
        "project",
        "call",
    ]
    lines = []
    for k in range(1000):
        label = "spam" if rng.random() < 0.3 else "ham"
        words = [rng.choice(cheap if label == "spam" else plain) for _ in range(4)]
        words += [rng.choice(cheap + plain) for _ in range(4)]
        lines.append(json.dumps({"text": " ".join(words), "hour": k % 24, "label": label}))
    lines[500] = lines[500][:20]
    (path / "mails.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def machines(path: Path) -> None:
    """Tabs, no names, a row number, and a truth that turns round half-way."""
    rng = random.Random(4)
    lines = []
    for k in range(4000):
        heat, load, on = rng.gauss(60, 15), rng.random(), rng.choice(["on", "off"])
        fails = (heat > 65) != (k > 2000)
        lines.append(f"{k}\t{heat:.1f}\t{load:.3f}\t{on}\t{'bad' if fails else 'good'}")
    (path / "machines.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def petals(path: Path) -> None:
    """Two numbers, three kinds of flowers: a plane to look at."""
    rng = random.Random(5)
    lines = ["length,width,flower"]
    for _ in range(900):
        k = rng.randrange(3)
        angle = 2 * math.pi * k / 3 + rng.gauss(0, 0.5)
        radius = 2 + rng.gauss(0, 0.4)
        x, y = 4 + radius * math.cos(angle), 40 + 10 * radius * math.sin(angle)
        lines.append(f"{x:.3f},{y:.2f},{('aster', 'borage', 'clover')[k]}")
    (path / "petals.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def visits(path: Path) -> None:
    """Rows that belong to somebody."""
    rng = random.Random(6)
    lines = ["customer,age,town,buys"]
    for _ in range(400):
        age, town = rng.randint(18, 80), rng.choice(["Bonn", "Rom"])
        buys = "yes" if (age > 40) == (town == "Bonn") else "no"
        lines.append(f"{rng.randint(1, 40)},{age},{town},{buys}")
    (path / "visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


FILES: dict[str, Callable[[Path], None]] = {
    "customers.csv.gz": customers,
    "flats.csv": flats,
    "mails.jsonl": mails,
    "machines.tsv": machines,
    "petals.csv": petals,
}


JOB = """source = "petals.csv"
target = "flower"
model = "LASVC"
run = "job.run"
limit = 300

[params]
C = 10
"""


def write_all(folder: Path) -> None:
    (folder / "job.toml").write_text(JOB, encoding="utf-8")
    visits(folder)
    for write in FILES.values():
        write(folder)


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))

"""How long the command line takes to answer with help and listings: the median wall time of fresh processes.

python benchmarks/startup.py [REPETITIONS]
"""

import statistics
import subprocess
import sys
import time

COMMANDS = ["--help", "recipes", "train translate --help", "translate --help"]


def seconds(words: list[str]) -> float:
    """Return how long one fresh process takes, from start to end."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main(repetitions: int = 10) -> None:
    """Print the median of each command, beside Python alone."""
    for name, words in [
        ("python alone", ["-c", "pass"]),
        *((f"regard {command}", ["-m", "regard", *command.split()]) for command in COMMANDS),
    ]:
        times = [seconds(words) for _ in range(repetitions)]
        print(f"{name:32} median {statistics.median(times):.3f} s   slowest {max(times):.3f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

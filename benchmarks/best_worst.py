"""How many tuples per pair best-worst scaling needs: a simulated study against the theory of its counts.

    python benchmarks/best_worst.py [--pairs 200] [--reliability 0.66] [--judges 2 4 6] [--studies 20] [--quick]
        [--json]

True similarities are uniform. For each number of judges per tuple, the judges' noise is set once so that 2 tuples per
pair give the split-half reliability asked for (the argument pairs of Thakur et al., 2021, average 0.66), then only
the tuples per pair change. Each row is the mean and standard deviation over simulated studies, each with a design of
its own, of Spearman's correlation between recovered scores and truth. Beside it: what the expected counts and their
variance predict (`expected_recovery`), and the ceiling, judges without noise on the same designs. Recommended is the
smallest number that reaches 95 % of its ceiling.
"""

import argparse
import json
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from augsbert_core.best_worst import (  # noqa: E402
    Study,
    expected_recovery,
    find_noise,
    recovery,
    simulate,
    split_half_reliability,
)

TUPLES_PER_PAIR = (1, 1.5, 2, 3, 4, 6, 8)
REFERENCE = 2
SPLITS = 20
GOAL_OF_CEILING = 0.95
GOAL_OF_THEORY = 0.98


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--reliability", type=float, default=0.66)
    parser.add_argument("--judges", type=int, nargs="+", default=[2, 4, 6])
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="three studies instead of twenty")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    studies = 3 if arguments.quick else arguments.studies

    started = time.perf_counter()
    results = [
        study_judges(arguments.pairs, judges, arguments.reliability, studies)
        for judges in arguments.judges
    ]
    seconds = time.perf_counter() - started
    if arguments.json:
        print(json.dumps({"results": results, "seconds": seconds}, indent=2))
    else:
        for result in results:
            print_result(result, arguments.pairs, studies)
        print(f"{seconds:.0f} s in all")
    worst = min(row["of_theory"] for result in results for row in result["rows"])
    if worst < GOAL_OF_THEORY:
        sys.exit(f"a study recovers {worst:.3f} of what its counts allow, goal {GOAL_OF_THEORY}")


def study_judges(n_pairs: int, judges: int, reliability: float, studies: int) -> dict:
    """Recovery against tuples per pair for one number of judges."""
    noise = find_noise(reliability, n_pairs=n_pairs, tuples_per_pair=REFERENCE, judges=judges)
    rows = [measure(n_pairs, number, judges, noise, studies) for number in TUPLES_PER_PAIR]
    enough = [row["tuples_per_pair"] for row in rows if row["of_ceiling"] >= GOAL_OF_CEILING]
    return {
        "judges": judges,
        "noise": noise,
        "recommended": min(enough, default=None),
        "rows": rows,
    }


def measure(n_pairs: int, number: float, judges: int, noise: float, studies: int) -> dict:
    """One row: some studies, the same designs without noise, and the theory of counts for the same truths."""
    recovered, ceiling, theory, halves = [], [], [], []
    for seed in range(studies):
        study = simulate(n_pairs, number, judges, noise, np.random.default_rng(seed))
        sure = without_noise(n_pairs, number, seed)
        assert np.array_equal(study.truth, sure.truth)
        assert np.array_equal(study.tuples[::judges], sure.tuples)
        rng = np.random.default_rng((seed, 1))
        answers = (study.tuples, study.judges, study.best, study.worst)
        halves.append(split_half_reliability(*answers, n_pairs, rng, SPLITS).mean)
        recovered.append(recovery(study))
        ceiling.append(recovery(sure))
        theory.append(expected_recovery(study.truth, number, judges, noise, rng))
    mean = float(np.mean(recovered))
    return {
        "tuples_per_pair": number,
        "split_half": float(np.mean(halves)),
        "recovered": mean,
        "deviation": float(np.std(recovered, ddof=1)),
        "theory": float(np.mean(theory)),
        "of_theory": mean / float(np.mean(theory)),
        "ceiling": float(np.mean(ceiling)),
        "of_ceiling": mean / float(np.mean(ceiling)),
    }


@cache
def without_noise(n_pairs: int, number: float, seed: int) -> Study:
    """A judge without noise on the truth and design that every study of this seed draws first."""
    return simulate(n_pairs, number, 1, 0.0, np.random.default_rng(seed))


def print_result(result: dict, n_pairs: int, studies: int) -> None:
    print(
        f"{n_pairs} pairs, {result['judges']} judges per tuple, noise {result['noise']:.3f},"
        f" {studies} studies per row"
    )
    print("tuples/pair  split-half  Spearman with truth  theory  of theory  ceiling  of ceiling")
    for row in result["rows"]:
        print(
            f"{row['tuples_per_pair']:>11}  {row['split_half']:>10.3f}"
            f"  {row['recovered']:>9.3f} ± {row['deviation']:.3f}    {row['theory']:>6.3f}"
            f"  {row['of_theory']:>8.1%}  {row['ceiling']:>7.3f}  {row['of_ceiling']:>9.1%}"
        )
    print(f"Recommended: {result['recommended'] or 'more than 8'} tuples per pair\n")


if __name__ == "__main__":
    main()

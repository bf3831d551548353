"""Numbers in words, alike in all explanations; what is undefined is None, never a number that looks like one."""

import math

METRICS = {"spearman": "Spearman × 100", "f1": "F1 × 100"}

Z95 = 1.96
"""The reach of a normal 95 % interval in standard errors."""


def known(value: float | None) -> float | None:
    """The value, or None where it is missing, NaN or infinite."""
    return None if value is None or not math.isfinite(value) else float(value)


def many(count: int, noun: str) -> str:
    """ "1 pair", "1 pass", "2,400 pairs", "3 passes"."""
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def with_article(words: str) -> str:
    """ "a Spearman × 100", "an F1 × 100": by the first sound."""
    begins = words.startswith(("F1", "a", "e", "i", "o", "A", "E", "I", "O"))
    return f"{'an' if begins else 'a'} {words}"


def number(value: float, digits: int = 2) -> str:
    """A number with so many decimals; what rounds to nothing has no sign."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def hundred(value: float) -> str:
    """A score times 100, "72.7"."""
    return number(100 * value, 1)


def shown(value: float) -> float:
    """A score as exactly as `hundred` shows it: differences of shown scores then fit the scores beside them."""
    return round(100 * value, 1) / 100


def share(value: float) -> str:
    """A share in per cent, "41 %"; small ones keep a decimal, tiny ones say so."""
    per_cent = 100 * value
    if 0 < per_cent < 0.1:
        return "less than 0.1 %"
    return f"{number(per_cent, 1 if 0 < per_cent < 1 else 0)} %"


def metric_name(metric: str | None) -> str:
    """What scores of a metric are called, "Spearman × 100"."""
    return METRICS.get(metric or "", "Score × 100")


def reach(correlation: float, n_pairs: int) -> float | None:
    """Half the width of the 95 % interval of Spearman's correlation; None of fewer than four pairs.

    Fisher's transformation with the variance of Bonett and Wright (2000).
    """
    if n_pairs < 4 or not -1 < correlation < 1:
        return None
    centre = math.atanh(correlation)
    away = Z95 * math.sqrt((1 + correlation**2 / 2) / (n_pairs - 3))
    return (math.tanh(centre + away) - math.tanh(centre - away)) / 2


def pairs_for(half_width: float, n_pairs: int, wanted: float) -> int:
    """About how many pairs make an interval of this half width as narrow as wanted, to two digits."""
    return two_digits(n_pairs * (half_width / wanted) ** 2)


def two_digits(value: float) -> int:
    """A whole number of which only the first two digits are meant."""
    if value < 100:
        return max(1, round(value))
    power = 10 ** (math.floor(math.log10(value)) - 1)
    return int(round(value / power) * power)


def apart(difference: float) -> str:
    """ "2.5 points above", "2.5 points below", "level with": what stands in front of the other's name."""
    shown = hundred(abs(difference))
    if shown == "0.0":
        return "level with"
    return f"{shown} points {'above' if difference > 0 else 'below'}"

"""Results as JSON holds them."""

import math
from typing import Any


def plain(value: Any) -> Any:
    """The value as JSON holds it: numpy scalars become numbers, undefined numbers None, paths text."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)

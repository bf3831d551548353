"""Top-k search by the cosine of sentence embeddings: exact in blocks, or approximate with FAISS."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.catalog import load_bi_encoder
from augsbert_core.models.inference import embed_rows
from augsbert_core.models.tokens import tokenize_rows
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if, stretch
from augsbert_core.sampling.neighbours import (
    Neighbours,
    Search,
    concatenate,
    excluded_by_sentence,
)

SEARCHES: dict[str, str] = {
    "auto": "Exact up to 200,000 sentences, approximate beyond",
    "exact": "Exact",
    "ann": "Approximate (FAISS)",
}
"""The ways to search, and how they are called on the screen."""

MOST_EXACT = 200_000
"""With "auto", larger corpora are searched approximately. Exact search grows with the square of the corpus:
200,000 sentences take minutes on two processor cores, a million takes hours."""

TIE = 1e-6
"""Cosines this close to each other are ties: a float32 product is exact to about 1e-7."""

CHECKED = 500
"""So many sentences tell which share of the exact neighbours the approximate search finds."""

_CELLS = 1 << 24  # cosines held at a time: 64 MiB of float32
_GROUPS = 64  # per neighbour; see `_likely`
_QUERIES = 4096  # queries that FAISS answers at a time
_POINTS_PER_LIST = 39  # FAISS warns below this


def bound_search(location: str, device: str, method: str = "auto") -> Search:
    """The top-k search of a bi-encoder, for `Corpus.search`; its notices say whether it was exact.

    location: model name or folder. method: a name in `SEARCHES`. WorkbenchError: no such method, or FAISS is
    needed and not installed. The model is loaded when the search is first called.
    """
    if method not in SEARCHES:
        raise WorkbenchError(f"There is no search {method!r}. Choose one of {', '.join(SEARCHES)}.")
    if method == "ann":
        _faiss()

    def search(
        texts: Sequence[str],
        top_k: int,
        *,
        tie_keys: np.ndarray | None = None,
        excluded: tuple[np.ndarray, np.ndarray] | None = None,
        report: Report = silent,
        should_stop: ShouldStop = never,
    ) -> Neighbours:
        approximate = method == "ann" or (method == "auto" and len(texts) > MOST_EXACT)
        if approximate:
            _faiss()  # a missing extra is told before hours of embedding, not after
        embeddings = embed_texts(
            location, texts, device, report=stretch(report, 0.0, 0.8), should_stop=should_stop
        )
        find = ann_neighbours if approximate else exact_neighbours
        return find(
            embeddings,
            top_k,
            tie_keys=tie_keys,
            excluded=excluded,
            device=device,
            report=stretch(report, 0.8, 1.0),
            should_stop=should_stop,
        )

    return search


def embed_texts(
    location: str,
    texts: Sequence[str],
    device: str,
    *,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> np.ndarray:
    """The unit-length embedding of each text: float32, shape (texts, dimensions).

    location: model name or folder. WorkbenchError: the model cannot be had, or gives numbers that are not
    finite. Raises Stopped between batches.
    """
    stop_if(should_stop)
    report(0.0, f"Loading {location}")
    model = load_bi_encoder(location, device)
    rows = tokenize_rows(model, texts, should_stop=should_stop)
    embeddings = embed_rows(model, rows, report=report, should_stop=should_stop)
    broken = np.flatnonzero(~np.isfinite(embeddings).all(axis=1))
    if len(broken):
        raise WorkbenchError(
            f"The bi-encoder {location!r} gives no finite embedding for {len(broken):,} of "
            f"{len(texts):,} sentences, first for {texts[broken[0]][:60]!r}. Choose another one."
        )
    return embeddings


def exact_neighbours(
    embeddings: np.ndarray,
    top_k: int,
    *,
    queries: np.ndarray | None = None,
    tie_keys: np.ndarray | None = None,
    excluded: tuple[np.ndarray, np.ndarray] | None = None,
    device: str = "cpu",
    cells: int = _CELLS,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> Neighbours:
    """The top_k other rows of the largest cosine for every row, all of them exact (to `TIE`).

    embeddings: float32, unit rows. queries: only these rows, ascending; None asks for all. tie_keys: one
    uint64 per row, the order among ties (positions when None). excluded: positions of pairs that may not
    match in either direction and do not use up the top-k. A cosine of zero or less still counts. cells:
    cosines held at a time, so memory beside the embeddings and the result does not grow with the corpus.
    Raises Stopped between blocks.
    """
    import torch

    n = len(embeddings)
    queries = np.arange(n) if queries is None else np.asarray(queries, dtype=np.int64)
    keys = np.arange(n, dtype=np.uint64) if tie_keys is None else np.asarray(tie_keys)
    barred = excluded_by_sentence(excluded, n)
    whole = torch.from_numpy(np.ascontiguousarray(embeddings, dtype=np.float32)).to(device)
    parts = []
    rows_at_once = max(1, min(cells // max(n, 1), len(queries)))
    # One piece of memory for all blocks: fresh ones would be fetched from the system page by page.
    memory = torch.empty((rows_at_once, n), device=device)
    for start in range(0, len(queries) if top_k > 0 and n > 1 else 0, rows_at_once):
        stop_if(should_stop)
        rows = queries[start : start + rows_at_once]
        with torch.inference_mode():
            asked = whole[torch.from_numpy(rows).to(device)]
            cosines = torch.mm(asked, whole.T, out=memory[: len(rows)])
            own, other = _barred_cells(barred.starts, barred.other, rows)
            cosines[
                torch.from_numpy(own).to(device), torch.from_numpy(other).to(device)
            ] = -torch.inf
            places, columns, values = (part.cpu().numpy() for part in _likely(cosines, top_k))
        parts.append(_best(rows, places, columns, values, top_k, keys))
        done = start + len(rows)
        report(done / len(queries), f"Compared {done:,} of {len(queries):,} sentences")
    found_all = concatenate(parts)
    hit = _excluded_hits(embeddings, found_all, queries, top_k, excluded)
    return concatenate(
        [found_all], hit, [f"Exact search: all {n:,} sentences were compared with each other."]
    )


def ann_neighbours(
    embeddings: np.ndarray,
    top_k: int,
    *,
    tie_keys: np.ndarray | None = None,
    excluded: tuple[np.ndarray, np.ndarray] | None = None,
    device: str = "cpu",
    probes: int | None = None,
    seed: int = 42,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> Neighbours:
    """About the top_k other rows of the largest cosine, and in the notice which share of them was found.

    As `exact_neighbours`, but a row is compared only with those in the lists nearest to it (FAISS
    IndexIVFFlat, on the CPU; device: for the exact check). Unlike a graph built in threads, this gives the same
    result every time. probes: lists searched per row; None searches an eighth of them, 16 to 128.
    WorkbenchError: FAISS is not installed.
    """
    faiss = _faiss()
    n = len(embeddings)
    keys = np.arange(n, dtype=np.uint64) if tie_keys is None else np.asarray(tie_keys)
    barred = excluded_by_sentence(excluded, n)
    vectors = np.ascontiguousarray(embeddings, dtype=np.float32)
    parts = []
    if top_k > 0 and n > 1:
        report(0.0, "Building the FAISS index")
        index = _ivf_index(faiss, vectors, probes, seed)
        for start in range(0, n, _QUERIES):
            stop_if(should_stop)
            rows = np.arange(start, min(start + _QUERIES, n))
            # The row itself and its excluded pairs come back too and are dropped.
            most = int(np.diff(barred.starts)[rows].max(initial=0)) + 1 + top_k
            values, columns = index.search(vectors[rows], min(most, n))
            keep = columns >= 0
            own, other = _barred_cells(barred.starts, barred.other, rows)
            keep &= ~np.isin(np.arange(len(rows))[:, None] * n + columns, own * n + other)
            places = np.nonzero(keep)[0]
            parts.append(_best(rows, places, columns[keep], values[keep], top_k, keys))
            done = start + len(rows)
            report(0.95 * done / n, f"Searched for {done:,} of {n:,} sentences")
    found = concatenate(parts)
    checked = np.sort(np.random.default_rng(seed).permutation(n)[:CHECKED])
    exact = exact_neighbours(
        vectors, top_k, queries=checked, tie_keys=keys, excluded=excluded, device=device,
        should_stop=should_stop,
    )  # fmt: skip
    recall = _recall(found, exact, n)
    hit = _excluded_hits(vectors, found, np.arange(n), top_k, excluded)
    return concatenate(
        [found],
        hit,
        [
            f"Approximate search (FAISS): it finds {100 * recall:.1f} % of the exact neighbours "
            f"({len(checked):,} sentences checked)."
        ],
    )


# --- blocks of cosines -----------------------------------------------------------------------------


def _barred_cells(
    starts: np.ndarray, other: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What may not match in a block: each of its rows with itself and with its excluded pairs.

    Returns places within `rows` and columns.
    """
    counts = starts[rows + 1] - starts[rows]
    places = np.repeat(np.arange(len(rows)), counts)
    offsets = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
    barred = other[np.repeat(starts[rows], counts) + offsets]
    return np.concatenate([places, np.arange(len(rows))]), np.concatenate([barred, rows])


def _likely(cosines: Any, top_k: int) -> tuple[Any, Any, Any]:
    """The few cells of a block that can be among their row's top_k: places, columns and values.

    Columns are dealt out to many more than top_k groups. Each of the top_k best groups holds a cosine as
    large as the k-th best group maximum, and no other group holds a larger one. Maxima are far cheaper than
    a partial sort of the whole row.
    """
    import torch

    n = cosines.shape[1]
    depth = max(n // (_GROUPS * top_k), 1)
    width = n // depth
    dealt = cosines[:, : depth * width].unflatten(1, (depth, width))
    maxima = dealt.amax(dim=1)
    least = maxima.topk(min(top_k, width), dim=1).values[:, -1:] - TIE
    least = least.clamp_min(-2.0)  # excluded cells hold minus infinity and never match
    places, groups = (maxima >= least).nonzero(as_tuple=True)
    which, layer = (dealt[places, :, groups] >= least[places]).nonzero(as_tuple=True)
    # What is left over when the columns cannot be dealt out evenly.
    last_places, last_columns = (cosines[:, depth * width :] >= least).nonzero(as_tuple=True)
    places = torch.cat([places[which], last_places])
    columns = torch.cat([layer * width + groups[which], last_columns + depth * width])
    return places, columns, cosines[places, columns]


def _best(
    rows: np.ndarray,
    places: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    top_k: int,
    keys: np.ndarray,
) -> Neighbours:
    """The top_k largest values of each row; runs of values at most `TIE` apart go by key.

    places: positions in `rows`, columns, values: the cells that may be among them, in any order.
    """
    order = np.lexsort((-values, places))
    places, columns, values = places[order], columns[order], values[order]
    is_new = np.ones(len(values), dtype=bool)
    is_new[1:] = (places[1:] != places[:-1]) | (values[:-1] - values[1:] > TIE)
    order = np.lexsort((keys[columns], np.cumsum(is_new)))
    places, columns, values = places[order], columns[order], values[order]
    rank = np.arange(len(places)) - np.searchsorted(places, places) + 1
    chosen = rank <= top_k
    return Neighbours(rows[places[chosen]], columns[chosen], rank[chosen], values[chosen])


def _excluded_hits(
    embeddings: np.ndarray,
    found: Neighbours,
    queries: np.ndarray,
    top_k: int,
    excluded: tuple[np.ndarray, np.ndarray] | None,
) -> np.ndarray:
    """Which excluded pairs would have been among the top-k of one of the queries; see `Neighbours`."""
    if excluded is None:
        return np.zeros(0, dtype=bool)
    last = np.full(len(embeddings), np.inf)
    last[queries] = -np.inf
    is_last = found.rank == top_k
    last[found.query[is_last]] = found.score[is_last]
    first, second = excluded
    hit = np.zeros(len(first), dtype=bool)
    at_once = max(1, _CELLS // max(embeddings.shape[-1], 1))
    for start in range(0, len(first) if top_k > 0 else 0, at_once):
        a, b = first[start : start + at_once], second[start : start + at_once]
        cosine = np.einsum("ij,ij->i", embeddings[a], embeddings[b])
        hit[start : start + at_once] = cosine >= np.minimum(last[a], last[b]) - TIE
    return hit


# --- FAISS -----------------------------------------------------------------------------------------


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise WorkbenchError(
            "Approximate search needs FAISS, which is not installed. "
            'Install it with: pip install "augsbert-workbench[ann]" — or choose exact search.'
        ) from None
    return faiss


def _ivf_index(faiss: Any, vectors: np.ndarray, probes: int | None, seed: int) -> Any:
    """An index of lists of like vectors, about 4·√n of them, trained with `seed`."""
    n, dimensions = vectors.shape
    n_lists = max(1, min(int(4 * n**0.5), n // _POINTS_PER_LIST))
    index = faiss.index_factory(dimensions, f"IVF{n_lists},Flat", faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = seed
    index.cp.max_points_per_centroid = 64
    index.train(vectors)
    index.add(vectors)
    index.nprobe = probes or min(max(n_lists // 8, 16), 128)
    return index


def _recall(found: Neighbours, exact: Neighbours, n: int) -> float:
    """The share of exact matches that were found."""
    if not len(exact.query):
        return 1.0
    wanted = exact.query * n + exact.neighbour
    return float(np.isin(wanted, found.query * n + found.neighbour).mean())

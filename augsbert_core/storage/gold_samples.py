"""A few gold pairs, and their classes, without reading all of them."""

from augsbert_core.storage.database import Workspace, reading

# Multiplying by an odd constant shuffles the ids, and always in the same way.
SAMPLE_SQL = """
SELECT CASE WHEN swapped THEN second.text ELSE first.text END AS sentence1,
  CASE WHEN swapped THEN first.text ELSE second.text END AS sentence2
FROM (
  SELECT sentence1_id, sentence2_id, swapped FROM gold_pair
  WHERE project_id = :project AND split = :split
  ORDER BY (id * 2654435761) & 4294967295 LIMIT :limit
) JOIN sentence AS first ON first.id = sentence1_id
  JOIN sentence AS second ON second.id = sentence2_id
"""


def sample_texts(
    workspace: Workspace, project_id: int, split: str, limit: int
) -> list[tuple[str, str]]:
    """At most `limit` gold pairs of a split, scattered over it, the same ones each time."""
    with reading(workspace) as db:
        rows = db.execute(
            SAMPLE_SQL, {"project": project_id, "split": split, "limit": limit}
        ).fetchall()
    return [(row[0], row[1]) for row in rows]


def count_classes(workspace: Workspace, project_id: int, split: str) -> tuple[int, int]:
    """How many gold pairs of a split are negatives, and how many positives (from half of the scale on)."""
    with reading(workspace) as db:
        row = db.execute(
            "SELECT coalesce(sum(score < 0.5), 0), coalesce(sum(score >= 0.5), 0) FROM gold_pair "
            "WHERE project_id = ? AND split = ?",
            [project_id, split],
        ).fetchone()
    return int(row[0]), int(row[1])


QUERIES_SQL = """
WITH directed AS (
  SELECT CASE WHEN swapped THEN sentence2_id ELSE sentence1_id END AS query, score
  FROM gold_pair WHERE project_id = :project AND split = :split
  UNION ALL
  SELECT CASE WHEN swapped THEN sentence1_id ELSE sentence2_id END, score
  FROM gold_pair WHERE project_id = :project AND split = :split AND :both_orders
)
SELECT count(*), coalesce(sum(n), 0), (SELECT count(*) FROM directed)
FROM (SELECT count(*) AS n FROM directed GROUP BY query HAVING min(score) < max(score))
"""


def count_queries(
    workspace: Workspace, project_id: int, split: str, *, both_orders: bool = False
) -> tuple[int, int, int]:
    """What a ranking loss finds in gold: (queries, their candidates, all rows).

    A query is a first sentence with at least two candidates of different scores; in both orders a second one too.
    """
    values = {"project": project_id, "split": split, "both_orders": both_orders}
    with reading(workspace) as db:
        row = db.execute(QUERIES_SQL, values).fetchone()
    return int(row[0]), int(row[1]), int(row[2])

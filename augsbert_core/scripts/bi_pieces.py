"""Pieces of the script that trains a bi-encoder, and the lines of its stages."""

from collections.abc import Mapping
from typing import Any

SCORED_ROWS = '''
def scored_rows(pairs):
    """Pairs with their score, for losses that bring the cosine to it or to its order."""
    first, second, scores = zip(*pairs)
    return Dataset.from_dict({"sentence1": first, "sentence2": second, "label": scores})
'''

WEIGHTED_COSINE = '''
class WeightedCosineLoss(torch.nn.Module):
    """The squared error of the cosine, each row times its weight. A label is (score, weight)."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, features, labels):
        first, second = (self.model(one)["sentence_embedding"] for one in features)
        errors = (torch.cosine_similarity(first, second) - labels[:, 0]) ** 2
        return (errors * labels[:, 1]).mean()
'''

NLI_CLASSES = '''
def nli_classes(path):
    """Premise, hypothesis and the class of each NLI row."""
    classes = {"contradiction": 0, "entailment": 1, "neutral": 2}
    rows = [row for row in read_rows(path) if row["label"] in classes]
    return Dataset.from_dict(
        {
            "premise": [row["premise"] for row in rows],
            "hypothesis": [row["hypothesis"] for row in rows],
            "label": [classes[row["label"]] for row in rows],
        }
    )
'''

NLI_PAIRS = '''
def nli_pairs(path):
    """NLI rows as scored pairs: what a premise entails has 1, what it contradicts 0; neutral rows are left out."""
    scores = {"entailment": 1.0, "contradiction": 0.0}
    return [
        (row["premise"], row["hypothesis"], scores[row["label"]])
        for row in read_rows(path)
        if row["label"] in scores
    ]
'''

TRIPLET_ROWS = '''
def triplet_rows(path):
    """Anchor, positive and negative."""
    rows = read_rows(path)
    return Dataset.from_dict(
        {name: [row[name] for row in rows] for name in ("anchor", "positive", "negative")}
    )
'''

POSITIVE_ROWS = '''
def positives(pairs):
    """The pairs with a score of at least POSITIVE_FROM."""
    return [pair for pair in pairs if pair[2] >= POSITIVE_FROM]


def anchor_rows(pairs):
    """Anchor and positive; the other positives of a batch are the negatives."""
    return Dataset.from_dict(
        {"anchor": [pair[0] for pair in pairs], "positive": [pair[1] for pair in pairs]}
    )
'''

HARD_ROWS = '''
def hard_rows(pairs, *, either=True):
    """Anchor, positive and hard negative, the negatives of an anchor in turn, the hardest first.

    Positive from POSITIVE_FROM on, negative below NEGATIVE_BELOW; what is in between never enters, nor do
    positives without a negative. either: both sentences of a pair may be the anchor.
    """
    negatives = defaultdict(list)
    for first, second, score in sorted(pairs, key=lambda pair: -pair[2]):
        if score < NEGATIVE_BELOW:
            negatives[first].append(second)
            if either:
                negatives[second].append(first)
    turns, rows = Counter(), []
    for first, second, score in pairs:
        if score < POSITIVE_FROM:
            continue
        if either and first not in negatives:
            first, second = second, first
        if first in negatives:
            rows.append((first, second, negatives[first][turns[first] % len(negatives[first])]))
            turns[first] += 1
    anchors, similar, others = zip(*rows)
    return Dataset.from_dict({"anchor": anchors, "positive": similar, "negative": others})
'''

NEW_POOLING = '''
def set_pooling(model):
    """Pool the tokens by POOLING in place of what the base has."""
    for name, module in model.named_children():
        if isinstance(module, Pooling) and module.pooling_mode != POOLING:
            model._modules[name] = ${made}.to(model.device)
'''

EVALUATOR = {
    "spearman": '''
def evaluator(pairs, name):
    """Spearman's correlation of the cosine with the score; None without pairs."""
    if not pairs:
        return None
    first, second, scores = zip(*pairs)
    return EmbeddingSimilarityEvaluator(
        list(first), list(second), list(scores), main_similarity="cosine", name=name, write_csv=False
    )
''',
    "f1": '''
def evaluator(pairs, name):
    """F1 at the best threshold of the cosine; None without pairs."""
    if not pairs:
        return None
    first, second, scores = zip(*pairs)
    labels = [int(score >= 0.5) for score in scores]
    return BinaryClassificationEvaluator(
        list(first), list(second), labels, similarity_fn_names=["cosine"], name=name, write_csv=False
    )
''',
}

METRICS = {"spearman": "eval_dev_spearman_cosine", "f1": "eval_dev_cosine_f1"}
EVALUATORS = {"spearman": "EmbeddingSimilarityEvaluator", "f1": "BinaryClassificationEvaluator"}

LOSSES = {
    "cosine": "losses.CosineSimilarityLoss(model)",
    "cosent": "losses.CoSENTLoss(model, scale={scale})",
    "angle": "losses.AnglELoss(model, scale={scale})",
    "mnrl": "losses.MultipleNegativesRankingLoss(model, scale={scale})",
    "softmax": "losses.SoftmaxLoss(model, model.get_embedding_dimension(), num_labels=3)",
    "triplet": "losses.TripletLoss(model)",
}
"""A stage's loss → the expression that builds it."""


def rows_expression(stage: Mapping[str, Any], *, symmetric: bool, weight: float, hard: bool) -> str:
    """The expression that reads what a stage trains on."""
    data, loss = str(stage["data"]), stage["loss"]
    if data == "triplets":
        return "triplet_rows(args.triplets)"
    if data == "nli" and loss == "softmax":
        return "nli_classes(args.nli)"
    pairs = {
        "gold": "gold_pairs",
        "silver": "silver",
        "gold+silver": "gold_pairs + silver",
        "nli": "nli_pairs(args.nli)",
    }[data]
    if loss == "triplet" or (loss == "mnrl" and hard):
        return f"hard_rows({pairs}, either=False)" if data == "nli" else f"hard_rows({pairs})"
    if is_weighted(stage, weight):
        pairs = "weighted(gold_pairs, silver)"
    if loss == "mnrl":
        pairs = f"positives({pairs})"
    if symmetric:
        pairs = f"both_orders({pairs})"
    return f"{'anchor_rows' if loss == 'mnrl' else 'scored_rows'}({pairs})"


def is_weighted(stage: Mapping[str, Any], weight: float) -> bool:
    """Whether a stage weighs its silver rows."""
    return weight != 1.0 and stage["data"] == "gold+silver" and stage["loss"] == "cosine"

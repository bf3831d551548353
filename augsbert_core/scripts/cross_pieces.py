"""Pieces of the script that trains a cross-encoder."""

OWN_HEAD = '''
def new_model(base):
    """The base with ${words}."""
    return CrossEncoder(
        base,${arguments}
    )
'''

POOLED_HEAD = '''
def new_model(base):
    """The base with one new output on ${words}."""
    encoder = SentenceTransformer(base${config})
    width = encoder[1].get_embedding_dimension()
    pooling = ${pooling}
    hidden = ${hidden}
    output = Dense(${units}, 1, activation_function=None, module_output_name="scores")
    return CrossEncoder(modules=[encoder[0], pooling, *hidden, output], num_labels=1)
'''

SCORED_ROWS = '''
def scored_rows(pairs):
    """Pairs with their score."""
    first, second, scores = zip(*pairs)
    return Dataset.from_dict({"sentence1": first, "sentence2": second, "label": scores})
'''

QUERY_ROWS = '''
def query_rows(pairs):
    """Each first sentence with its candidates and their scores; one whose scores are all equal is left out."""
    found = defaultdict(dict)
    for query, candidate, score in pairs:
        found[query][candidate] = score
    kept = {query: docs for query, docs in found.items() if len(set(docs.values())) > 1}
    return Dataset.from_dict(
        {
            "query": list(kept),
            "docs": [list(docs) for docs in kept.values()],
            "labels": [list(docs.values()) for docs in kept.values()],
        }
    )
'''

WEIGHTED_LOSS = '''
class WeightedLoss(torch.nn.Module):
    """${words}, each row times its weight. A label is (score, weight)."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, inputs, labels):
        features = self.model.preprocess(list(zip(*inputs)))
        features = {
            name: value.to(self.model.device) if hasattr(value, "to") else value
            for name, value in features.items()
        }
        logits = self.model(features)["scores"].view(-1)
        return (${errors} * labels[:, 1]).mean()
'''

ERRORS = {
    "bce": (
        "Binary cross-entropy",
        'torch.nn.functional.binary_cross_entropy_with_logits(logits, labels[:, 0], reduction="none")',
    ),
    "mse": ("The squared error of the score", "(torch.sigmoid(logits) - labels[:, 0]) ** 2"),
}

POSITIVE_WEIGHT = '''
def positive_weight(pairs):
    """Negatives / positives."""
    positives = sum(score >= 0.5 for _, _, score in pairs)
    return torch.tensor((len(pairs) - positives) / positives)
'''

WARM_START = '''
def warm_start_pairs(gold, base):
    """Pairs of training sentences with the base's own cosines as scores: half of them near, half at random."""
    texts = list(dict.fromkeys(text for pair in gold for text in pair[:2]))
    known = {frozenset(pair[:2]) for pair in gold}
    encoder = SentenceTransformer(base${config})
    vectors = encoder.encode(texts, convert_to_tensor=True, normalize_embeddings=True)
    near = [
        (place, hit["corpus_id"])
        for place, hits in enumerate(util.semantic_search(vectors, vectors, top_k=6))
        for hit in hits
        if hit["corpus_id"] != place
    ]
    rng = np.random.default_rng(SEED)
    half = WARM_START_PAIRS // 2
    chosen = [near[place] for place in rng.permutation(len(near))[:half]]
    chosen += rng.integers(len(texts), size=(WARM_START_PAIRS - len(chosen), 2)).tolist()
    pairs = {
        frozenset((texts[a], texts[b])): (texts[a], texts[b], float(vectors[a] @ vectors[b]))
        for a, b in chosen
        if a != b
    }
    return [
        (first, second, min(max(cosine, 0.0), 1.0))
        for key, (first, second, cosine) in pairs.items()
        if key not in known
    ]
'''

EVALUATOR = {
    "spearman": '''
def evaluator(pairs, name):
    """Spearman's correlation of the output with the score; None without pairs."""
    if not pairs:
        return None
    return CrossEncoderCorrelationEvaluator(
        [pair[:2] for pair in pairs], [pair[2] for pair in pairs], name=name, write_csv=False
    )
''',
    "f1": '''
def evaluator(pairs, name):
    """F1 at the best threshold of the output; None without pairs."""
    if not pairs:
        return None
    labels = [int(pair[2] >= 0.5) for pair in pairs]
    return CrossEncoderClassificationEvaluator(
        [pair[:2] for pair in pairs], labels, name=name, write_csv=False
    )
''',
}

METRICS = {"spearman": "eval_dev_spearman", "f1": "eval_dev_f1"}
EVALUATORS = {
    "spearman": "CrossEncoderCorrelationEvaluator",
    "f1": "CrossEncoderClassificationEvaluator",
}

LOSSES = {
    "bce": "losses.BinaryCrossEntropyLoss(model)",
    "mse": "losses.MSELoss(model, activation_fn=torch.nn.Sigmoid())",
    "ranknet": "losses.RankNetLoss(model)",
    "lambda": "losses.LambdaLoss(model)",
    "listnet": "losses.ListNetLoss(model)",
}
"""A loss → the expression that builds it."""

RANKING = ("ranknet", "lambda", "listnet")

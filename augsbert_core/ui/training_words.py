"""What losses, poolings and kinds of data are called on the screen, and what each is for."""

LOSSES = {
    "cosine": "Cosine similarity",
    "cosent": "CoSENT",
    "angle": "AnglE",
    "mnrl": "Multiple negatives ranking",
    "softmax": "Softmax over NLI classes",
    "triplet": "Triplet margin",
}

LOSS_WHY = {
    "cosine": "The cosine of a pair is brought to its score by squared error: the paper's loss.",
    "cosent": "Pairs are brought into the order of their scores; how far apart they lie is left free.",
    "angle": "As CoSENT, but by the angle in complex space, whose slope does not vanish near ±1.",
    "mnrl": "Each positive pair must win against all other sentences of its batch. Only pairs above a score enter.",
    "softmax": "A classifier on u, v and |u − v| tells entailment, neutral and contradiction apart.",
    "triplet": "An anchor must lie closer to its positive than to its negative, by a margin.",
}

POOLINGS = {
    "own": "As the base has it",
    "mean": "Mean of all tokens",
    "cls": "First token (CLS)",
    "max": "Largest value of each dimension",
    "weightedmean": "Mean, later tokens weigh more",
    "attention": "Attention (learned weights)",
}

DATA = {
    "gold": "gold pairs",
    "silver": "silver pairs",
    "gold+silver": "gold and silver pairs",
    "nli": "NLI pairs",
    "triplets": "triplets",
}

MIXES = {
    "shuffled": "Shuffled together",
    "silver-first": "Silver first, then gold",
    "silver-only": "Silver only",
}

"""Pieces of Python text that both kinds of training script are made of."""

READERS = '''
def read_rows(path):
    """The rows of a .csv or .jsonl file, each a dictionary."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        if str(path).endswith(".jsonl"):
            return [json.loads(line) for line in file if line.strip()]
        return list(csv.DictReader(file))


def scored(rows):
    """(sentence 1, sentence 2, score from 0 to 1) of each row; rejected silver pairs are left out."""
    return [
        (row["sentence1"], row["sentence2"], (float(row["score"]) - LOW) / (HIGH - LOW))
        for row in rows
        if row.get("status") != "rejected"
    ]


def read_gold(path):
    """Gold pairs by split. A file without the column "split" is all training pairs."""
    rows = read_rows(path)
    return {
        split: scored([row for row in rows if (row.get("split") or "train") == split])
        for split in ("train", "dev", "test")
    }
'''

LIMITED = '''
def limited(pairs):
    """GOLD_LIMIT of the gold pairs, drawn with the seed."""
    drawn = np.random.default_rng(SEED).permutation(len(pairs))[:GOLD_LIMIT]
    return [pairs[place] for place in sorted(drawn.tolist())]
'''

BOTH_ORDERS = '''
def both_orders(pairs):
    """Each pair as (A, B) and as (B, A)."""
    return pairs + [(second, first, *rest) for first, second, *rest in pairs]
'''

WEIGHTED = '''
def weighted(gold, silver):
    """Rows whose label is (score, weight): gold rows weigh 1, silver rows SILVER_WEIGHT."""
    rows = [(*pair[:2], [pair[2], 1.0]) for pair in gold]
    return rows + [(*pair[:2], [pair[2], SILVER_WEIGHT]) for pair in silver]
'''

TRAIN = '''
def train(model, rows, loss, dev, *, epochs, max_steps, batch_size, learning_rate, schedule,
          warmup_ratio, weight_decay):
    """One stage. With dev pairs, the weights that do best on them are kept."""
    n_steps = max_steps or epochs * math.ceil(len(rows) / batch_size)
    every = max(1, n_steps // 10)
    strategy = "steps" if dev else "no"
    with tempfile.TemporaryDirectory() as folder:
        arguments = ${arguments}(
            output_dir=folder,
            max_steps=n_steps,
            per_device_train_batch_size=batch_size,
            learning_rate=learning_rate,
            lr_scheduler_type="constant" if schedule == "constant" else "linear",
            warmup_steps=0 if schedule == "constant" else math.ceil(warmup_ratio * n_steps),
            weight_decay=weight_decay,
            seed=SEED,
            bf16=torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
            eval_strategy=strategy,
            eval_steps=every,
            save_strategy=strategy,
            save_steps=every,
            save_total_limit=1,
            load_best_model_at_end=bool(dev),
            metric_for_best_model=METRIC if dev else None,
            greater_is_better=True,
            logging_steps=every,
            report_to="none",
        )
        trainer = ${trainer}(
            model=model,
            args=arguments,
            train_dataset=rows,
            loss=loss,
            evaluator=dev,
            callbacks=${callbacks},
        )
        trainer.train()
'''

EARLY_STOPPING = "[EarlyStoppingCallback(early_stopping_patience=PATIENCE)] if dev else []"

"""The eight lessons of the guided demo: texts and questions. The right answers are computed from results."""

from dataclasses import dataclass

__all__ = ["BY_KEY", "LESSONS", "Lesson"]


@dataclass(frozen=True)
class Lesson:
    """One step of the guided demo.

    short: its title where there is little room. idea: exactly three sentences. task: the one thing to do. choices: key → text, what can be predicted.
    pipeline: how many stations of the figure are lit. page: where the same is done on one's own data.
    notes: for whoever teaches.
    """

    key: str
    short: str
    title: str
    idea: tuple[str, str, str]
    task: str
    question: str
    choices: dict[str, str]
    page: str
    pipeline: int
    notes: tuple[str, ...]


LESSONS: tuple[Lesson, ...] = (
    Lesson(
        key="encoders",
        short="Two models",
        title="Two ways to compare sentences",
        idea=(
            "A cross-encoder reads two sentences together, so it can weigh every word against every other.",
            "A bi-encoder reads each sentence once and turns it into a point; two points are compared in no time.",
            "So the one is accurate but has to read every pair, and the other is fast but learns only from many scored pairs.",
        ),
        task="Type two sentences, or keep these, and predict before both models are timed on this machine.",
        question="All pairs of 10,000 sentences: how many times as long as the bi-encoder does the cross-encoder take here?",
        choices={
            "10": "Less than 30 times",
            "100": "30 to 300 times",
            "1000": "300 to 3,000 times",
            "10000": "More than 3,000 times",
        },
        page="try",
        pipeline=0,
        notes=(
            "5 minutes. All eight steps take 45; arriving at the door and the last look at the hand-outs come on top.",
            "Ask the class to count the pairs of 10,000 sentences first: 49,995,000.",
            "The times differ from laptop to laptop; the ratio is what stays. Write a few down.",
            "Before step 3 has been recomputed here, the cross-encoder's score of the example is a stored one, of a trained model; "
            "for other sentences there is none yet.",
        ),
    ),
    Lesson(
        key="gold",
        short="Gold",
        title="Gold data and its density",
        idea=(
            "Gold pairs are pairs that people have scored, and there are never many of them.",
            "Their density says which scores are common and which are rare.",
            "Whatever is added later should cover the scale as gold does, or the student learns a crooked picture.",
        ),
        task="Read a few gold pairs of each kind and guess their scores before you look.",
        question="Which third of the scale holds the most gold training pairs of this sample?",
        choices={
            "low": "The lowest third (hardly alike)",
            "middle": "The middle third",
            "high": "The highest third (nearly the same)",
        },
        page="gold",
        pipeline=1,
        notes=(
            "5 minutes. The spread of the sample was planned; real collections pick pairs too, and never at random.",
            "Ask what random pairs of sentences would look like. Step 4 shows it.",
        ),
    ),
    Lesson(
        key="labeler",
        short="Labeler",
        title="Train the labeler",
        idea=(
            "The cross-encoder learns to score pairs from the gold pairs alone.",
            "It will be the teacher, so it has to order pairs better than the student could from the same gold.",
            "How good it is, is measured on pairs that it has not seen (dev), by Spearman's correlation.",
        ),
        task="Predict where it ends; then look at its learning curve, and have it trained here in the background if you like.",
        question="After training on the gold pairs: how does the labeler stand on test against the untrained small bi-encoder?",
        choices={
            "worse": "Worse, or no more than 2 points better",
            "some": "2 to 10 points better",
            "much": "More than 10 points better",
        },
        page="cross_encoder",
        pipeline=2,
        notes=(
            "5 minutes, or more with training here in the background.",
            "On few gold pairs the labeler is warmed up on the base model's own cosines first.",
            "A fair opponent comes in step 7: the student trained on gold, not the untrained one.",
        ),
    ),
    Lesson(
        key="sampling",
        short="Choose",
        title="Five ways to choose pairs",
        idea=(
            "From the sentences of gold one can make hundreds of thousands of new pairs, far too many to label.",
            "Most of them have nothing to do with each other, so which pairs are chosen decides what can be learned.",
            "The paper compares random pairs, a density rule (KDE), word overlap (BM25), meaning (semantic search), and the last two together.",
        ),
        task="Predict, then run all five samplers on the sample; afterwards pick a sentence and compare its neighbours.",
        question="Which strategy gives the largest share of pairs that the labeler scores below 1 of 5 (0.2 of the scale)?",
        choices={
            "random": "Random pairs",
            "kde": "KDE (kept by density)",
            "bm25": "BM25 (shared words)",
            "semantic": "Semantic (close in meaning)",
            "bm25+semantic": "BM25 + semantic",
        },
        page="sample",
        pipeline=3,
        notes=(
            "8 minutes. Let someone name a sentence and predict its BM25 neighbours by its words.",
            "BM25 is fooled by shared words with another meaning; semantic search returns pairs that are too alike.",
        ),
    ),
    Lesson(
        key="labelling",
        short="Label",
        title="Label: gold becomes silver",
        idea=(
            "The labeler now scores every chosen pair, and a scored pair is called silver.",
            "Silver costs computing time instead of people's time, but it repeats the labeler's mistakes.",
            "That is why one reads some of it before trusting it.",
        ),
        task="Score three pairs yourself with the sliders, then compare with the labeler.",
        question="What share of the BM25 pairs does the labeler put in the upper half of the scale?",
        choices={
            "10": "Less than 10 %",
            "30": "10 % to 30 %",
            "50": "30 % to 50 %",
            "100": "More than half",
        },
        page="silver",
        pipeline=4,
        notes=(
            "5 minutes. Disagree with the labeler aloud: where is it wrong, and why?",
            "On the Silver page corrections can be made, undone and audited.",
        ),
    ),
    Lesson(
        key="density",
        short="Densities",
        title="Does silver look like gold?",
        idea=(
            "Each way of choosing pairs gives silver scores of another shape.",
            "Their distance to gold can be measured: by how much would the scores have to be moved, on average, to lie like gold (Wasserstein)?",
            "The KDE rule keeps a pair of score s with the chance Q(s) = min(1, c · gold density ÷ pool density), so that what stays looks like gold.",
        ),
        task="Predict, then move the slider c and watch which pairs of the random pool stay.",
        question="Whose silver scores lie closest to gold, on average?",
        choices={
            "random": "Random pairs",
            "kde": "KDE (kept by density)",
            "bm25": "BM25 (shared words)",
            "semantic": "Semantic (close in meaning)",
            "bm25+semantic": "BM25 + semantic",
        },
        page="silver",
        pipeline=4,
        notes=(
            "5 minutes. A small c follows gold closely but throws nearly everything away: who pays for the labels?",
            "KL punishes empty stretches of the scale, Wasserstein asks how far scores must move. Let the class find where they disagree.",
            "A close density is no promise of a good student. Compare with step 7.",
        ),
    ),
    Lesson(
        key="student",
        short="Student",
        title="Train the student: did it help?",
        idea=(
            "The bi-encoder learns from gold and silver, and its opponent learns from gold alone with just as many steps.",
            "Only a difference whose own 95 % interval leaves out 0 counts, because a few hundred test pairs leave much to luck.",
            "Silver can help only where the labeler knows more than the student can learn from gold: the labeler gate asks that beforehand.",
        ),
        task="Predict for both students: the small one (2 of 6 layers) and the full one, which was tuned on sentences before.",
        question="For which student does BM25 silver clearly help (the difference’s 95 % interval lies above 0)?",
        choices={
            "small": "Only for the small student",
            "full": "Only for the full student",
            "both": "For both",
            "neither": "For neither",
        },
        page="compare",
        pipeline=5,
        notes=(
            "7 minutes. Read the interval aloud before the point estimate.",
            "One seed each: the paper averages over several. The Experiments page does that.",
            "When nothing helps: is the labeler better than the student? Are there enough test pairs to tell?",
        ),
    ),
    Lesson(
        key="adaptation",
        short="Domain",
        title="A domain without gold",
        idea=(
            "Gold is often missing just where a model is wanted.",
            "Then a labeler trained on another domain scores pairs of the new one, and the student learns from this silver alone.",
            "Lower bound: the student of the old domain as it is; upper bound: the same student with gold of the new domain.",
        ),
        task="Predict whether silver helps on cooking, garden, pets and weather (the new domain), with a labeler that knows only "
        "the eight other topics (the old one); then compare the student with both bounds.",
        question="Tested on the new topics: does the student trained on silver beat the one that only knows the old topics?",
        choices={
            "better": "Yes, clearly (the difference’s interval lies above 0)",
            "unclear": "No clear difference",
            "worse": "No, it is clearly worse (the interval lies below 0)",
        },
        page="experiments",
        pipeline=5,
        notes=(
            "5 minutes. Domains that are near to each other leave little to gain, and 161 test pairs leave much to luck.",
            "Ask which domain of the students' own has texts but no scores.",
        ),
    ),
)
"""In the order of teaching."""

BY_KEY = {lesson.key: lesson for lesson in LESSONS}

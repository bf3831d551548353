"""The head of a new cross-encoder, made of standard modules, so that the saved model loads without our code."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer


def with_pooled_head(
    encoder: "SentenceTransformer", device: str, hidden: int | None, *, own_pooling: bool
) -> "CrossEncoder":
    """A cross-encoder that reads the pooled tokens of an encoder and has one new output.

    What a sentence encoder knows lies in its pooled tokens; the [CLS] token that the usual head reads was
    never trained. From 600 STS-B pairs this head gives a better labeler, and most of it within an epoch.
    hidden: units of a tanh layer before the output; None has no such layer. own_pooling: keep the encoder's;
    else the head reads [CLS], as it does in a plain transformer.
    """
    from sentence_transformers import CrossEncoder
    from sentence_transformers.base.modules import Dense
    from sentence_transformers.sentence_transformer.modules import Pooling
    from torch.nn import Tanh

    # The module after the transformer, whatever its kind: a sentence encoder's pooling may be one of ours.
    pooling: Any = encoder[1]
    if not own_pooling:
        pooling = Pooling(pooling.get_embedding_dimension(), pooling_mode="cls")
    width = pooling.get_embedding_dimension()
    layers = [Dense(width, hidden, activation_function=Tanh())] if hidden is not None else []
    output = Dense(hidden or width, 1, activation_function=None, module_output_name="scores")
    return CrossEncoder(modules=[encoder[0], pooling, *layers, output], device=device, num_labels=1)

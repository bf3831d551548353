"""Attention pooling: a learned query decides how much each token counts. Import inside functions only.

A model with this module is loaded by `catalog.load_bi_encoder`, which knows the class and runs no code that
comes with a model folder.
"""

import os
from typing import Any, ClassVar

import torch
from safetensors.torch import load_model, save_model
from sentence_transformers.base.modules import Module
from torch import nn


class AttentionPooling(Module):
    """The weighted mean of the tokens; the weights are a softmax over each token's product with a query.

    query: float, shape (embedding_dimension,). It begins at zero, where all tokens weigh the same, so an
    untrained model is exactly mean pooling.
    """

    config_keys: ClassVar[list[str]] = ["embedding_dimension"]

    def __init__(self, embedding_dimension: int) -> None:
        super().__init__()
        self.embedding_dimension = embedding_dimension
        self.query = nn.Parameter(torch.zeros(embedding_dimension))

    def forward(self, features: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """Add "sentence_embedding", shape (rows, dimension), from "token_embeddings" and "attention_mask"."""
        # In float32 under autocast, too: the weights of a long sentence would else be rounded away.
        tokens = features["token_embeddings"].float()
        relevance = tokens @ self.query.float()
        relevance = relevance.masked_fill(features["attention_mask"] == 0, -torch.inf)
        weights = torch.softmax(relevance, dim=1).unsqueeze(-1)
        features["sentence_embedding"] = (tokens * weights).sum(dim=1)
        return features

    def get_embedding_dimension(self) -> int:
        """As many as a token has."""
        return self.embedding_dimension

    def save(
        self, output_path: str, *args: Any, safe_serialization: bool = True, **kwargs: Any
    ) -> None:
        """Write config.json and model.safetensors."""
        self.save_config(output_path)
        save_model(self, os.path.join(output_path, "model.safetensors"))

    @classmethod
    def load(
        cls, model_name_or_path: str, subfolder: str = "", **kwargs: Any
    ) -> "AttentionPooling":
        """Read what `save` has written. model_name_or_path: a folder."""
        module = cls(
            **cls.load_config(model_name_or_path, subfolder=subfolder, local_files_only=True)
        )
        load_model(module, os.path.join(model_name_or_path, subfolder, "model.safetensors"))
        return module

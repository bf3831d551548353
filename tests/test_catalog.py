"""Where models come from, and what is refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.models import catalog
from augsbert_core.models.model_folders import count_layers
from augsbert_core.options import BUNDLED_MODEL
from tests.tiny import tiny_bert, tiny_cross_encoder

bundled = pytest.mark.skipif(
    catalog.importlib.util.find_spec(catalog.BUNDLED_PACKAGE) is None,
    reason="the bundled weights (extra 'offline') are not installed",
)


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> str:
    return tiny_bert(tmp_path_factory.mktemp("bert"), layers=3)


def fail_to_download(name: str) -> str:
    raise ConnectionError("no network.\nand a long explanation")


def test_a_folder_is_taken_as_it_is(bert):
    found = catalog.resolve_model(bert)
    assert (found.name, found.location, found.source) == (bert, bert, "folder")


@bundled
def test_the_bundled_weights_need_no_network_and_no_code(monkeypatch):
    monkeypatch.setattr(catalog, "_from_hub", fail_to_download)
    for name in (BUNDLED_MODEL, "all-MiniLM-L6-v2"):
        found = catalog.resolve_model(name)
        assert found.source == "bundled"
        assert (Path(found.location) / "model.safetensors").is_file()
    assert catalog.BUNDLED_PACKAGE not in catalog.importlib.import_module("sys").modules


@bundled
def test_bundled_weights_that_were_changed_are_refused(monkeypatch):
    monkeypatch.setattr(catalog, "BUNDLED_SHA256", "0" * 64)
    with pytest.raises(WorkbenchError, match="not the ones"):
        catalog.resolve_model(BUNDLED_MODEL)


def test_what_was_tried_is_named_when_a_model_is_nowhere(monkeypatch):
    monkeypatch.setattr(catalog, "_from_hub", fail_to_download)
    with pytest.raises(WorkbenchError) as error:
        catalog.resolve_model("someone/some-model")
    message = str(error.value)
    assert "the folder someone/some-model: not there" in message
    assert f"bundled weights: only for {BUNDLED_MODEL}" in message
    assert message.endswith("the hub: no network.")
    assert "long explanation" not in message


def test_offline_the_hub_is_an_error_of_one_line(monkeypatch):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(WorkbenchError, match="'someone/absent-model' was not found"):
        catalog.resolve_model("someone/absent-model")


def test_a_folder_that_is_no_model_is_refused(tmp_path):
    with pytest.raises(WorkbenchError, match=r"neither config\.json nor modules\.json"):
        catalog.resolve_model(str(tmp_path))


def test_a_folder_with_pickled_weights_only_is_refused(bert, tmp_path):
    folder = Path(shutil.copytree(bert, tmp_path / "pickled"))
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(WorkbenchError, match=r"pickle only \(pytorch_model\.bin\)"):
        catalog.load_bi_encoder(str(folder), "cpu")


def test_a_folder_without_weights_is_refused(bert, tmp_path):
    folder = Path(shutil.copytree(bert, tmp_path / "empty"))
    (folder / "model.safetensors").unlink()
    with pytest.raises(WorkbenchError, match="no weights to load"):
        catalog.load_bi_encoder(str(folder), "cpu")


def test_a_model_with_code_of_its_own_is_refused(bert, tmp_path):
    folder = Path(shutil.copytree(bert, tmp_path / "code"))
    modules = [{"idx": 0, "name": "0", "path": "", "type": "custom_code.MyTransformer"}]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "custom_code.py").write_text("raise SystemExit('this code was run')")
    with pytest.raises(WorkbenchError, match=r"custom_code\.MyTransformer"):
        catalog.load_bi_encoder(str(folder), "cpu")


def test_broken_weights_are_a_user_error(bert, tmp_path):
    folder = Path(shutil.copytree(bert, tmp_path / "broken"))
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(WorkbenchError, match="could not be loaded"):
        catalog.load_bi_encoder(str(folder), "cpu")


def test_a_bare_transformer_gets_mean_pooling(bert):
    model = catalog.load_bi_encoder(bert, "cpu", max_length=16)
    assert model[1].pooling_mode == "mean"
    assert model.max_seq_length == 16


def test_the_length_limit_of_the_model_is_never_exceeded(bert):
    assert catalog.load_bi_encoder(bert, "cpu", max_length=5000).max_seq_length == 64


def test_only_the_first_layers_are_kept_and_the_saved_model_reloads(bert, tmp_path):
    whole = catalog.load_bi_encoder(bert, "cpu")
    short = catalog.load_bi_encoder(bert, "cpu", layers=1)
    short.save_pretrained(str(tmp_path / "short"), create_model_card=False)
    again = catalog.load_bi_encoder(str(tmp_path / "short"), "cpu")
    assert count_layers(Path(bert), "it") == 3
    assert count_layers(tmp_path / "short", "it") == 1
    kept = [name for name, _ in again.named_parameters() if "encoder.layer" in name]
    assert kept
    assert all("layer.0." in name for name in kept)
    weights = dict(whole.named_parameters())
    for name, weight in again.named_parameters():
        assert np.array_equal(weight.detach().numpy(), weights[name].detach().numpy()), name


def test_other_architectures_are_shortened_too(tmp_path):
    """DistilBERT keeps its layers elsewhere and counts them under another name."""
    from transformers import BertTokenizer, DistilBertConfig, DistilBertModel

    config = DistilBertConfig(vocab_size=40, dim=32, n_layers=3, n_heads=2, hidden_dim=64)
    DistilBertModel(config).save_pretrained(tmp_path)
    BertTokenizer(vocab={f"t{i}" if i > 4 else ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"][i]: i
                         for i in range(40)}).save_pretrained(tmp_path)  # fmt: skip
    model = catalog.load_bi_encoder(str(tmp_path), "cpu", layers=2)
    assert len(model.transformers_model.transformer.layer) == 2
    model.save_pretrained(str(tmp_path / "short"), create_model_card=False)
    assert count_layers(tmp_path / "short", "it") == 2


@pytest.mark.parametrize("layers", [0, -1, 4])
def test_a_number_of_layers_out_of_range_is_a_user_error(bert, layers):
    with pytest.raises(WorkbenchError, match=r"has 3 layers\. Give a number from 1 to 3"):
        catalog.load_bi_encoder(bert, "cpu", layers=layers)


def test_an_untrained_head_is_refused_for_labelling(bert):
    with pytest.raises(WorkbenchError, match="no trained head"):
        catalog.load_cross_encoder(bert, "cpu")


def test_a_head_with_two_outputs_is_refused_for_labelling(tmp_path):
    two = tiny_cross_encoder(tmp_path, outputs=2)
    with pytest.raises(WorkbenchError, match="its head has 2 outputs"):
        catalog.load_cross_encoder(two, "cpu")
    assert catalog.load_cross_encoder(two, "cpu", for_training=True).num_labels == 1


def test_a_new_head_is_drawn_from_its_seed_and_leaves_the_generator_alone(bert):
    import torch

    before = torch.random.get_rng_state()
    heads = [
        catalog.load_cross_encoder(bert, "cpu", for_training=True, seed=seed)
        .transformers_model.classifier.weight.detach()
        .numpy()
        for seed in (1, 1, 2)
    ]
    assert np.array_equal(heads[0], heads[1])
    assert not np.array_equal(heads[0], heads[2])
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_trained_head_is_kept_for_further_training(tmp_path):
    name = tiny_cross_encoder(tmp_path, seed=5)
    heads = [
        catalog.load_cross_encoder(name, "cpu", for_training=training, seed=9)
        .transformers_model.classifier.weight.detach()
        .numpy()
        for training in (True, False)
    ]
    assert np.array_equal(heads[0], heads[1])


def test_a_sentence_encoder_gets_its_head_on_its_own_pooling(bert, tmp_path):
    folder = str(tmp_path / "encoder")
    load = catalog.load_bi_encoder(bert, "cpu")
    load[1].pooling_mode = "max"
    load.save_pretrained(folder, create_model_card=False)
    with pytest.raises(WorkbenchError, match="no trained head"):
        catalog.load_cross_encoder(folder, "cpu")
    made = catalog.load_cross_encoder(folder, "cpu", for_training=True, max_length=20)
    assert [type(module).__name__ for module in made] == ["Transformer", "Pooling", "Dense"]
    assert made[1].pooling_mode == "max"
    assert made.max_seq_length == 20
    pairs = [("a cat runs", "a dog sleeps"), ("a cat", "a cat")]
    made.save_pretrained(str(tmp_path / "saved"), create_model_card=False)
    again = catalog.load_cross_encoder(str(tmp_path / "saved"), "cpu")
    np.testing.assert_allclose(again.predict(pairs), made.predict(pairs), atol=1e-6)
    assert type(again.activation_fn).__name__ == "Sigmoid"
    assert again.max_seq_length == 20

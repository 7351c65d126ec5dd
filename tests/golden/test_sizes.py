"""How many parameters a Transformer has, summed up on paper; nothing is allocated to say so."""

import pytest
import torch

from regard.models.transformer import Sizes, transformer

# Width, inner width, heads: the two rows of the paper's table 3.
BASE, BIG = (512, 2048, 8), (1024, 4096, 16)


def counted(sizes: Sizes) -> int:
    with torch.device("meta"):
        model = transformer(sizes)
    assert all(parameter.is_meta for parameter in model.parameters())
    return sum(parameter.numel() for parameter in model.parameters())


def summed(vocabulary: int, width: int, inner: int, layers: int) -> int:
    """Return what joint vocabulary, biases in every layer, post-norm, tied embeddings and no output bias add up to."""
    attention = 4 * (width * width + width)
    feed_forward = width * inner + inner + inner * width + width
    norm = 2 * width
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    return vocabulary * width + layers * (encoder_layer + decoder_layer)


@pytest.mark.parametrize(("shape", "number"), [(BASE, 63_082_496), (BIG, 214_245_376)])
def test_base_and_big_have_as_many_parameters_as_the_sum_says(shape: tuple[int, int, int], number: int) -> None:
    width, inner, heads = shape
    assert summed(37_000, width, inner, 6) == number
    assert counted(Sizes(37_000, width=width, inner=inner, heads=heads)) == number


def test_pre_norm_adds_one_norm_on_top_of_each_stack() -> None:
    assert counted(Sizes(100, norm="pre")) == counted(Sizes(100)) + 2 * 2 * 512


def test_untied_embeddings_are_three_tables() -> None:
    assert counted(Sizes(100, tied=False)) == counted(Sizes(100)) + 2 * 100 * 512


def test_a_vocabulary_of_its_own_for_the_source_is_one_more_table() -> None:
    assert counted(Sizes(100, source_vocabulary=70)) == counted(Sizes(100)) + 70 * 512


def test_learned_positions_are_a_table_for_each_side() -> None:
    assert counted(Sizes(100, positions="learned", longest=50)) == counted(Sizes(100)) + 2 * 50 * 512


def test_positions_that_are_computed_have_no_parameters() -> None:
    assert (
        counted(Sizes(100, positions="none")) == counted(Sizes(100, positions="tensor2tensor")) == counted(Sizes(100))
    )

"""True of attention with every score and every mask, new ones included."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from regard.attention import (
    Attention,
    KeyValues,
    Lengths,
    Mask,
    ScaledDot,
    Score,
    Segments,
    Sinusoidal,
    Window,
    attend,
    causal,
    kernels,
    softmax,
)
from regard.attention.masks import Table, visible
from regard.trace import trace
from tests.small import double, noise, randomised

every_score = pytest.mark.parametrize("score", Score.named.values(), ids=Score.named)

CPU = torch.device("cpu")


class Shape(NamedTuple):
    B: int
    H: int
    T: int
    S: int
    E: int

    @property
    def table(self) -> tuple[int, int, int, int]:
        return self.B, self.H, self.T, self.S


USUAL = Shape(3, 2, 4, 5, 4)


def random_table(shape: Shape, chance: torch.Generator) -> Tensor:
    """Return a table with empty rows in it, and with one entry where an axis does not matter."""
    axes = [1 if float(torch.rand((), generator=chance)) < 0.3 else size for size in shape.table]
    allowed = torch.rand(axes, generator=chance) < 0.6
    allowed[..., -1, :] &= torch.rand(axes[:2], generator=chance)[..., None] < 0.5
    return allowed


def random_lengths(shape: Shape, chance: torch.Generator) -> Mask:
    return Lengths(torch.randint(0, shape.S + 1, (shape.B,), generator=chance))


def random_segments(shape: Shape, chance: torch.Generator) -> Mask:
    of_BT, of_BS = (torch.randint(0, 3, (shape.B, size), generator=chance) for size in (shape.T, shape.S))
    return Segments(of_BT, of_BS)


# How to make one of each kind of mask: a new kind is a new line.
MASKS: dict[str, Callable[[Shape, torch.Generator], Mask | Tensor | None]] = {
    "none": lambda shape, chance: None,
    "tensor": random_table,
    "Table": lambda shape, chance: Table(random_table(shape, chance)),
    "Causal": lambda shape, chance: causal,
    "Lengths": random_lengths,
    "Window": lambda shape, chance: Window(int(torch.randint(0, shape.S, (), generator=chance))),
    "Segments": random_segments,
    "Both": lambda shape, chance: random_lengths(shape, chance) & causal,
    "many": lambda shape, chance: random_table(shape, chance) & Window(2) & random_segments(shape, chance) & causal,
}
every_mask = pytest.mark.parametrize("mask", MASKS)

# Shapes of a text that goes on: at least as many keys as queries.
shapes = st.builds(
    lambda B, H, T, more, E: Shape(B, H, T, T + more, E),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 6),
    st.integers(0, 5),
    st.sampled_from([1, 2, 3, 8]),
)
seeds = st.integers(0, 2**20)


class Case(NamedTuple):
    """Queries, keys and values, who may look at whom, and the same as a table."""

    score: Score
    q: Tensor
    k: Tensor
    v: Tensor
    mask: Mask | Tensor | None
    seen: Tensor

    @property
    def kv(self) -> KeyValues:
        return KeyValues(self.score.keys(self.k), self.v)

    def attend(self) -> Tensor:
        return attend(self.q, self.kv, score=self.score, mask=self.mask)

    def weights(self) -> Tensor:
        return softmax(self.score(self.q, self.kv.k_BHSE), self.seen)


def case(
    score: type[Score], mask: str, shape: Shape = USUAL, seed: int = 0, dtype: torch.dtype = torch.float64
) -> Case:
    chance = torch.Generator().manual_seed(seed)
    B, H, T, S, E = shape
    q, k, v = (torch.randn(B, H, n, E, generator=chance, dtype=torch.float64).to(dtype) for n in (T, S, S))
    made = MASKS[mask](shape, chance)
    seen = visible(made, T, S, None, None, CPU)
    whole = torch.ones(shape.table, dtype=torch.bool)
    for x in (q, k, v):
        x.requires_grad_()
    return Case(randomised(score(H, E, E).to(dtype), seed), q, k, v, made, whole if seen is None else whole & seen)


def kinds(kind: type[Mask]) -> Iterator[type[Mask]]:
    for below in kind.__subclasses__():
        yield below
        yield from kinds(below)


def test_every_kind_of_mask_is_tried_here() -> None:
    # Those of the package; a test may define its own.
    there = {kind.__name__ for kind in kinds(Mask) if kind.__module__.startswith("regard.")}
    assert there <= set(MASKS), f"add a line to MASKS for {', '.join(there - set(MASKS))}"


# Weights.


@every_score
@every_mask
def test_rows_of_weights_sum_to_one_or_are_empty(score: type[Score], mask: str) -> None:
    for seed in range(5):
        one = case(score, mask, seed=seed)
        weights = one.weights()
        expected = one.seen.any(-1).to(weights.dtype)
        # Five float64 numbers.
        assert_close(weights.sum(-1), expected, atol=1e-15 * 5, rtol=0)
        assert bool((weights >= 0).all())


@every_score
@every_mask
def test_what_is_hidden_gets_no_weight_and_no_gradient(score: type[Score], mask: str) -> None:
    one = case(score, mask, seed=2)
    assert not one.weights()[~one.seen].any()
    context = one.attend()
    for query in range(one.q.shape[2]):
        k, v = torch.autograd.grad(context[:, :, query].sum(), [one.k, one.v], retain_graph=True)
        hidden = ~one.seen[:, :, query]
        assert not k[hidden].any()
        assert not v[hidden].any()
        # What is seen matters, even though softmax is small.
        assert bool((v[~hidden] != 0).all())


@every_score
def test_the_past_ignores_the_future_and_depends_on_itself(score: type[Score]) -> None:
    attention = randomised(Attention(2, 8, score=score).double())
    x = noise(3, 6, 8).double().requires_grad_()
    y = attention(x, attention.keys_values(x), causal)
    for place in range(6):
        (gradient,) = torch.autograd.grad(y[:, place].sum(), x, retain_graph=True)
        assert not gradient[:, place + 1 :].any()
        assert bool((gradient[:, : place + 1] != 0).all())
    changed = torch.cat([x[:, :3], noise(3, 3, 8, seed=1).double()], dim=1)
    assert torch.equal(attention(changed, attention.keys_values(changed), causal)[:, :3], y[:, :3])


@every_score
@pytest.mark.parametrize("nothing", ["rows", "sentences", "all"])
def test_a_query_with_nothing_to_see_has_zero_context_and_zero_gradient(score: type[Score], nothing: str) -> None:
    one = case(score, "none")
    seen = torch.ones(3, 1, 4, 5, dtype=torch.bool)
    empty = {"rows": (slice(None), slice(None), 2), "sentences": (1,), "all": ()}[nothing]
    seen[empty] = False
    context = attend(one.q, one.kv, score=one.score, mask=seen)
    none = ~seen.any(-1).expand(3, 2, 4)
    assert not context[none].any()
    assert not softmax(one.score(one.q, one.kv.k_BHSE), seen)[none].any()
    context.square().sum().backward()
    for x in (one.q, one.k, one.v, *one.score.parameters()):
        assert x.grad is not None
        assert bool(x.grad.isfinite().all())
    assert one.q.grad is not None
    assert not one.q.grad[none].any()


@every_score
@every_mask
def test_padding_changes_nothing(score: type[Score], mask: str) -> None:
    one = case(score, mask)
    more = 1e3 * noise(3, 2, 4, 4).double()
    kv = KeyValues(one.score.keys(torch.cat([one.k, more], dim=2)), torch.cat([one.v, -more], dim=2))
    seen = nn.functional.pad(one.seen, (0, 4), value=False)
    # Nine instead of five numbers are summed, the others zeros.
    assert_close(attend(one.q, kv, score=one.score, mask=seen), one.attend(), atol=1e-14, rtol=0)


@every_score
@every_mask
def test_a_sentence_alone_gets_what_it_gets_in_a_batch(score: type[Score], mask: str) -> None:
    one = case(score, mask)
    together = one.attend()
    for row in range(3):
        kv = KeyValues(one.kv.k_BHSE[row : row + 1], one.v[row : row + 1])
        alone = attend(one.q[row : row + 1], kv, score=one.score, mask=one.seen[row : row + 1])
        assert_close(alone, together[row : row + 1], atol=1e-14, rtol=0)


@every_score
def test_scores_have_gradients_that_differences_confirm(score: type[Score]) -> None:
    one = case(score, "none", Shape(1, 2, 3, 4, 3))
    whole = Prepared(one.score)
    parameters = dict(whole.named_parameters())

    def scores(q: Tensor, k: Tensor, *given: Tensor) -> Tensor:
        found: Tensor = torch.func.functional_call(whole, dict(zip(parameters, given, strict=True)), (q, k))
        return found

    assert torch.autograd.gradcheck(scores, [one.q, one.k, *parameters.values()])


class Prepared(nn.Module):
    """A score that is given its keys as they come."""

    def __init__(self, score: Score) -> None:
        super().__init__()
        self.score = score

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        scores: Tensor = self.score(q, self.score.keys(k))
        return scores


# Order.


@every_score
@every_mask
def test_permuting_the_memory_changes_nothing(score: type[Score], mask: str) -> None:
    one = case(score, mask)
    order = torch.tensor([3, 0, 4, 1, 2])
    kv = KeyValues(one.score.keys(one.k[:, :, order]), one.v[:, :, order])
    # The same five products, summed in another order.
    assert_close(attend(one.q, kv, score=one.score, mask=one.seen[..., order]), one.attend(), atol=1e-14, rtol=0)


@every_score
def test_permuting_the_input_of_self_attention_permutes_its_output(score: type[Score]) -> None:
    # Lecture 4: f(Px) = P f(x). Outputs are about 1; sums of eight float64 products are right to 4e-15.
    with double():
        attention = randomised(Attention(2, 8, score=score))
        x, order = noise(3, 6, 8), torch.tensor([5, 2, 0, 3, 1, 4])
        y = attention(x, attention.keys_values(x))
        permuted = attention(x[:, order], attention.keys_values(x[:, order]))
        assert_close(permuted, y[:, order], atol=4e-15, rtol=0)


@every_score
@pytest.mark.parametrize("layout", ["interleaved", "concatenated", "tensor2tensor"])
def test_with_positions_a_permuted_input_gives_another_output(score: type[Score], layout: str) -> None:
    attention = randomised(Attention(2, 8, score=score))
    places = Sinusoidal(8, layout)(torch.arange(6)[None])
    x, order = noise(3, 6, 8), torch.tensor([5, 2, 0, 3, 1, 4])
    y, permuted = (attention(z, attention.keys_values(z)) for z in (x + places, x[:, order] + places))
    assert float((permuted - y[:, order]).detach().abs().max()) > 1e-3


@every_score
def test_one_query_does_not_notice_that_its_memory_was_permuted(score: type[Score]) -> None:
    attention = randomised(Attention(2, 8, memory_width=5, score=score).double())
    x, memory = noise(3, 1, 8).double(), noise(3, 7, 5, seed=1).double()
    shuffled = memory[:, torch.tensor([6, 2, 0, 5, 3, 1, 4])]
    given, permuted = (attention(x, attention.keys_values(each)) for each in (memory, shuffled))
    assert_close(permuted, given, atol=4e-15, rtol=0)


# Masks.


@given(shapes, seeds, st.data())
def test_masks_combine_as_their_tables_do(shape: Shape, seed: int, data: st.DataObject) -> None:
    chance = torch.Generator().manual_seed(seed)
    descriptions = st.sampled_from([name for name in MASKS if name not in ("none", "tensor")])
    one, other = (MASKS[data.draw(descriptions)](shape, chance) for _ in range(2))
    plain = random_table(shape, chance)
    assert isinstance(one, Mask)
    assert isinstance(other, Mask)

    def table(mask: Mask | Tensor) -> Tensor:
        seen = visible(mask, shape.T, shape.S, None, None, CPU)
        whole = torch.ones(shape.table, dtype=torch.bool)
        return whole if seen is None else whole & seen

    assert torch.equal(table(one & other), table(one) & table(other))
    assert torch.equal(table(one & other), table(other & one))
    assert torch.equal(table(one & plain), table(one) & plain)
    assert torch.equal(table(plain & one), table(one) & plain)


@given(shapes, seeds, st.sampled_from(sorted(MASKS)))
def test_a_mask_that_claims_to_hide_nothing_hides_nothing(shape: Shape, seed: int, name: str) -> None:
    mask = MASKS[name](shape, torch.Generator().manual_seed(seed))
    if isinstance(mask, Mask) and not mask.hides(shape.T, shape.S, given=False):
        at_BS = torch.arange(shape.S)[None]
        assert bool(mask.dense(at_BS[:, shape.S - shape.T :], at_BS).all())


# Positions as values.


@given(shapes, seeds, st.sampled_from(sorted(MASKS)))
def test_rows_with_explicit_positions_equal_rows_without(shape: Shape, seed: int, mask: str) -> None:
    one = case(ScaledDot, mask, shape, seed)
    at_BS = torch.arange(shape.S).expand(shape.B, -1)
    at_BT = at_BS[:, shape.S - shape.T :]
    kv = one.kv._replace(at_BS=at_BS)
    expected = one.attend()
    for keys, at in ((kv, at_BT), (kv, None), (one.kv, at_BT), (one.kv, at_BT[:1]), (kv, at_BT[:1])):
        assert torch.equal(attend(one.q, keys, score=one.score, mask=one.mask, at_BT=at), expected)


@every_score
@pytest.mark.parametrize("mask", [causal, Window(1), causal & Window(2)], ids=["causal", "window", "both"])
def test_what_counts_is_where_things_stand_and_not_their_order(score: type[Score], mask: Mask) -> None:
    attention = randomised(Attention(2, 8, score=score).double())
    x, order = noise(2, 6, 8).double(), torch.tensor([[5, 2, 0, 3, 1, 4], [0, 1, 4, 5, 3, 2]])
    rows = torch.arange(2)[:, None]
    y = attention(x, attention.keys_values(x), mask)
    shuffled = x[rows, order]
    # Where they stand may begin anywhere, in each row elsewhere.
    at = order + torch.tensor([[100], [3]])
    found = attention(shuffled, attention.keys_values(shuffled, at), mask, at)
    assert_close(found, y[rows, order], atol=1e-14, rtol=0)


# Kernels.


def explicit(one: Case) -> Tensor:
    with trace(nn.Identity()):
        return one.attend()


@given(shapes, seeds, st.sampled_from(sorted(MASKS)), st.sampled_from(sorted(Score.named)))
def test_fast_equals_explicit(shape: Shape, seed: int, mask: str, score: str) -> None:
    one = case(Score.named[score], mask, shape, seed, torch.float32)
    upstream = noise(*one.q.shape)
    expected = explicit(one)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "WORTHWHILE_ON_CPU", 0)
        found = one.attend()
    # float32, contexts of about 1.
    assert_close(found, expected, atol=1e-5, rtol=0)
    inputs = [one.q, one.k, one.v, *one.score.parameters()]
    for fast, slow in zip(*(torch.autograd.grad(y, inputs, upstream) for y in (found, expected)), strict=True):
        # Gradients grow with widths and scores: 1e-5 of their size, up to a hundred.
        assert_close(fast, slow, atol=1e-4, rtol=1e-5)


@every_score
@every_mask
@pytest.mark.parametrize(
    "shape", [Shape(2, 2, 130, 130, 8), Shape(1, 2, 3, 6000, 4), Shape(2, 1, 128, 300, 16)], ids=str
)
def test_fast_equals_explicit_on_long_texts(score: type[Score], mask: str, shape: Shape) -> None:
    one = case(score, mask, shape, dtype=torch.float32)
    assert shape.T * shape.S >= kernels.WORTHWHILE_ON_CPU
    assert_close(one.attend(), explicit(one), atol=1e-5, rtol=0)


@every_mask
def test_the_fused_kernel_ignores_what_is_hidden_and_lets_empty_rows_be_empty(mask: str) -> None:
    for seed in range(10):
        one = case(ScaledDot, mask, seed=seed, dtype=torch.float32)
        context = kernels.flash(one.q, one.kv, one.mask)
        assert_close(context, explicit(one), atol=1e-5, rtol=0)
        empty = ~one.seen.any(-1)
        assert not context[empty].any()
        q, k, v = torch.autograd.grad(context.square().sum(), [one.q, one.k, one.v], retain_graph=True)
        for gradient in (q, k, v):
            assert bool(gradient.isfinite().all())
        assert not q[empty].any()
        for query in range(one.q.shape[2]):
            k, v = torch.autograd.grad(context[:, :, query].sum(), [one.k, one.v], retain_graph=True)
            hidden = ~one.seen[:, :, query]
            assert not k[hidden].any()
            assert not v[hidden].any()


def test_the_fused_kernel_gives_nothing_where_all_is_hidden() -> None:
    one = case(ScaledDot, "none", dtype=torch.float32)
    context = kernels.flash(one.q, one.kv, torch.zeros(1, 1, 1, 5, dtype=torch.bool))
    assert not context.any()
    for gradient in torch.autograd.grad(context.sum(), [one.q, one.k, one.v]):
        assert not gradient.any()


def test_an_empty_row_is_zero_whatever_the_library_makes_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # On other devices the library's kernel returns a mean of all values, or what is no number.
    fused = nn.functional.scaled_dot_product_attention

    def other(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor) -> Tensor:
        return torch.where(attn_mask.any(-1, keepdim=True), fused(q, k, v, attn_mask=attn_mask), torch.nan)

    one = case(ScaledDot, "tensor", seed=2, dtype=torch.float32)
    assert not one.seen.any(-1).all()
    monkeypatch.setattr(nn.functional, "scaled_dot_product_attention", other)
    assert_close(kernels.flash(one.q, one.kv, one.mask), explicit(one), atol=1e-5, rtol=0)


def test_the_fused_kernel_runs_on_long_texts_only_and_never_while_somebody_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[tuple[int, ...]] = []
    flash = kernels.flash

    def counted(q: Tensor, kv: KeyValues, *rest: object) -> Tensor:
        runs.append(tuple(q.shape))
        return flash(q, kv, *rest)

    monkeypatch.setattr(kernels, "flash", counted)
    short, long = case(ScaledDot, "Causal"), case(ScaledDot, "Causal", Shape(1, 1, 128, 128, 4))
    short.attend()
    assert not runs
    long.attend()
    assert runs == [(1, 1, 128, 4)]
    explicit(long)
    # Another arrow than the usual ones: the kernel knows the usual ones only.
    attend(long.q, long.kv, score=long.score, normalize=lambda x, mask: softmax(x, mask))
    attend(long.q, long.kv, score=long.score, mix=lambda weights, v: weights @ v)
    assert len(runs) == 1


@every_score
def test_the_hypotheses_of_a_sentence_share_its_memory(score: type[Score]) -> None:
    # Three sentences, four hypotheses each, two queries a hypothesis.
    attention = randomised(Attention(2, 8, memory_width=5, score=score).double())
    x, memory = noise(12, 2, 8).double(), noise(3, 7, 5, seed=1).double()
    lengths = torch.tensor([7, 3, 5])
    shared = attention(x, attention.keys_values(memory), Lengths(lengths))
    repeated = attention(
        x, attention.keys_values(memory.repeat_interleave(4, 0)), Lengths(lengths.repeat_interleave(4))
    )
    assert_close(shared, repeated, atol=1e-14, rtol=0)

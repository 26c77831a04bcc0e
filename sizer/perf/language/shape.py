"""What a transformer's shape says about the work of one token: parameters, linear layers, attention."""

from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Floats

# FLOP for each parameter and token: two forward, two for gradients of activations, two for gradients of weights.
TRAINING_FLOP, LORA_FLOP, FORWARD_FLOP = 6.0, 4.0, 2.0


@dataclass(frozen=True)
class Shapes:
    """Shapes of transformers, one array element a model; all arrays have one length or broadcast.

    ``experts`` is 1 and ``shared_ffn`` 0 for a dense model. ``window`` is the attention window of a share of the
    layers, infinite where every token sees all before it. ``kv_rank`` above 0: latent attention.
    """

    layers: Floats
    hidden: Floats
    ffn: Floats  # of a dense layer
    heads: Floats
    kv_heads: Floats
    head_size: Floats
    vocabulary: Floats
    gates: Floats  # matrices of a feed-forward block: 3 gated, 2 plain
    experts: Floats
    active_experts: Floats
    expert_ffn: Floats
    shared_ffn: Floats  # of the experts that every token uses
    dense_layers: Floats  # layers without experts, of a mixture
    window: Floats
    window_share: Floats  # of the layers, that have the window
    q_rank: Floats
    kv_rank: Floats

    @property
    def is_mixture(self) -> np.ndarray:
        """Whether tokens are routed to experts."""
        return np.asarray(self.experts > 1)

    @property
    def attention_parameters(self) -> Floats:
        """Parameters of the attention of one layer: queries, keys, values and output.

        With latent attention: down to the ranks and up again (DeepSeek-V3: 128 + 64 wide keys, rope shared).
        """
        h, a, k, d = self.hidden, self.heads, self.kv_heads, self.head_size
        usual = h * d * (2 * a + 2 * k)
        rope = d / 2
        queries = np.where(self.q_rank > 0, h * self.q_rank + self.q_rank * a * (d + rope), h * a * (d + rope))
        latent = queries + h * (self.kv_rank + rope) + self.kv_rank * a * 2 * d + a * d * h
        return np.asarray(np.where(self.kv_rank > 0, latent, usual))

    @property
    def routed_parameters_used(self) -> Floats:
        """Parameters of the routed experts that one token uses, all layers."""
        layers = np.where(self.is_mixture, self.layers - self.dense_layers, 0.0)
        return np.asarray(layers * self.gates * self.hidden * self.expert_ffn * self.active_experts)

    @property
    def dense_parameters_used(self) -> Floats:
        """Parameters that every token uses, all layers, without embedding and head."""
        sparse = np.where(self.is_mixture, self.layers - self.dense_layers, 0.0)
        dense = self.layers - sparse
        block = self.gates * self.hidden * (dense * self.ffn + sparse * self.shared_ffn)
        return np.asarray(self.layers * self.attention_parameters + block)

    @property
    def block_width(self) -> Floats:
        """Width of the feed-forward blocks that one token passes in a layer; of a mixture in a sparse one."""
        return np.asarray(np.where(self.is_mixture, self.active_experts * self.expert_ffn + self.shared_ffn, self.ffn))

    @property
    def linear_parameters_used(self) -> Floats:
        """Parameters of all linear layers that one token uses, without embedding and head."""
        return self.dense_parameters_used + self.routed_parameters_used

    @property
    def expert_parameters(self) -> Floats:
        """Parameters of all routed experts."""
        return self.routed_parameters_used * self.experts / self.active_experts

    @property
    def parameters(self) -> Floats:
        """All parameters; embedding and head untied."""
        return self.dense_parameters_used + self.expert_parameters + 2 * self.vocabulary * self.hidden

    def attention_flop(self, sequence: Floats) -> Floats:
        """FLOP of scores and weighted values of one token, forward and backward, causal: 6 L s a d."""
        seen = self.window_share * np.minimum(sequence, self.window) + (1 - self.window_share) * sequence
        return np.asarray(6 * self.layers * seen * self.heads * self.head_size)

    def model_flop(self, sequence: Floats) -> Floats:
        """FLOP of one token's training by the causal convention, nothing recomputed."""
        linear = self.linear_parameters_used + self.vocabulary * self.hidden
        return TRAINING_FLOP * linear + self.attention_flop(sequence)

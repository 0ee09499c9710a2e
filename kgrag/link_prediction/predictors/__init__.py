"""Link predictors, by kind: `ncn` (the default), `vgae`, `peg`, `seal`, and `mlp`, which sees no graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from kgrag.link_prediction.predictors.base import Predictor, Shape
from kgrag.link_prediction.predictors.mlp import MLP
from kgrag.link_prediction.predictors.ncn import NCN
from kgrag.link_prediction.predictors.peg import PEG
from kgrag.link_prediction.predictors.seal import SEAL
from kgrag.link_prediction.predictors.vgae import VGAE

__all__ = ["MLP", "NCN", "PEG", "PREDICTORS", "SEAL", "VGAE", "Predictor", "Shape", "predictor_of"]

PREDICTORS: Mapping[str, Callable[[Shape], Predictor]] = MappingProxyType(
    {"ncn": NCN, "vgae": VGAE, "peg": PEG, "seal": SEAL, "mlp": MLP}
)


def predictor_of(kind: str, shape: Shape) -> Predictor:
    """Return the predictor of that kind."""
    return PREDICTORS[kind](shape)

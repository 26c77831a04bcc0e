"""A neural network that a request describes: by its numbers, or a language model by its shape."""

from typing import Annotated, Self

from pydantic import Discriminator, Field, Tag, model_validator

from sizer.base.quantities import Bytes, Flop
from sizer.base.texts import Name
from sizer.catalog.items import INPUT_BYTES, Parameters
from sizer.catalog.schema import NetworkKind
from sizer.workload.table import ItemId, RequestTable
from sizer.workload.transformer.custom_transformer import CustomTransformer, is_shape

OTHER_KIND = "other"  # of a network of which nothing is said
# Kind of the networks of a family of the catalogue; of the other families arithmetic alone does not tell the rate.
KIND_OF_FAMILY: dict[str, NetworkKind] = {
    "alexnet": "convolution",
    "inception": "convolution",
    "resnet": "convolution",
    "vgg": "convolution",
    "detection": "detector",
    "segmentation": "volume",
    "bert": "transformer",
    "translation": "transformer",
    "language-model": "transformer",
    "embedding-model": "transformer",
    "diffusion": "diffusion",
}


class CustomDnn(RequestTable):
    """A neural network that is not in the catalogue, given by its numbers."""

    name: Name
    forward_flop: Flop  # 2 x multiply-accumulates of one sample
    parameters: Parameters
    input_bytes: Annotated[Bytes, INPUT_BYTES]  # one decoded sample as the GPU gets it
    # Of these, parameters in tables that are looked up; absent: of a network that is like a recommender, those that the
    # arithmetic does not explain.
    embedding_parameters: Annotated[float, Field(ge=0, le=1e13, allow_inf_nan=False)] | None = None
    # Absent: that of the network that it is like; without either all kinds count, with a wide interval.
    kind: NetworkKind | None = None
    like: ItemId | None = None  # catalogue DNN of its kind: an analogy, whose own rate is not taken

    version_of: ItemId | None = None  # catalogue DNN of which it is a smaller or larger version: its own rate is scaled

    @property
    def relative(self) -> str | None:
        """Catalogue DNN of whose kind it is; None where none is named."""
        return self.version_of or self.like

    @model_validator(mode="after")
    def _tables_are_part_of_it(self) -> Self:
        if self.embedding_parameters is not None and self.embedding_parameters > self.parameters:
            raise ValueError(
                f"embedding_parameters = {self.embedding_parameters:g} must be at most parameters = "
                f"{self.parameters:g}, of which they are a part"
            )
        return self


def _kind_of_dnn(value: object) -> str:
    if isinstance(value, CustomDnn | dict):
        return "CustomTransformer" if is_shape(value) else "CustomDnn"
    return "CustomTransformer" if isinstance(value, CustomTransformer) else "ItemId"


# A network of the catalogue by its id, or one given by its numbers or by its shape; which one, its keys tell.
AnyDnn = Annotated[
    Annotated[ItemId, Tag("ItemId")]
    | Annotated[CustomDnn, Tag("CustomDnn")]
    | Annotated[CustomTransformer, Tag("CustomTransformer")],
    Discriminator(_kind_of_dnn),
]

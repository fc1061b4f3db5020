"""The base classes of request and response bodies."""

from pydantic import BaseModel, ConfigDict


class RequestBody(BaseModel):
    """The base of every JSON body: an unknown field is refused, and no value is converted to another type.

    `0` is not a boolean and `"5"` is not a number. A type that JSON has no notation for (an enumeration, a time)
    says `strict=False` itself.
    """

    model_config = ConfigDict(extra="forbid", strict=True)


class FromAttributes(BaseModel):
    """A response model that is filled from a value with attributes of the same names."""

    model_config = ConfigDict(from_attributes=True)

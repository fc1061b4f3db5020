"""URLs that a person names for us to ask: for a bookmark, for a webhook."""

from feedmill.collect.address import BadAddress, read_address
from feedmill.errors import BadInput


def named_url(text: str) -> str:
    """The URL in its normal form, or `BadInput`; whether its address is allowed is seen when it is asked."""
    try:
        address = read_address(text)
    except BadAddress as error:
        raise BadInput(str(error), field="url") from error
    if address.http_options is not None:
        raise BadInput("the URL must have no name and password in it", field="url")
    return address.url

"""The fields of the form that adds feeds."""

from feedmill.serve.web.core.form_fields import NUMBER, TEXT, one_of
from feedmill.serve.web.feeds.http_option_fields import HTTP_OPTION_FIELDS
from feedmill.serve.web.feeds.subscription_fields import INTERVAL, POLICIES

# Options of a feed that is added; the form has them once something was found.
_OPTION_FIELDS = {
    "folder": NUMBER.or_empty.repeated,
    "new_folder": TEXT.optional,
    "label": NUMBER.or_empty.repeated,
    "new_label": TEXT.optional,
    "interval": INTERVAL.optional,
    "images": one_of("", *POLICIES).optional,
    "block_rules": TEXT.optional,
    "keep_rules": TEXT.optional,
}
ADD_FEED_FIELDS = {
    "url": TEXT.optional,
    "feed": TEXT.repeated,
    **_OPTION_FIELDS,
    **{name: field.optional for name, field in HTTP_OPTION_FIELDS.items()},
}

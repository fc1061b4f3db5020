from datetime import UTC, datetime

from feedmill.library.output_feeds.manage_output_feeds import create_output_feed
from feedmill.model.syndication.output_feed import OutputList, OutputListKind
from feedmill.model.user import Caller
from tests.serve.rest.cases import Case, CaseRequest, simple_case
from tests.serve.rest.site import Person, Site

NAME = "the picks of Alice"


async def _make(site: Site, alice: Person) -> int:
    who, wanted = Caller(alice.user, alice.user.scopes), OutputList(OutputListKind.ALL)
    _, feed = await create_output_feed(site.app.db, who, wanted, NAME, datetime.now(UTC))
    return feed.id


async def _all(site: Site, alice: Person) -> CaseRequest:
    await _make(site, alice)
    return CaseRequest("/output-feeds", secret=NAME)


async def _one(site: Site, alice: Person) -> CaseRequest:
    return CaseRequest(f"/output-feeds/{await _make(site, alice)}")


CASES = {
    "GET /output-feeds": Case(_all, others=200),
    "POST /output-feeds": simple_case("/output-feeds", {"list": "starred"}, others=201),
    "DELETE /output-feeds/{output_feed_id}": Case(_one),
}

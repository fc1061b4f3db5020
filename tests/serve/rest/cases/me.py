from tests.serve.rest.cases import Case, CaseRequest
from tests.serve.rest.site import Person, Site


async def _me(site: Site, alice: Person) -> CaseRequest:
    return CaseRequest("/me", secret="alice")


CASES = {"GET /me": Case(_me, others=200)}

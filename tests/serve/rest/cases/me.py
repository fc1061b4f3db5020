from tests.serve.rest.cases import Asked, Case
from tests.serve.rest.site import Person, Site


async def _me(site: Site, alice: Person) -> Asked:
    return Asked("/me", secret="alice")


CASES = {"GET /me": Case(_me, others=200)}

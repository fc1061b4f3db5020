"""Sessions, keys and the password: each user has their own."""

from datetime import UTC, datetime

from feedmill.library.users.manage_users import set_password
from feedmill.library.users.sign_in import begin_session
from feedmill.model.user import Actor, RequestOrigin
from feedmill.store.users.api_keys import add_api_key, secret_digest
from tests.serve.rest.cases import Case, CaseRequest, simple_case
from tests.serve.rest.site import Person, Site


async def _sessions(site: Site, alice: Person) -> CaseRequest:
    await begin_session(site.app.db, alice.user, RequestOrigin("192.0.2.7", "Alice's browser"), datetime.now(UTC))
    return CaseRequest("/sessions", secret="Alice's browser")


async def _one_session(site: Site, alice: Person) -> CaseRequest:
    _, who = await begin_session(site.app.db, alice.user, RequestOrigin(), datetime.now(UTC))
    return CaseRequest(f"/sessions/{who.session_id}")


async def _keys(site: Site, alice: Person) -> CaseRequest:
    await add_api_key(site.app.db, alice.user.id, "Alice's script", "fm_secret", ["read"], datetime.now(UTC))
    return CaseRequest("/api-keys", secret="Alice's script")


async def _one_key(site: Site, alice: Person) -> CaseRequest:
    made = await add_api_key(site.app.db, alice.user.id, "x", secret_digest("y"), ["read"], datetime.now(UTC))
    return CaseRequest(f"/api-keys/{made.id}")


async def _password(site: Site, alice: Person) -> CaseRequest:
    await set_password(site.app.db, alice.user, "old password", None, datetime.now(UTC), Actor())
    return CaseRequest("/me/password", {"current": "old password", "new": "new password"})


CASES = {
    "GET /sessions": Case(_sessions, others=200),
    "DELETE /sessions": simple_case("/sessions", others=200),
    "DELETE /sessions/current": simple_case("/sessions/current", others=204),
    "DELETE /sessions/{session_id}": Case(_one_session),
    "GET /api-keys": Case(_keys, others=200),
    "POST /api-keys": simple_case("/api-keys", {"name": "script", "scopes": ["read"]}, others=201),
    "DELETE /api-keys/{key_id}": Case(_one_key),
    "PUT /me/password": Case(_password, others=422),
}

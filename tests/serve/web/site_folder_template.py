"""The data folder of a site with Alice's feeds, as a template: copying one is ten times as fast as building it."""

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from feedmill.library.users.manage_users import create_first_admin
from tests.browser import sample_feeds
from tests.scripted_web import Answer, Web
from tests.serve.rest.site import running_site

DATABASE = "feedmill.db"

# The files by path; each template is built by the first test of a worker that uses a web on this port.
_folders: dict[int, dict[str, bytes]] = {}


async def copy_site_folder(folder: Path, web: Web) -> None:
    """Alice is the admin and subscribes to two feeds of this web, one of them in a folder."""
    alices_feeds = sample_feeds.sample_feeds(web.url(""))[1:3]
    for sample_feed in alices_feeds:
        web.serve(
            sample_feed.path, Answer(sample_feeds.as_rss(sample_feed), headers={"Content-Type": "application/rss+xml"})
        )
    if web.port not in _folders:
        _folders[web.port] = await _make(web, alices_feeds)
    for name, content in _folders[web.port].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o600)


async def _make(web: Web, alices_feeds: list[sample_feeds.SampleFeed]) -> dict[str, bytes]:
    with TemporaryDirectory() as made, TemporaryDirectory() as copied:
        async with running_site(Path(made), web) as site:
            alice = await create_first_admin(site.app.db, "alice", sample_feeds.PASSWORD, datetime.now(UTC))
            for sample_feed in alices_feeds:
                await sample_feeds.subscribe_to(site, alice, sample_feed)
            await site.app.db.backup(Path(copied, DATABASE))
        files = {str(path.relative_to(made)): path for path in Path(made).rglob("*") if path.is_file()}
        files[DATABASE] = Path(copied, DATABASE)
        return {name: path.read_bytes() for name, path in files.items() if not name.startswith(f"{DATABASE}-")}

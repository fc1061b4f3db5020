"""The data folder of a site where Alice has her feeds, to copy: making one takes ten times as long as copying it."""

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from feedmill.library.users.manage_users import create_first_admin
from tests.browser import papers
from tests.serve.rest.site import running_site
from tests.www import Answer, Web

DATABASE = "feedmill.db"

# The files by their paths, each folder made by the first test of a worker that uses a web on this port.
_folders: dict[int, dict[str, bytes]] = {}


async def copy_furnished_folder(folder: Path, web: Web) -> None:
    """Alice is there as the admin and subscribes to two feeds of this web, one of them in a folder."""
    alices_papers = papers.papers(web.url(""))[1:3]
    for paper in alices_papers:
        web.serve(paper.path, Answer(papers.as_rss(paper), headers={"Content-Type": "application/rss+xml"}))
    if web.port not in _folders:
        _folders[web.port] = await _make(web, alices_papers)
    for name, content in _folders[web.port].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o600)


async def _make(web: Web, alices_papers: list[papers.Paper]) -> dict[str, bytes]:
    with TemporaryDirectory() as made, TemporaryDirectory() as copied:
        async with running_site(Path(made), web) as site:
            alice = await create_first_admin(site.app.db, "alice", papers.PASSWORD, datetime.now(UTC))
            for paper in alices_papers:
                await papers.subscribe_to(site, alice, paper)
            await site.app.db.backup(Path(copied, DATABASE))
        files = {str(path.relative_to(made)): path for path in Path(made).rglob("*") if path.is_file()}
        files[DATABASE] = Path(copied, DATABASE)
        return {name: path.read_bytes() for name, path in files.items() if not name.startswith(f"{DATABASE}-")}

"""The tools of the MCP server, called with the official client over HTTP."""

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from feedmill.model.pool import PoolKind, PoolRule
from feedmill.model.user import User
from tests.flows.refresh_environment import answer, item
from tests.serve.mcp.assistant import Assistant
from tests.serve.mcp.conftest import AssistedSite


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_every_tool_has_a_schema_and_says_what_it_does(assisted: AssistedSite, alice: User, mode: str) -> None:
    tools = await Assistant(assisted.url, "fm_alice", mode).tools()

    assert set(tools) == {
        *("list_feeds", "list_entries", "read_list", "search_entries", "read_entry", "new_entries"),
        *("mark_entries", "label_entries", "mark_list_read", "subscribe", "unsubscribe", "feed_health"),
        *("list_pools", "take_from_pool"),
    }
    for tool in tools.values():
        assert tool.annotations is not None
        assert tool.title
        assert tool.description
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is not None
    destructive = {name for name, tool in tools.items() if tool.annotations and tool.annotations.destructive_hint}
    assert destructive == {"mark_list_read", "unsubscribe", "take_from_pool"}
    assert {name for name, tool in tools.items() if "confirmation" in tool.input_schema["properties"]} == destructive


async def test_feeds_and_folders_are_listed_with_counts(
    assisted: AssistedSite, assistant: Assistant, alice: User
) -> None:
    library = assisted.library
    feed = await library.subscribe(alice, await library.feed("news"), "News")
    folder = await library.folder(alice, "Tech", feed)
    await library.arrive(1, "one", "two")

    found = await assistant.call("list_feeds")

    assert found.facts["unread"] == 2
    assert [(each["id"], each["name"], each["unread"]) for each in found.facts["folders"]] == [(folder, "Tech", 2)]
    assert [(each["id"], each["unread"], each["folder_ids"]) for each in found.facts["feeds"]] == [(feed, 2, [folder])]
    assert f"feed {feed}: News (https://news.example.org/)" in found.untrusted


async def test_lists_searches_and_articles_are_read_as_markdown(
    assisted: AssistedSite, assistant: Assistant, alice: User
) -> None:
    library = assisted.library
    await library.subscribe(alice, await library.feed("news"), "News")
    html = '<h2>Salt</h2><p>Fish and <b>chips</b> with <a href="https://e.example/x">salt</a>.</p>'
    [entry] = await library.arrive(1, "Supper", content_html=html)
    await library.arrive(1, "Breakfast")

    listed = await assistant.call("list_entries", limit=1)
    rest = await assistant.call("list_entries", limit=1, cursor=listed.facts["next"])
    texts = await assistant.call("read_list")
    searched = await assistant.call("search_entries", query="chips")
    article = await assistant.call("read_entry", entry_id=entry)

    assert [each["id"] for page in (listed, rest) for each in page.facts["entries"]] == [entry + 1, entry]
    assert rest.facts["next"] is None
    assert "Fish and **chips**" in texts.untrusted
    assert [each["id"] for each in searched.facts["entries"]] == [entry]
    assert "## Salt\n\nFish and **chips** with [salt](https://e.example/x)." in article.untrusted
    assert article.facts["next_start"] is None
    assert "Supper" not in article.trusted


async def test_what_is_new_since_a_cursor_comes_once(assisted: AssistedSite, assistant: Assistant, alice: User) -> None:
    library = assisted.library
    await library.subscribe(alice, await library.feed("news"))
    await library.arrive(1, "old")
    first = await assistant.call("new_entries")
    [new] = await library.arrive(1, "new")

    second = await assistant.call("new_entries", cursor=first.facts["cursor"])
    third = await assistant.call("new_entries", cursor=second.facts["cursor"])

    assert first.facts["entries"] == []
    assert [entry["id"] for entry in second.facts["entries"]] == [new]
    assert third.facts["entries"] == []


async def test_entries_are_marked_and_labelled(assisted: AssistedSite, assistant: Assistant, alice: User) -> None:
    library = assisted.library
    await library.subscribe(alice, await library.feed("news"))
    [entry] = await library.arrive(1, "one")

    await assistant.call("mark_entries", entry_ids=[entry], read=True, starred=True)
    await assistant.call("label_entries", entry_ids=[entry], label="Food")
    marked = await assistant.call("read_entry", entry_id=entry)
    await assistant.call("mark_entries", entry_ids=[entry], read=False, starred=False)
    await assistant.call("label_entries", entry_ids=[entry], label="Food", remove=True)
    await assistant.call("label_entries", entry_ids=[entry], label="Unknown", remove=True)
    unmarked = await assistant.call("read_entry", entry_id=entry)
    labels = (await assistant.call("list_feeds")).facts["labels"]

    names = ("unread", "starred", "labels")
    assert [marked.facts["entry"][name] for name in names] == [False, True, ["Food"]]
    assert [unmarked.facts["entry"][name] for name in names] == [True, False, []]
    assert [label["name"] for label in labels] == ["Food"]


async def test_a_feed_is_subscribed_and_its_health_told(assisted: AssistedSite, assistant: Assistant) -> None:
    url = assisted.site.web.serve("/feed", answer(item("a"), item("b"), title="News"))

    added = await assistant.call("subscribe", url=url)
    again = await assistant.call("subscribe", url=url)
    health = await assistant.call("feed_health", feed_id=added.facts["feed"]["id"])

    assert (added.facts["is_fetched"], added.facts["feed"]["unread"]) == (True, 2)
    assert "News" in added.untrusted
    assert (again.error, again.facts["subscription_id"]) == ("already_subscribed", added.facts["feed"]["id"])
    assert (health.facts["feed"]["state"], health.facts["failures_in_a_row"]) == ("healthy", 0)
    assert [fetch["outcome"] for fetch in health.facts["fetches"]] == ["updated"]


async def test_pools_are_listed_and_taken_from_after_a_confirmation(
    assisted: AssistedSite, assistant: Assistant, alice: User
) -> None:
    pools = assisted.site.app.pools
    await assisted.library.feed("news")
    await pools.create("News", PoolRule())
    await assisted.library.arrive(1, "one", "two")
    await pools.fill("News")

    listed = await assistant.call("list_pools")
    asked = await assistant.call("take_from_pool", group="News", count=1)
    before = await pools.status("News", PoolKind.TITLES)
    taken = await assistant.call("take_from_pool", group="News", count=1, confirmation=asked.facts["confirmation"])

    assert [group["name"] for group in listed.facts["groups"]] == ["News"]
    assert (asked.facts["done"], before.counts.available + before.counts.queued) == (False, 2)
    assert (taken.facts["done"], len(taken.facts["item_ids"])) == (True, 1)
    assert "## Item" in taken.untrusted


async def test_errors_have_our_codes(assistant: Assistant) -> None:
    assert (await assistant.call("read_entry", entry_id=999)).error == "not_found"
    assert (await assistant.call("search_entries", query='"open')).error is not None
    wrong = await assistant.call("read_entry", entry_id="one")
    assert (wrong.error, "entry_id" in wrong.facts["message"]) == ("bad_input", True)
    assert (await assistant.call("read_entry", entry_id=1, everything=True)).error == "bad_input"
    async with assistant.connection() as client:
        with pytest.raises(MCPError, match="there is no tool"):
            await client.call_tool("delete_account", {})


async def test_prompts_ask_for_a_briefing(assistant: Assistant) -> None:
    async with assistant.connection() as client:
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        folder = await client.get_prompt("briefing_folder", {"folder": "Tech"})
        with pytest.raises(MCPError, match="query is missing"):
            await client.get_prompt("briefing_search")

    assert prompts == {"briefing_today", "briefing_folder", "briefing_search"}
    assert isinstance(folder, types.GetPromptResult)
    assert "'Tech'" in str(folder.messages[0].content)

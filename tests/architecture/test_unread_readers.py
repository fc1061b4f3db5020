"""Unread rows of popular feeds are added when a user reads, so whoever reads for a user fills their list first.

The modules that make a caller, or do something for a user by themselves, call `fill_deferred`. The modules of the store
that read unread rows or counts are known: each reads for one user, whose list is filled, or says here why not.
"""

import ast

import pytest

from tests.source_trees import trees_with

FILL = {"fill_deferred", "fill_deferred_or_fail", "fill_first_deferred"}
# Modules that make a caller, or work for a user without one, or need the whole list, and fill the user's list.
FILLING = {
    "cli/actions/find_user.py",
    "library/entries/list_entry_ids.py",
    "library/entries/marks.py",
    "library/entries/new_entries.py",
    "library/filters/work_on_jobs.py",
    "library/notifications/queue_digests.py",
    "library/notifications/watch_searches.py",
    "library/output_feeds/announce.py",
    "library/output_feeds/manage_output_feeds.py",
    "library/users/app_passwords.py",
    "library/users/find_caller.py",
}
# Modules that make a caller of a user whose list is filled already, or not read.
WITH_FILLED_LIST = {
    "cli/demo/prepare_reader.py": "of a user whom the demo has just made; creates a filter",
    "cli/filter/filter_options.py": "of a user that find_user found",
    "cli/mcp.py": "of a user that find_user found",
    "cli/output_feed/manage_feeds.py": "of a user that find_user found",
    "cli/user.py": "of a user that find_user found",
    "library/users/sign_in.py": "of a session that begins; the next request finds the caller anew",
}
# Modules of the store that read or change rows of `unread`, or counts, for one user.
FOR_ONE_USER = {
    "entries/count_new.py",
    "entries/fill_deferred_entries.py",
    "entries/fill_unread_list.py",
    "entries/list_pages.py",
    "entries/mark_all_read.py",
    "entries/marks.py",
    "entries/sync/list_ids.py",
    "entries/sync/sync_entries.py",
    "entries/sync/sync_ids.py",
    "entries/undo_mark_all_read.py",
    "entries/unread_changes.py",
    "entries/unread_counts.py",
    "entries/unread_list_sql.py",
    "entries/visible_entries.py",
    "filters/apply_to_stored.py",
    "filters/effect_conditions.py",
    "filters/raised_entries.py",
    "filters/undo_effects.py",
    "search/conditions.py",
    "search/driving_index.py",
    "stories/copies.py",
    "stories/mark_whole_stories.py",
    "stories/read_copies.py",
    "subscriptions/move_subscription.py",
    "subscriptions/read_subscriptions.py",
    "subscriptions/sidebar_feeds.py",
    "subscriptions/unread_entries.py",
}
# Those that do so for several users at once.
FOR_MANY_USERS = {
    "archive/retention.py": "deletes entries, and with them what was deferred",
    "entries/add_entries.py": "adds rows of feeds that are not popular",
    "entries/drop_unused_unread_lists.py": "deletes lists that nobody uses",
    "feeds/lifecycle.py": "deletes a feed, and before it what was deferred",
    "feeds/merge_statements.py": "follows the steps that fill the lists of all subscribers of both feeds",
    "filters/apply_filters.py": "follows the step that fills the lists of these subscriptions",
    "stories/drop_read_copies.py": "follows the step that fills the lists of these subscriptions",
    "stories/story_reading.py": "what was deferred is neither read nor unread for who has not been there since",
}


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    """Those that may make a caller, fill a list or read unread rows."""
    return dict(trees_with("Caller(", "fill_", "unread"))


def called_names(tree: ast.Module) -> set[str]:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {call.func.id for call in calls if isinstance(call.func, ast.Name)}


def reads_unread(tree: ast.Module) -> bool:
    """Whether a module imports the table of unread rows, or names the column with the counts."""
    return any(_names_unread(node) for node in ast.walk(tree))


def _names_unread(node: ast.AST) -> bool:
    match node:
        case ast.ImportFrom(names=names):
            return any(alias.name == "unread" for alias in names)
        case ast.Attribute(attr="unread_count") | ast.Constant(value="unread_count") | ast.keyword(arg="unread_count"):
            return True
        case _:
            return False


def test_whoever_makes_a_caller_fills_the_unread_list(modules: dict[str, ast.Module]) -> None:
    called = {name: called_names(tree) for name, tree in modules.items()}
    make_a_caller = {name for name, names in called.items() if "Caller" in names}
    fill = {name for name, names in called.items() if names & FILL}

    assert fill - {"store/entries/fill_deferred_entries.py"} == FILLING
    assert make_a_caller - fill == set(WITH_FILLED_LIST)


def test_the_readers_of_unread_rows_are_known(modules: dict[str, ast.Module]) -> None:
    in_store = {
        name.removeprefix("store/"): tree
        for name, tree in modules.items()
        if name.startswith("store/") and not name.startswith("store/schema/")
    }

    assert {name for name, tree in in_store.items() if reads_unread(tree)} == FOR_ONE_USER | set(FOR_MANY_USERS)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from feedmill.store.schema import entries, unread", True),
        ("def has(row): return row['unread_count']", True),
        ("counted = subscriptions.c.unread_count", True),
        ("changed = subscriptions.update().values(unread_count=0)", True),
        ("from feedmill.store.schema import unread_lists", False),
    ],
)
def test_a_reader_is_recognized(source: str, expected: bool) -> None:
    assert reads_unread(ast.parse(source)) is expected

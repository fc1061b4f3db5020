"""The keyboard shortcuts: actions, default keys, presets, and the user's own keymap.

Pages and scripts identify an action by its default keys. The user's own keys are passed to the scripts as a table from
the pressed key to the default key that it replaces (empty: the key has no action any more).
"""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request

from feedmill.serve.web.core.preferences import stored_preferences

PREFERENCE = "keymap"
MAX_KEYS = 3

Keys = tuple[str, ...]
Keymap = Mapping[str, Keys]

# Sections of actions (their texts are `keymap.do_<name>`) with their default keys.
KEY_SECTIONS: tuple[tuple[str, tuple[tuple[str, Keys], ...]], ...] = (
    (
        "moving",
        (
            ("next", ("j",)),
            ("previous", ("k",)),
            ("down", ("n",)),
            ("up", ("p",)),
            ("next_unread", ("N",)),
            ("open", ("o", "Enter")),
            ("page", ("Space",)),
            ("top", ("g g",)),
            ("bottom", ("G",)),
            ("item_top", ("z t",)),
            ("close", ("Esc",)),
        ),
    ),
    (
        "marking",
        (
            ("read", ("m",)),
            ("read_back", ("M",)),
            ("star", ("s", "f")),
            ("later", ("l",)),
            ("labels", ("t",)),
            ("save_to", ("S",)),
            ("mute", ("q",)),
            ("original", ("v",)),
            ("original_here", ("V",)),
            ("original_behind", ("b",)),
            ("select", ("x",)),
            ("select_to", ("X",)),
            ("full", ("d",)),
            ("comments", ("c",)),
            ("also_in", ("e",)),
            ("images", ("i",)),
            ("play", ("P",)),
            ("above", ("Y",)),
            ("below", ("B",)),
            ("all_read", ("A",)),
            ("undo", ("u",)),
        ),
    ),
    (
        "going",
        (
            ("go", ("g o", "Ctrl+K")),
            ("filter_feeds", ("g /",)),
            ("unread", ("g u",)),
            ("today", ("g d",)),
            ("starred", ("g b",)),
            ("laters", ("g l",)),
            ("all", ("g a",)),
            ("history", ("g h",)),
            ("feeds", ("g f",)),
            ("folders", ("g c",)),
            ("label_names", ("g t",)),
            ("settings", ("g s",)),
            ("next_feed", ("J",)),
            ("previous_feed", ("K",)),
        ),
    ),
    (
        "more",
        (
            ("search", ("/",)),
            ("add", ("+",)),
            ("unsubscribe", ("#",)),
            ("refresh", ("r",)),
            ("refresh_all", ("R",)),
            ("density", ("1", "2", "3", "4")),
            ("help", ("?",)),
        ),
    ),
)
FIXED_ACTIONS = frozenset({"page", "close", "density"})
DEFAULT_KEYMAP: Keymap = MappingProxyType({action: keys for _, actions in KEY_SECTIONS for action, keys in actions})
PRESETS: Mapping[str, Keymap] = {
    "usual": DEFAULT_KEYMAP,
    # In Miniflux n and p open entries as j and k do, f stars, and s saves, which is read later here.
    "miniflux": MappingProxyType(
        {
            **DEFAULT_KEYMAP,
            "next": ("j", "n"),
            "previous": ("k", "p"),
            "down": (),
            "up": (),
            "star": ("f",),
            "later": ("s",),
        }
    ),
}


def keymap_of(request: Request) -> Keymap:
    return _parse_keymap(stored_preferences(request).get(PREFERENCE, ""))


@lru_cache(maxsize=1000)
def _parse_keymap(encoded: str) -> Keymap:
    """Parses the stored keymap; the default keymap if it is not valid."""
    chosen = {
        action: split_keys(keys)
        for action, keys in parse_qsl(encoded, keep_blank_values=True)
        if is_configurable(action)
    }
    whole = {**DEFAULT_KEYMAP, **chosen}
    return MappingProxyType(whole) if not keymap_errors(whole) else DEFAULT_KEYMAP


def encode_keymap(keymap: Keymap) -> str:
    """Encodes what differs from the default keymap."""
    return urlencode({action: ", ".join(keys) for action, keys in keymap.items() if keys != DEFAULT_KEYMAP[action]})


def is_configurable(action: str) -> bool:
    return action in DEFAULT_KEYMAP and action not in FIXED_ACTIONS


def split_keys(text: str) -> Keys:
    """Splits `s, g u` into `s` and `g u`; the keys of a sequence are separated by single spaces."""
    return tuple(" ".join(part.split()) for part in text.split(",") if part.strip())


def keymap_errors(keymap: Keymap) -> dict[str, str]:
    """The errors of the keys by action, as keys of texts."""
    users: dict[str, list[str]] = {}
    for action, keys in keymap.items():
        for key in keys:
            users.setdefault(key, []).append(action)
    first_keys = {key.split()[0] for key in users if " " in key}
    errors = {}
    for action in filter(is_configurable, keymap):
        keys = keymap[action]
        if len(keys) > MAX_KEYS or not all(map(_is_key, keys)):
            errors[action] = "keymap.not_a_key"
        elif any(len(users[key]) > 1 for key in keys):
            errors[action] = "keymap.taken"
        elif first_keys & set(keys):
            errors[action] = "keymap.begins_others"
    return errors


def _is_key(key: str) -> bool:
    if key in ("Enter", "Ctrl+K"):
        return True
    parts = key.split(" ")
    return len(parts) <= 2 and all(len(part) == 1 and part.isprintable() for part in parts)


@lru_cache(maxsize=100)
def _key_translations(packed_keymap: str) -> Mapping[str, str]:
    keymap = _parse_keymap(packed_keymap)
    replacements = {key: "" for action in DEFAULT_KEYMAP for key in DEFAULT_KEYMAP[action]}
    for action, keys in keymap.items():
        replacements |= {key: key if key in DEFAULT_KEYMAP[action] else DEFAULT_KEYMAP[action][0] for key in keys}
    return {key: default_key for key, default_key in replacements.items() if key != default_key}


def key_translations(request: Request) -> Mapping[str, str]:
    """The default key for each pressed key, where they differ."""
    return _key_translations(stored_preferences(request).get(PREFERENCE, ""))

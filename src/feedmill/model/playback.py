"""How far a user has played the audio and video files of entries."""

from datetime import datetime

from msgspec import Struct

MAX_POSITIONS_AT_ONCE = 100
"""The most positions that can be saved at once."""

MAX_SECONDS = 9_999_999
"""Longer than any file; about 115 days."""


class PlaybackPosition(Struct, frozen=True, gc=False):
    """How far an enclosure was played at a time. `enclosure` counts from 0; 0 seconds: at its start, or at its end."""

    entry_id: int
    enclosure: int
    seconds: int
    played_at: datetime

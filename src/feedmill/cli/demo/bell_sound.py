"""The sound of the demo's podcast: a bell, computed."""

import io
import math
import wave
from array import array

RATE = 8_000
SECONDS = 6
# Each partial of the bell: its frequency, its strength, and how fast it fades.
PARTIALS = ((440.0, 0.5, 0.9), (880.5, 0.25, 1.4), (1_055.0, 0.15, 2.0), (1_320.8, 0.1, 2.6))
# The bell is struck that often.
STRIKE_SECONDS = 2


def make_bell_sound() -> bytes:
    """A WAV file of six seconds."""
    samples = array("h", (int(28_000 * _value(number / RATE)) for number in range(RATE * SECONDS)))
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE)
        sound.writeframes(samples.tobytes())
    return file.getvalue()


def _value(at: float) -> float:
    since = at % STRIKE_SECONDS
    return sum(part * math.exp(-fade * since) * math.sin(math.tau * pitch * at) for pitch, part, fade in PARTIALS)

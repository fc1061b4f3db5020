"""Asks our own site for its health at its public address, as a visitor does.

Without the rules for the sites of others: the address is a setting of the operator's, and may be a private one.
"""

import json
import urllib.error
import urllib.request

ANSWER_SECONDS = 5
MAX_ANSWER_BYTES = 10_000


def ask_own_site(url: str) -> str | None:
    """What is wrong with the answer of a site, in a few words; None if a Feedmill answers. Takes seconds."""
    try:
        with urllib.request.urlopen(f"{url}/health/live", timeout=ANSWER_SECONDS) as response:  # noqa: S310
            health = json.loads(response.read(MAX_ANSWER_BYTES))
    except urllib.error.HTTPError as problem:
        with problem:
            return f"HTTP {problem.code}"
    except urllib.error.URLError as problem:
        return str(problem.reason)
    except (OSError, ValueError, RecursionError):
        return "it is another site"
    return None if isinstance(health, dict) and "status" in health else "it is another site"

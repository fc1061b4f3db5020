"""Asks our own site for its health at its public address, as a visitor does.

Without the rules for the sites of others: the address is a setting of the operator's, and may be a private one. Without
the proxy that the environment may name: Feedmill uses none.
"""

import json
import urllib.error
from http.client import HTTPException
from urllib.request import ProxyHandler, build_opener

ANSWER_SECONDS = 5
MAX_ANSWER_BYTES = 10_000
OTHER_SITE = "it is another site"


def ask_own_site(url: str) -> str | None:
    """What is wrong with the answer of a site, in a few words; None if a Feedmill answers. Takes seconds."""
    try:
        with build_opener(ProxyHandler({})).open(f"{url}/health/live", timeout=ANSWER_SECONDS) as response:
            health = json.loads(response.read(MAX_ANSWER_BYTES))
    except urllib.error.HTTPError as problem:
        with problem:
            return f"HTTP {problem.code}"
    except urllib.error.URLError as problem:
        return str(problem.reason)
    except TimeoutError:
        return f"no answer within {ANSWER_SECONDS} s"
    except OSError as problem:
        return problem.strerror or str(problem)
    except (HTTPException, ValueError, RecursionError):
        return OTHER_SITE
    return None if isinstance(health, dict) and "status" in health else OTHER_SITE

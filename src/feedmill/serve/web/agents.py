"""What a browser calls itself, in two words."""

# The first that is found holds: most browsers also name the others.
BROWSERS = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrome", "Chrome"), ("Safari", "Safari"))
SYSTEMS = (
    ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"), ("Mac OS", "macOS"),
    ("CrOS", "ChromeOS"), ("Linux", "Linux"),
)  # fmt: skip


def device(agent: str | None) -> str:
    """`Firefox · Linux`; what is no browser keeps the name that it gives first; empty when it gave none."""
    if not agent:
        return ""
    browser = next((name for word, name in BROWSERS if f"{word}/" in agent), "")
    system = next((name for word, name in SYSTEMS if word in agent), "")
    return " · ".join(filter(None, (browser, system))) or agent.split()[0][:60]

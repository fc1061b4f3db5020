"""The services of Apprise that may be used, by the schemes of their addresses."""

# Services on the web. Those that touch this machine (dbus, gnome, syslog, windows …) or speak other protocols than HTTP
# and SMTP (irc, mqtt, amqp, smpp, growl, rsyslog) are not among them.
SCHEMES = frozenset(
    {"apprise", "apprises", "bark", "barks", "betterstack", "bluesky", "bsky", "brevo", "chanify", "dingtalk"}
    | {"discord", "feishu", "flock", "form", "forms", "gchat", "github", "goalert", "goalerts", "gotify"}
    | {"gotifys", "groupme", "guilded", "hassio", "hassios", "ifttt", "join", "json", "jsons", "kook", "lark"}
    | {"line", "mailersend", "mailgun", "mailto", "mailtos", "mastodon", "mastodons", "matrix", "matrixs"}
    | {"misskey", "misskeys", "mmost", "mmosts", "ncloud", "nclouds", "nctalk", "nctalks", "notica", "noticas"}
    | {"notifiarr", "ntfy", "ntfys", "onesignal", "opsgenie", "pagerduty", "pbul", "postmark", "pover", "prowl"}
    | {"psafer", "psafers", "pushdeer", "pushdeers", "pushed", "pushme", "pushplus", "pushy", "reddit"}
    | {"resend", "revolt", "rocket", "rockets", "ryver", "schan", "sendgrid", "ses", "signal", "signals"}
    | {"simplepush", "slack", "smtp2go", "sns", "sparkpost", "spush", "strmlabs", "synology", "synologys"}
    | {"tgram", "threema", "twilio", "twist", "viber", "vonage", "wechat", "wecombot", "webex", "whatsapp"}
    | {"workflow", "workflows", "wxpusher", "wxteams", "xml", "xmls", "zulip"}
)

MAIL_SCHEMES = frozenset({"mailto", "mailtos"})


def scheme_of(url: str) -> str:
    return url.partition("://")[0].lower()

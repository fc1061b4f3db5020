"""Takes tracking parameters (`utm_source`, `fbclid`) off links when they are shown. What is stored keeps them.

A link must never break, so only parameters that are known to track are taken off, everything else stays as it is
written, and links that are signed or that end a subscription are left alone.
"""

from functools import lru_cache
from urllib.parse import unquote

from feedmill.model.hosts import host_and_parents, host_of, is_in_domains

# fmt: off
# Of all sites: click ids of advertising networks, and what newsletters and web analytics add.
TRACKING_PREFIXES = ("utm_", "mtm_", "hsa_", "bsft_")
TRACKING_PARAMETERS = frozenset({
    "__hsfp", "__hssc", "__hstc", "__s", "__twitter_impression", "_bhlid", "_branch_match_id", "_branch_referrer",
    "_bta_c", "_bta_tid", "_ga", "_gac", "_gl", "_hsenc", "_hsmi", "_ke", "_kx", "_openstat",
    "action_object_map", "action_ref_map", "action_type_map",
    "at_bbc_team", "at_campaign", "at_campaign_type", "at_custom1", "at_custom2", "at_custom3", "at_custom4",
    "at_format", "at_link_id", "at_link_origin", "at_link_type", "at_medium", "at_ptr_name", "at_recipient_id",
    "at_recipient_list", "cjevent", "ck_subscriber_id", "cm_mmc", "dclid", "dgcid", "dicbo", "dm_i", "ef_id", "epik",
    "fb_action_ids", "fb_action_types", "fb_ref", "fb_source", "fbclid",
    "ga_campaign", "ga_content", "ga_medium", "ga_place", "ga_source", "ga_term",
    "gad_campaignid", "gad_source", "gbraid", "gclid", "gclsrc", "guccounter", "guce_referrer", "guce_referrer_sig",
    "hsctatracking", "igsh", "igshid", "irclickid",
    "itm_campaign", "itm_content", "itm_medium", "itm_source", "itm_term", "li_fat_id",
    "mc_cid", "mc_eid", "mindbox-click-id", "mkt_tok", "ml_subscriber", "ml_subscriber_hash", "msclkid",
    "ns_campaign", "ns_fee", "ns_linkname", "ns_mchannel", "ns_source", "oly_anon_id", "oly_enc_id",
    "piwik_campaign", "piwik_keyword", "piwik_kwd", "pk_campaign", "pk_cid", "pk_content", "pk_keyword", "pk_kwd",
    "pk_medium", "pk_source", "rb_clickid", "rdt_cid", "s_cid", "s_kwcid",
    "sc_campaign", "sc_channel", "sc_cid", "sc_content", "sc_country", "sc_geo", "sc_medium", "sc_outcome", "sccid",
    "sms_click", "sms_source", "sms_uph", "srsltid", "tblci", "trk_contact", "trk_module", "trk_msg", "trk_sid",
    "ttclid", "twclid", "unicorn_click_id", "vero_conv", "vero_id", "vgo_ee", "wbraid", "wickedid", "wt.mc_ev",
    "wt.mc_id", "wt_mc", "wt_zmc", "xtor", "yclid", "ymclid", "ysclid",
})
_AMAZON = frozenset({"crid", "dib", "dib_tag", "qid", "ref_", "sprefix", "sr"})
_AMAZON_DOMAINS = (
    "ca", "cn", "co.jp", "co.uk", "com", "com.au", "com.br", "com.mx", "de", "es", "fr", "in", "it", "nl", "pl", "se",
)
_ALIBABA, _CONDE_NAST, _CBS = frozenset({"scm", "spm"}), frozenset({"mbid"}), frozenset({"ftag"})
_YOUTUBE, _TWITTER = frozenset({"ab_channel", "feature", "pp", "si"}), frozenset({"ref_src", "ref_url", "s", "t"})
# Of these sites and their subdomains. The names mean something else elsewhere.
TRACKING_PARAMETERS_OF_SITES: dict[str, frozenset[str]] = {
    "academic.oup.com": frozenset({"rss"}),
    "bilibili.com": frozenset({
        "bbid", "buvid", "from_source", "from_spmid", "is_story_h5", "plat_id", "share_from", "share_medium",
        "share_plat", "share_session_id", "share_source", "share_tag", "spm_id_from", "unique_k", "vd_source",
    }),
    "bloomberg.com": frozenset({"cmpid", "leadsource", "sref", "srnd"}),
    "bmj.com": frozenset({"rss"}),
    "csdn.net": frozenset({"biz_id", "ops_request_misc", "request_id", "spm"}),
    "douban.com": frozenset({"_dtcc", "_i", "dt_dapp"}),
    "dw.com": frozenset({"maca"}),
    "ebay.com": frozenset({"_trkparms", "_trksid"}),
    "economist.com": frozenset({"fsrc"}),
    "facebook.com": frozenset({
        "__tn__", "eav", "fref", "hc_ref", "mibextid", "paipv", "rdid", "refid", "refsrc", "sfnsn",
    }),
    "forbes.com": frozenset({"sh", "ss"}),
    "ft.com": frozenset({"ftcamp", "segmentid"}),
    "imdb.com": frozenset({"ref_"}),
    "linkedin.com": frozenset({
        "eid", "lici", "lipi", "midsig", "midtoken", "otptoken", "rcm", "refid", "trackingid", "trk", "trkemail",
    }),
    "medium.com": frozenset({"source"}),
    "mp.weixin.qq.com": frozenset({
        "abtest_cookie", "ascene", "chksm", "clicktime", "devicetype", "enterid", "exportkey", "from",
        "isappinstalled", "nettype", "pass_ticket", "scene", "sessionid", "sharer_shareid", "sharer_shareinfo",
        "sharer_shareinfo_first", "sharer_sharetime", "srcid", "subscene", "wx_header",
    }),
    "msn.com": frozenset({"cvid", "ocid"}),
    "nytimes.com": frozenset({
        "campaign_id", "emc", "instance_id", "nl", "partner", "regi_id", "segment_id", "smid", "smtyp", "te", "user_id",
    }),
    "onlinelibrary.wiley.com": frozenset({"af"}),
    "open.spotify.com": frozenset({"si"}),
    "reddit.com": frozenset({"correlation_id", "rdt", "ref_campaign", "ref_source", "share_id"}),
    "reuters.com": frozenset({"feedname", "feedtype", "taid"}),
    "sagepub.com": frozenset({"af", "ai", "mi"}),
    "tandfonline.com": frozenset({"af"}),
    "theguardian.com": frozenset({"cmp"}),
    "tiktok.com": frozenset({
        "_r", "_t", "is_copy_url", "is_from_webapp", "sender_device", "share_app_id", "share_iid", "share_link_id",
        "tt_from", "u_code",
    }),
    "toutiao.com": frozenset({"log_from", "share_token", "tt_from", "wxshare_count"}),
    "twitter.com": _TWITTER,
    "washingtonpost.com": frozenset({"itid", "wpisrc", "wpmm"}),
    "weibo.com": frozenset({"refer_flag"}),
    "wsj.com": frozenset({"mod", "reflink"}),
    "x.com": _TWITTER,
    "youtu.be": _YOUTUBE,
    "youtube.com": _YOUTUBE,
    "zhihu.com": frozenset({"share_code"}),
    **{f"amazon.{domain}": _AMAZON for domain in _AMAZON_DOMAINS},
    **dict.fromkeys(("1688.com", "alibaba.com", "aliexpress.com", "aliyun.com", "taobao.com", "tmall.com"), _ALIBABA),
    **dict.fromkeys(("newyorker.com", "vanityfair.com", "wired.com"), _CONDE_NAST),
    **dict.fromkeys(("cbsnews.com", "cnet.com", "techrepublic.com", "zdnet.com"), _CBS),
}
# Say where a reader came from, if the value says that it was a feed.
_ORIGIN_PARAMETERS = frozenset({"cmp", "cmpid", "emc", "from", "partner", "ref", "source"})
_FEED_ORIGINS = frozenset({"rss", "rss-feed", "rss2", "rss_feed", "rssfeed"})
# What Medium writes, also under domains of its authors: `source=rss----3a4b---4`. With one `-` it may be anything, such
# as the number of an article.
_MEDIUM_ORIGIN = "rss--"
# Written behind `#` by publishing services.
_TRACKING_FRAGMENTS = frozenset({"echobox"})
# A signature covers all parameters of a link.
_SIGNATURES = frozenset({
    "hdnea", "hdnts", "hmac", "key-pair-id", "sig", "sign", "signature", "x-amz-signature", "x-goog-signature",
})
# Copies of other pages, whose address is part of theirs, and pages of mailing services that know readers by them.
_UNCHANGED_SITES = frozenset({
    "archive.is", "archive.org", "archive.ph", "archive.today", "campaign-archive.com", "list-manage.com",
    "translate.goog", "webcache.googleusercontent.com",
})
# fmt: on
_UNSUBSCRIBE = ("unsubscribe", "optout", "opt-out")
_LONGEST_ORIGIN = max(map(len, _FEED_ORIGINS))
_NO_NAMES: frozenset[str] = frozenset()


def without_trackers(url: str) -> str:
    """The link without its tracking parameters; all other characters stay as they are."""
    if ("?" not in url and "#" not in url) or not url.startswith(("https://", "http://")):
        return url
    address, _, fragment = url.partition("#")
    page, _, query = address.partition("?")
    host = host_of(page)
    if _must_stay(host, page, query):
        return url
    kept_query, kept_fragment = remove_trackers(query, host), _clean_fragment(fragment)
    if (kept_query, kept_fragment) == (query, fragment):
        return url
    return page + (f"?{kept_query}" if kept_query else "") + (f"#{kept_fragment}" if kept_fragment else "")


def remove_trackers(query: str, host: str) -> str:
    """The query of a URL of this host, without its tracking parameters."""
    if not query:
        return query
    names_of_site = _names_of_site(host)
    return "&".join([pair for pair in query.split("&") if not _is_tracker(pair, names_of_site)])


def parameter_name(pair: str) -> str:
    """The name of `name=value` in lower case. Feeds that escape twice write `&amp;`, so `amp;` may stand before it."""
    name = pair.partition("=")[0].lower().removeprefix("amp;")
    return unquote(name) if "%" in name else name


@lru_cache(maxsize=4096)
def _names_of_site(host: str) -> frozenset[str]:
    """The parameters that track on this site; most links of a feed have the same few hosts."""
    known = (TRACKING_PARAMETERS_OF_SITES.get(name, _NO_NAMES) for name in host_and_parents(host))
    return _NO_NAMES.union(*known)


@lru_cache(maxsize=4096)
def _is_unchanged_site(host: str) -> bool:
    return is_in_domains(host, _UNCHANGED_SITES)


def _is_tracker(pair: str, names_of_site: frozenset[str]) -> bool:
    name = parameter_name(pair)
    if name in TRACKING_PARAMETERS or name.startswith(TRACKING_PREFIXES) or name in names_of_site:
        return True
    return name in _ORIGIN_PARAMETERS and _is_feed_origin(pair.partition("=")[2])


def _is_feed_origin(value: str) -> bool:
    return value.startswith(_MEDIUM_ORIGIN) or (len(value) <= _LONGEST_ORIGIN and value.lower() in _FEED_ORIGINS)


def _clean_fragment(fragment: str) -> str:
    """The fragment without trackers, if it is written like a query."""
    pairs = fragment.split("&")
    if not all("=" in pair for pair in pairs):
        return fragment
    return "&".join(
        [pair for pair in pairs if not _is_tracker(pair, _NO_NAMES) and parameter_name(pair) not in _TRACKING_FRAGMENTS]
    )


def _must_stay(host: str, page: str, query: str) -> bool:
    if _is_unchanged_site(host):
        return True
    path = page.lower()
    if any(word in path for word in _UNSUBSCRIBE):
        return True
    return any(parameter_name(pair) in _SIGNATURES for pair in query.split("&"))

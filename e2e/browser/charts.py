"""What is really drawn in a chart: the points of its SVG."""

from playwright.sync_api import expect

POINTS = """box => {
    const points = {};
    for (const group of box.querySelectorAll('.scatterlayer > g.trace')) {
        const { name } = group.__data__[0].trace;
        points[name] = (points[name] ?? 0) + group.querySelectorAll('path.point').length;
    }
    return points;
}"""


def points(page, chart):
    """Points in the SVG, by the name of their trace."""
    box = page.locator(f"#{chart}")
    box.scroll_into_view_if_needed()
    expect(box.locator(".main-svg").first).to_be_attached()
    return box.evaluate(POINTS)


def points_of_runs(page):
    """How many runs are drawn against the levels, whatever became of them."""
    states = ("run", "timed out", "bound", "excluded", "failed")
    drawn = points(page, "curve")
    return sum(number for name, number in drawn.items() if name.startswith(states))

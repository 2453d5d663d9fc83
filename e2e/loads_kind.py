"""A kind whose virtual hosts ask a server for one path, from one generator or several. Only for tests."""

from django import forms

from campaigns.kinds.base import (
    Distribution,
    Driver,
    EffectiveSetting,
    Health,
    Measured,
    Metric,
    Proof,
    parts_of,
)
from campaigns.kinds.base.parameters import IntegerParameter
from campaigns.kinds.load.judging import judge
from campaigns.kit import histogram

MODULE = "e2e.loads_engine"
ENTRY_POINT = "[perfdash.drivers]\nloads = e2e.loads_kind:driver\n"


class LoadsForm(forms.Form):
    path = forms.CharField()
    hosts = IntegerParameter(initial=30)
    iterations = forms.IntegerField(initial=20)
    prepare_seconds = forms.FloatField(initial=0.0)


class Loads(Driver):
    label, summary, question = "Loads", "for tests", "How fast are answers?"
    families = ("http",)
    parameters = LoadsForm
    generators = True
    metrics = (
        Metric("p50", "Median", "ms", lower_is_better=True, primary=True),
        Metric("p95", "95th percentile", "ms", lower_is_better=True),
        Metric("p99", "99th percentile", "ms", lower_is_better=True),
        Metric("requests", "Requests", "requests", lower_is_better=False),
    )

    def probe(self, target, rules):
        return [Proof("answers", "yes", "yes", "", ok=True)]

    def reset(self, target, parameters, context):
        return [Proof("nothing", 0, 0, "", ok=True)]

    def apply(self, target, parameters, context):
        return [EffectiveSetting("hosts", parameters["hosts"], parameters["hosts"], ok=True)]

    def measure(self, target, parameters, context):
        schedule = {"hosts": parameters["hosts"], "iterations": parameters["iterations"]}
        request = {
            "url": target.base_url + parameters["path"],
            "rules": context.rules.to_json(),
            "schedule": schedule,
            "time_limit_seconds": context.deadline_seconds,
            "sender": context.sender,
            "prepare_seconds": parameters["prepare_seconds"],
        }
        parts = parts_of(request, int(parameters["generators"]))
        result = context.generate(MODULE, parts, context.deadline_seconds + 30).result
        encoded = result["histograms"]["service"].encode("ascii")
        counts = histogram.counts_of(encoded)
        p50, p95, p99 = (value / 1000 for value in counts.at([0.5, 0.95, 0.99]))
        figures = result["figures"] | {"target_is_here": 1.0}
        verdict = judge(figures)
        done = int(counts.counts.sum())
        return Measured(
            values={"p50": p50, "p95": p95, "p99": p99, "requests": float(done)},
            health=Health(verdict.word, verdict.reasons, figures),
            distributions=[Distribution("service", encoded, done)],
            units_done=done,
            units_failed=sum(result["failures"].values()),
            failures=result["failures"],
            work={"done": done},
        )

    def verify(self, target, parameters, context, measured):
        wanted = parameters["hosts"] * parameters["iterations"]
        done = measured.work["done"]
        return [Proof("requests", wanted, done, "requests", ok=done == wanted)]


def install(place):
    """Make the kind known as an installed package would; give the path to put into PYTHONPATH."""
    package = place / "packages" / "loads-1.0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: loads\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(ENTRY_POINT)
    return str(package.parent)


driver = Loads()

"""Campaigns against the sandbox, made through the REST interface, for pages to show."""


def manifest(label, files=20, latency=100):
    """The path of a repository of small files; the sandbox counts what is asked for by label."""
    return f"/repo/files={files},size=2000,label={label}/latency={latency}/PULP_MANIFEST"


def definition(perfdash, label, **changes):
    """A campaign of one cell that needs little of the machine, so that a busy one measures too."""
    targets = perfdash.api("GET", "targets")["results"]
    sandbox = next(target["id"] for target in targets if target["name"] == "sandbox")
    return {
        "question": f"How long does {label} take?",
        "kind": "downloader",
        "target": sandbox,
        "parameters": {"manifest": manifest(label), "concurrency": 10},
        "factors": {},
        "order": "interleaved",
        "repetitions": 1,
        "seed": 1,
        **changes,
    }


def draft(perfdash, label, **changes):
    """The number of a draft."""
    return perfdash.api("POST", "campaigns", definition(perfdash, label, **changes))["id"]


def launch(perfdash, label, **changes):
    """The number of a campaign that was just launched."""
    return draft(perfdash, label, launch=True, **changes)


def cancel(perfdash, campaign):
    """End it; give the machine back to other tests."""
    perfdash.api("POST", f"campaigns/{campaign}/cancel", {"reason": "the test has seen enough"})
    perfdash.until(campaign, "cancelled")


def runs_of(perfdash, campaign):
    """Its runs as the REST interface gives them, by position."""
    found = perfdash.api("GET", f"campaigns/{campaign}/runs?purpose=measured")["results"]
    return {run["position"]: run for run in found}

"""URLs of one campaign, below campaigns/<pk>/."""

from django.urls import path

from campaigns.execution.pages import queues, run, run_actions
from campaigns.findings.pages import chart_pages
from campaigns.findings.pages import charts as charts
from campaigns.findings.pages import exports as exports
from campaigns.overview.pages import campaign as pages
from campaigns.overview.pages import live as live
from campaigns.planning.pages import actions as actions
from campaigns.planning.pages import amending, calibrating, expected_events
from campaigns.reviews.pages import bundles, comments

urlpatterns = [
    path("", pages.campaign, name="campaign"),
    *(
        path(f"{level}/", pages.campaign, {"level": level}, name=f"campaign-{level}")
        for level in ("evidence", "trust", "runs", "settings", "print")
    ),
    path("checks/", pages.campaign_checks, name="campaign-checks"),
    path("launch/", actions.launch, name="campaign-launch"),
    path("try/", actions.try_one, name="campaign-try"),
    path("pause/", actions.pause, name="campaign-pause"),
    path("resume/", actions.resume, name="campaign-resume"),
    path("cancel/", actions.cancel, name="campaign-cancel"),
    path("amend/", amending.amend, name="campaign-amend"),
    path("calibrate/", calibrating.calibrate, name="campaign-calibrate"),
    path("expected-events/", expected_events.expected_events, name="campaign-expected-events"),
    path("extend/", actions.extend, name="campaign-extend"),
    path("move-up/", queues.move_up, name="campaign-move-up"),
    path("move-down/", queues.move_down, name="campaign-move-down"),
    path("threads/", comments.campaign_threads, name="campaign-threads"),
    path("progress/", live.progress, name="campaign-progress"),
    path("matrix/", live.matrix, name="campaign-matrix"),
    path("log/", live.log, name="campaign-log"),
    path("so-far/", live.so_far, name="campaign-so-far"),
    path("live/", live.figure, name="campaign-live"),
    path("trials/", live.trials, name="campaign-trials"),
    path("analysis/", live.analysis, name="campaign-analysis"),
    path("runs.csv", exports.runs_csv, name="campaign-runs-csv"),
    path("runs.parquet", exports.runs_parquet, name="campaign-runs-parquet"),
    path("comparisons.csv", exports.comparisons_csv, name="campaign-comparisons-csv"),
    path("charts/<slug:chart>/", charts.chart, name="campaign-chart"),
    path("charts/curve.json", charts.figures, name="campaign-figures"),
    path("charts/<slug:chart>.csv", exports.chart_csv, name="campaign-chart-csv"),
    path("charts/<slug:chart>.html", chart_pages.chart_page, name="campaign-chart-page"),
    path("bundle.zip", bundles.campaign_bundle, name="campaign-bundle"),
    path("campaign.json", exports.document, name="campaign-json"),
    path("runs/<int:position>/", run.run, name="run"),
    path("runs/<int:position>/status/", run.status, name="run-status"),
    path("runs/<int:position>/cancel/", run_actions.cancel, name="run-cancel"),
    path("runs/<int:position>/again/", run_actions.again, name="run-again"),
    path("runs/<int:position>/exclude/", run_actions.exclude, name="run-exclude"),
    path("runs/<int:position>/include/", run_actions.include, name="run-include"),
    path(
        "runs/<int:position>/attempts/<int:number>/charts/<slug:plot>.html",
        run.run_chart,
        name="run-chart",
    ),
    path("try/<int:position>/", run.trial, name="trial"),
    path("try/<int:position>/status/", run.trial_status, name="trial-status"),
    path("try/<int:position>/cancel/", run_actions.cancel_trial, name="trial-cancel"),
    path(
        "try/<int:position>/attempts/<int:number>/charts/<slug:plot>.html",
        run.trial_chart,
        name="trial-chart",
    ),
]

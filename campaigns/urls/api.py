"""URLs of the REST API."""

from django.urls import path, re_path

from campaigns.accounts.api import (
    activity,
    invitations,
    notifications,
    sessions,
    teams,
    tokens,
    whoami,
)
from campaigns.execution.api import manual_steps, programs, queues, runs
from campaigns.findings.api import comparing, exports, findings
from campaigns.kinds import api
from campaigns.kit.api import views
from campaigns.overview.api import campaigns, documents, drafts
from campaigns.planning.api import fitness, launches, schemas
from campaigns.planning.api import templates as team_templates
from campaigns.results.api import evidence, history, retention, submissions, watched
from campaigns.reviews.api import bundles, comments, conclusions, reports
from campaigns.targets.api import credentials, populations, recipes, targets, trying, watches
from campaigns.targets.api import settings as target_settings
from campaigns.trends.api import alerts, lines

RUN = "campaigns/<int:pk>/runs/<int:position>"
ATTEMPT = f"{RUN}/attempts/<int:number>"

urlpatterns = [
    # First, since those who submit runs one by one ask for it hundreds of times a second.
    path("campaigns/<int:pk>/runs", runs.Runs.as_view(), name="api-runs"),
    path("compare", comparing.Compare.as_view(), name="api-compare"),
    path("tokens", tokens.Tokens.as_view(), name="api-tokens"),
    path("tokens/<int:pk>/revoke", tokens.Revoke.as_view(), name="api-revoke"),
    path("account/sessions", sessions.Sessions.as_view(), name="api-sessions"),
    path("account/sessions/<int:pk>/end", sessions.End.as_view(), name="api-session-end"),
    path(
        "account/sessions/end-others",
        sessions.EndOthers.as_view(),
        name="api-session-end-others",
    ),
    path("whoami", whoami.WhoAmI.as_view(), name="api-whoami"),
    path("notifications/channels", notifications.Channels.as_view(), name="api-channels"),
    path("notifications/channels/<int:pk>", notifications.OneChannel.as_view(), name="api-channel"),
    path("notifications/channels/<int:pk>/trial", notifications.Trial.as_view(), name="api-trial"),
    path(
        "notifications/channels/<int:pk>/secret",
        notifications.Secret.as_view(),
        name="api-channel-secret",
    ),
    path("notifications/deliveries", notifications.Deliveries.as_view(), name="api-deliveries"),
    path("kinds", api.Kinds.as_view(), name="api-kinds"),
    path("kinds/<slug:kind>", api.OneKind.as_view(), name="api-kind"),
    path("kinds/<slug:kind>/schema", schemas.KindSchema.as_view(), name="api-kind-schema"),
    path("targets", targets.Targets.as_view(), name="api-targets"),
    path("targets/<int:pk>", targets.OneTarget.as_view(), name="api-target"),
    path("targets/<int:pk>/probe", targets.Probe.as_view(), name="api-probe"),
    path("targets/<int:pk>/try-scenario", trying.TryScenario.as_view(), name="api-try-scenario"),
    path(
        "targets/<int:pk>/import-scenario",
        trying.ImportScenario.as_view(),
        name="api-import-scenario",
    ),
    path("targets/<int:pk>/confirm-feed", targets.ConfirmFeed.as_view(), name="api-confirm-feed"),
    path(
        "targets/<int:pk>/withdraw-feed", targets.WithdrawFeed.as_view(), name="api-withdraw-feed"
    ),
    path(
        "targets/<int:pk>/confirm-rights",
        targets.ConfirmRights.as_view(),
        name="api-confirm-rights",
    ),
    path(
        "targets/<int:pk>/withdraw-rights",
        targets.WithdrawRights.as_view(),
        name="api-withdraw-rights",
    ),
    path("targets/<int:pk>/retire", targets.Retire.as_view(), name="api-retire"),
    path("targets/<int:pk>/settings", target_settings.Settings.as_view(), name="api-settings"),
    path(
        "targets/<int:pk>/settings/<slug:name>",
        target_settings.OneSetting.as_view(),
        name="api-setting",
    ),
    path(
        "targets/<int:pk>/read-settings", target_settings.ReadBack.as_view(), name="api-read-back"
    ),
    path("recipes", recipes.Recipes.as_view(), name="api-recipes"),
    path("targets/<int:pk>/recipes", recipes.ImportRecipe.as_view(), name="api-import-recipe"),
    path("targets/<int:pk>/steps", target_settings.Steps.as_view(), name="api-steps"),
    path("targets/<int:pk>/steps/<int:number>", target_settings.OneStep.as_view(), name="api-step"),
    path("targets/<int:pk>/fitness", fitness.FitnessOfTarget.as_view(), name="api-fitness"),
    path("targets/<int:pk>/ssh", target_settings.Ssh.as_view(), name="api-ssh"),
    path("targets/<int:pk>/ssh/accept", target_settings.AcceptHostKey.as_view(), name="api-accept"),
    path("credentials", credentials.Credentials.as_view(), name="api-credentials"),
    path("credentials/<int:pk>", credentials.OneCredential.as_view(), name="api-credential"),
    path("targets/<int:pk>/populations", populations.Populations.as_view(), name="api-populations"),
    path(
        "targets/<int:pk>/populations/<int:number>",
        populations.OnePopulation.as_view(),
        name="api-population",
    ),
    path(
        "targets/<int:pk>/populations/<int:number>/again",
        populations.PopulationAgain.as_view(),
        name="api-population-again",
    ),
    path("targets/<int:pk>/watches", watches.Watches.as_view(), name="api-watches"),
    path("targets/<int:pk>/watches/<int:number>", watches.OneWatch.as_view(), name="api-watch"),
    path(
        "targets/<int:pk>/watches/<int:number>/try",
        watches.TryWatch.as_view(),
        name="api-watch-try",
    ),
    path(
        "targets/<int:pk>/watches/<int:number>/accept",
        watches.AcceptWatchKey.as_view(),
        name="api-watch-accept",
    ),
    path(
        "targets/<int:pk>/expected-events",
        watches.ExpectedEvents.as_view(),
        name="api-expected-events",
    ),
    path("watch-sources", watches.WatchSources.as_view(), name="api-watch-sources"),
    path("programs", programs.Programs.as_view(), name="api-programs"),
    path("programs/<int:pk>", programs.OneProgram.as_view(), name="api-program"),
    path("programs/<int:pk>/try", programs.TryProgram.as_view(), name="api-program-try"),
    path(
        "programs/<int:pk>/publish", programs.PublishProgram.as_view(), name="api-program-publish"
    ),
    path("programs/<int:pk>/retire", programs.RetireProgram.as_view(), name="api-program-retire"),
    path("manual-steps", manual_steps.ManualSteps.as_view(), name="api-manual-steps"),
    path(
        "manual-steps/<int:pk>/done",
        manual_steps.ConfirmManualStep.as_view(),
        name="api-manual-step-done",
    ),
    path("campaigns", campaigns.Campaigns.as_view(), name="api-campaigns"),
    path("campaigns/preview", drafts.Preview.as_view(), name="api-preview"),
    path("campaigns/<int:pk>", drafts.OneCampaign.as_view(), name="api-campaign"),
    path(
        "campaigns/<int:pk>/launch-checks",
        drafts.LaunchChecks.as_view(),
        name="api-launch-checks",
    ),
    path("campaigns/<int:pk>/launch", campaigns.Launch.as_view(), name="api-launch"),
    path("campaigns/<int:pk>/pause", campaigns.Pause.as_view(), name="api-pause"),
    path("campaigns/<int:pk>/resume", campaigns.Resume.as_view(), name="api-resume"),
    path("campaigns/<int:pk>/cancel", campaigns.Cancel.as_view(), name="api-cancel"),
    path("campaigns/<int:pk>/extend", campaigns.Extend.as_view(), name="api-extend"),
    path("campaigns/<int:pk>/amend", campaigns.Amend.as_view(), name="api-amend"),
    path("campaigns/<int:pk>/try", drafts.Try.as_view(), name="api-try"),
    path("campaigns/<int:pk>/clone", drafts.Clone.as_view(), name="api-clone"),
    path("campaigns/<int:pk>/calibrate", drafts.Calibrate.as_view(), name="api-calibrate"),
    path("campaigns/<int:pk>/move-up", queues.MoveUp.as_view(), name="api-move-up"),
    path("campaigns/<int:pk>/move-down", queues.MoveDown.as_view(), name="api-move-down"),
    path("teams", teams.Teams.as_view(), name="api-teams"),
    path("teams/<int:pk>", teams.OneTeam.as_view(), name="api-team"),
    path("teams/<int:pk>/members", teams.Members.as_view(), name="api-members"),
    path("teams/<int:pk>/members/<str:user>", teams.OneMember.as_view(), name="api-member"),
    path("teams/<int:pk>/invitations", invitations.Invitations.as_view(), name="api-invitations"),
    path(
        "invitations/<int:pk>/revoke",
        invitations.RevokeInvitation.as_view(),
        name="api-invitation-revoke",
    ),
    path("launch-requests", launches.LaunchRequests.as_view(), name="api-launch-requests"),
    path(
        "launch-requests/<int:pk>", launches.OneLaunchRequest.as_view(), name="api-launch-request"
    ),
    path("launch-requests/<int:pk>/approve", launches.Approve.as_view(), name="api-launch-approve"),
    path("launch-requests/<int:pk>/refuse", launches.Refuse.as_view(), name="api-launch-refuse"),
    path(
        "launch-requests/<int:pk>/withdraw", launches.Withdraw.as_view(), name="api-launch-withdraw"
    ),
    path("submissions", submissions.Submissions.as_view(), name="api-submissions"),
    path("submissions/<int:pk>", submissions.OneSubmission.as_view(), name="api-submission"),
    path("imports", submissions.Imports.as_view(), name="api-imports"),
    path("formats", submissions.Formats.as_view(), name="api-formats"),
    path("queues", queues.Queues.as_view(), name="api-queues"),
    path("campaigns/<int:pk>/export", exports.Export.as_view(), name="api-export"),
    path("campaigns/<int:pk>/runs/<int:position>", runs.OneRun.as_view(), name="api-run"),
    path(f"{RUN}/cancel", runs.CancelRun.as_view(), name="api-run-cancel"),
    path(f"{RUN}/again", runs.RunAgain.as_view(), name="api-run-again"),
    path(f"{ATTEMPT}", evidence.OneAttempt.as_view(), name="api-attempt"),
    path(
        f"{ATTEMPT}/distributions/<str:name>",
        evidence.OneDistribution.as_view(),
        name="api-distribution",
    ),
    path(f"{ATTEMPT}/outputs/<str:name>", evidence.OneOutput.as_view(), name="api-output"),
    path(f"{ATTEMPT}/series/<str:name>", evidence.OneSeries.as_view(), name="api-one-series"),
    path(f"{RUN}/watched", watched.WatchedOfRun.as_view(), name="api-watched"),
    path(f"{RUN}/watched/export", watched.WatchedFile.as_view(), name="api-watched-export"),
    path("campaigns/<int:pk>/cells", evidence.Cells.as_view(), name="api-cells"),
    path("campaigns/<int:pk>/cells/<int:position>", evidence.OneCell.as_view(), name="api-cell"),
    path("campaigns/<int:pk>/attempts", evidence.Attempts.as_view(), name="api-attempts"),
    path("campaigns/<int:pk>/measurements", evidence.Measurements.as_view(), name="api-values"),
    path("campaigns/<int:pk>/proofs", evidence.Proofs.as_view(), name="api-proofs"),
    path("campaigns/<int:pk>/distributions", evidence.Distributions.as_view(), name="api-hdr"),
    path("campaigns/<int:pk>/series", evidence.SeriesOfRuns.as_view(), name="api-series"),
    path("campaigns/<int:pk>/history", history.History.as_view(), name="api-history"),
    path("campaigns/<int:pk>/findings", findings.Findings.as_view(), name="api-findings"),
    path(
        "campaigns/<int:pk>/findings/<path:name>", findings.OneFinding.as_view(), name="api-finding"
    ),
    path("campaigns/<int:pk>/exclusions", findings.Exclusions.as_view(), name="api-exclusions"),
    path(
        "campaigns/<int:pk>/exclusions/<int:exclusion>",
        findings.OneExclusion.as_view(),
        name="api-exclusion",
    ),
    path(
        "campaigns/<int:pk>/exclusions/<int:exclusion>/withdraw",
        findings.Withdraw.as_view(),
        name="api-withdraw",
    ),
    path("campaigns/<int:pk>/log", findings.Log.as_view(), name="api-log"),
    path(
        "campaigns/<int:pk>/conclusions",
        conclusions.CampaignConclusions.as_view(),
        name="api-campaign-conclusions",
    ),
    path(
        "campaigns/<int:pk>/baseline",
        conclusions.CampaignBaseline.as_view(),
        name="api-baseline",
    ),
    path("conclusions", conclusions.Conclusions.as_view(), name="api-conclusions"),
    path("conclusions/<int:pk>", conclusions.OneConclusion.as_view(), name="api-conclusion"),
    path("conclusions/<int:pk>/send", conclusions.Send.as_view(), name="api-conclusion-send"),
    path("conclusions/<int:pk>/decide", conclusions.Decide.as_view(), name="api-conclusion-decide"),
    path(
        "conclusions/<int:pk>/withdraw",
        conclusions.Withdraw.as_view(),
        name="api-conclusion-withdraw",
    ),
    path("campaigns/<int:pk>/bundle", bundles.CampaignBundle.as_view(), name="api-bundle"),
    path(
        "conclusions/<int:pk>/bundle",
        bundles.ConclusionBundle.as_view(),
        name="api-conclusion-bundle",
    ),
    path("conclusions/<int:pk>/report", reports.OneReport.as_view(), name="api-report"),
    path("conclusions/<int:pk>/sizing", reports.Sizing.as_view(), name="api-sizing"),
    path("conclusions/<int:pk>/links", reports.PublicLinks.as_view(), name="api-public-links"),
    path(
        "conclusions/<int:pk>/links/<int:link>/revoke",
        reports.RevokePublicLink.as_view(),
        name="api-public-link-revoke",
    ),
    path("campaigns/<int:pk>/archive", campaigns.Archive.as_view(), name="api-archive"),
    path("campaigns/<int:pk>/unarchive", campaigns.Unarchive.as_view(), name="api-unarchive"),
    path("storage", retention.Storage.as_view(), name="api-storage"),
    path("storage/teams/<int:pk>", retention.Retention.as_view(), name="api-retention"),
    path(
        "targets/<int:pk>/dependants", retention.TargetDependants.as_view(), name="api-dependants"
    ),
    path("templates", team_templates.Templates.as_view(), name="api-templates"),
    path("templates/<int:pk>", team_templates.OneTemplate.as_view(), name="api-template"),
    path(
        "templates/<int:pk>/retire",
        team_templates.RetireTemplate.as_view(),
        name="api-template-retire",
    ),
    path(
        "templates/<int:pk>/campaigns",
        drafts.BeginWithTemplate.as_view(),
        name="api-template-begin",
    ),
    path("lines", lines.Lines.as_view(), name="api-lines"),
    path("lines/<int:pk>", lines.OneLine.as_view(), name="api-line"),
    path("lines/<int:pk>/pause", lines.PauseLine.as_view(), name="api-line-pause"),
    path("lines/<int:pk>/resume", lines.ResumeLine.as_view(), name="api-line-resume"),
    path("lines/<int:pk>/approve", lines.ApproveLine.as_view(), name="api-line-approve"),
    path("lines/<int:pk>/end", lines.EndLine.as_view(), name="api-line-end"),
    path("lines/<int:pk>/hook", lines.Hook.as_view(), name="api-line-hook"),
    path("lines/<int:pk>/occasions", lines.Occasions.as_view(), name="api-occasions"),
    path("lines/<int:pk>/readings", lines.Readings.as_view(), name="api-readings"),
    path("lines/<int:pk>/standing", lines.OneStanding.as_view(), name="api-standing"),
    path("lines/<int:pk>/trends", lines.Trends.as_view(), name="api-trends"),
    path("alerts", alerts.Alerts.as_view(), name="api-line-alerts"),
    path("alerts/<int:pk>", alerts.OneAlert.as_view(), name="api-alert"),
    path("alerts/<int:pk>/<slug:word>", alerts.AlertWord.as_view(), name="api-alert-word"),
    path("mutes", alerts.Mutes.as_view(), name="api-mutes"),
    path("mutes/<int:pk>/end", alerts.EndMute.as_view(), name="api-mute-end"),
    path("trends/<int:pk>/points", lines.Points.as_view(), name="api-points"),
    path("campaigns/<int:pk>/alerts", findings.Alerts.as_view(), name="api-alerts"),
    path("activity", activity.Activity.as_view(), name="api-activity"),
    path("activity/export", activity.ActivityExport.as_view(), name="api-activity-export"),
    path("campaigns/<int:pk>/threads", comments.CampaignThreads.as_view(), name="api-threads"),
    path(
        "conclusions/<int:pk>/threads",
        comments.ConclusionThreads.as_view(),
        name="api-conclusion-threads",
    ),
    path("threads/<int:pk>", comments.OneThread.as_view(), name="api-thread"),
    path("threads/<int:pk>/comments", comments.Answer.as_view(), name="api-comments"),
    path("threads/<int:pk>/resolve", comments.Resolve.as_view(), name="api-thread-resolve"),
    path("threads/<int:pk>/reopen", comments.Reopen.as_view(), name="api-thread-reopen"),
    path("comments/<int:pk>", comments.OneComment.as_view(), name="api-comment"),
    path("inbox", comments.Inbox.as_view(), name="api-inbox"),
    path("workers", findings.Workers.as_view(), name="api-workers"),
    path("schemas/campaign.json", schemas.DefinitionSchema.as_view(), name="api-schema"),
    path("openapi.json", documents.OpenApi.as_view(), name="api-openapi"),
    path("openapi.yaml", documents.OpenApiYaml.as_view(), name="api-openapi-yaml"),
    path("docs", documents.docs, name="api-docs"),
    re_path("", views.Nothing.as_view(), name="api-nothing"),
]

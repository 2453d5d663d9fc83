"""URLs of the pages."""

from django.urls import include, path, re_path

from campaigns.accounts.pages import account, activity, teams
from campaigns.execution.pages import manual_steps, programs, queues
from campaigns.findings.pages import compare
from campaigns.overview.pages import board, campaigns, examples, health, home, metrics
from campaigns.overview.pages.help import help_page
from campaigns.planning.pages import define, fitness, launches
from campaigns.planning.pages import templates as team_templates
from campaigns.results.pages import importing, retention
from campaigns.reviews.pages import bundles, comments, inbox
from campaigns.reviews.reports import links
from campaigns.reviews.reports import links as report_links
from campaigns.targets.pages import credentials, populations, recipes, targets, watches
from campaigns.targets.pages import settings as target_settings
from campaigns.trends.pages import lines

urlpatterns = [
    path("", home.home, name="home"),
    path("running/", home.running, name="home-running"),
    path("board/", board.board, name="board"),
    path("examples/", examples.example_list, name="example-list"),
    path("examples/<slug:name>/start/", examples.example_start, name="example-start"),
    # Those who watch ask without a slash at the end, or with one; a redirection would confuse them.
    re_path(r"^health/?$", health.health, name="health"),
    re_path(r"^ready/?$", health.ready, name="ready"),
    re_path(r"^metrics/?$", metrics.metrics, name="metrics"),
    path("help/", help_page, name="help"),
    path("help/<path:page>/", help_page, name="help-page"),
    path("", include("campaigns.accounts.sign_in.urls")),
    path("account/", account.account, name="account"),
    path("account/tokens/", account.create_token, name="token-create"),
    path("account/tokens/<int:pk>/revoke/", account.revoke_token, name="token-revoke"),
    path("account/notifications/", include("campaigns.accounts.pages.notification_urls")),
    path("targets/", targets.target_list, name="target-list"),
    path("targets/new/", targets.target_new, name="target-new"),
    path("targets/owner/", targets.target_owner, name="target-owner"),
    path("targets/<int:pk>/", targets.target_page, name="target"),
    path("targets/<int:pk>/health/", targets.target_health, name="target-health"),
    path("targets/<int:pk>/probe/", targets.target_probe, name="target-probe"),
    path("targets/<int:pk>/edit/", targets.target_edit, name="target-edit"),
    path("targets/<int:pk>/feed/", targets.target_feed, name="target-feed"),
    path("targets/<int:pk>/rights/", targets.target_rights, name="target-rights"),
    path("targets/<int:pk>/retire/", targets.target_retire, name="target-retire"),
    path("targets/<int:pk>/settings/", target_settings.setting_new, name="setting-new"),
    path("targets/<int:pk>/settings/read/", target_settings.read_back, name="settings-read"),
    path(
        "targets/<int:pk>/settings/<slug:name>/", target_settings.setting_edit, name="setting-edit"
    ),
    path(
        "targets/<int:pk>/settings/<slug:name>/delete/",
        target_settings.setting_delete,
        name="setting-delete",
    ),
    path("targets/<int:pk>/recipes/", recipes.recipe_list, name="recipe-list"),
    path("targets/<int:pk>/recipes/import/", recipes.recipe_import, name="recipe-import"),
    path("targets/<int:pk>/recipes/<slug:name>/", recipes.recipe_page, name="recipe"),
    path("targets/<int:pk>/steps/", target_settings.step_new, name="step-new"),
    path("targets/<int:pk>/steps/<int:number>/", target_settings.step_edit, name="step-edit"),
    path(
        "targets/<int:pk>/steps/<int:number>/delete/",
        target_settings.step_delete,
        name="step-delete",
    ),
    path("targets/<int:pk>/fitness/", fitness.make, name="fitness-make"),
    path("targets/<int:pk>/ssh/", target_settings.ssh, name="ssh"),
    path("targets/<int:pk>/ssh/accept/", target_settings.ssh_accept, name="ssh-accept"),
    path("targets/<int:pk>/ssh/delete/", target_settings.ssh_delete, name="ssh-delete"),
    path("targets/<int:pk>/populations/", populations.population_list, name="population-list"),
    path("targets/<int:pk>/populations/new/", populations.population_new, name="population-new"),
    path(
        "targets/<int:pk>/populations/<int:number>/delete/",
        populations.population_delete,
        name="population-delete",
    ),
    path(
        "targets/<int:pk>/populations/<int:number>/again/",
        populations.population_again,
        name="population-again",
    ),
    path("targets/<int:pk>/watches/new/<slug:source>/", watches.watch_new, name="watch-new"),
    path("targets/<int:pk>/watches/<int:number>/", watches.watch_edit, name="watch-edit"),
    path("targets/<int:pk>/watches/<int:number>/try/", watches.watch_try, name="watch-try"),
    path(
        "targets/<int:pk>/watches/<int:number>/accept/", watches.watch_accept, name="watch-accept"
    ),
    path(
        "targets/<int:pk>/watches/<int:number>/delete/", watches.watch_delete, name="watch-delete"
    ),
    path("credentials/", credentials.credential_list, name="credential-list"),
    path("credentials/new/", credentials.credential_new, name="credential-new"),
    path("credentials/<int:pk>/", credentials.credential_page, name="credential"),
    path("credentials/<int:pk>/edit/", credentials.credential_edit, name="credential-edit"),
    path("credentials/<int:pk>/delete/", credentials.credential_delete, name="credential-delete"),
    path("programs/", programs.program_list, name="program-list"),
    path("programs/new/", programs.program_new, name="program-new"),
    path("programs/<int:pk>/", programs.program_page, name="program"),
    path("programs/<int:pk>/edit/", programs.program_edit, name="program-edit"),
    path("programs/<int:pk>/trial/", programs.program_trial, name="program-trial"),
    path("programs/<int:pk>/try/", programs.program_try, name="program-try"),
    path("programs/<int:pk>/publish/", programs.program_publish, name="program-publish"),
    path("programs/<int:pk>/retire/", programs.program_retire, name="program-retire"),
    path("programs/<int:pk>/delete/", programs.program_delete, name="program-delete"),
    path("teams/", teams.team_list, name="team-list"),
    path("teams/<int:pk>/", teams.team, name="team"),
    path("teams/<int:pk>/rules/", teams.team_rules, name="team-rules"),
    path("teams/<int:pk>/members/", teams.team_member, name="team-member"),
    path("members/<int:pk>/remove/", teams.member_remove, name="member-remove"),
    path("people/", teams.people, name="people"),
    path("launch-requests/<int:pk>/approve/", launches.approve, name="launch-approve"),
    path("launch-requests/<int:pk>/refuse/", launches.refuse, name="launch-refuse"),
    path("launch-requests/<int:pk>/withdraw/", launches.withdraw, name="launch-withdraw"),
    path("manual-steps/<int:pk>/done/", manual_steps.done, name="manual-step-done"),
    path("inbox/", inbox.inbox, name="inbox"),
    path("inbox/seen/", inbox.seen, name="inbox-seen"),
    path("threads/<int:pk>/", comments.thread, name="thread"),
    path("threads/<int:pk>/resolve/", comments.resolve, name="thread-resolve"),
    path("threads/<int:pk>/reopen/", comments.reopen, name="thread-reopen"),
    path("comments/<int:pk>/edit/", comments.edit, name="comment-edit"),
    path("comments/<int:pk>/delete/", comments.delete, name="comment-delete"),
    path("conclusions/<int:pk>/threads/", comments.conclusion_threads, name="conclusion-threads"),
    path("activity/", activity.activity_page, name="activity"),
    path("activity/activity.csv", activity.activity_csv, name="activity-csv"),
    path("activity/activity.jsonl", activity.activity_jsonl, name="activity-jsonl"),
    path("queues/", queues.queue_list, name="queue-list"),
    path("queues/part/", queues.queue_part, name="queue-part"),
    path("compare/", compare.compare, name="compare"),
    path("compare/comparison.csv", compare.compare_csv, name="compare-csv"),
    path("compare/chart.html", compare.compare_chart, name="compare-chart"),
    path("import/", importing.import_page, name="import"),
    path("import/preview/", importing.import_preview, name="import-preview"),
    path("import/<int:pk>/", importing.import_wait, name="import-wait"),
    path("conclusions/", include("campaigns.reviews.pages.conclusions.urls")),
    path("conclusions/<int:pk>/report/", links.report, name="report"),
    path("conclusions/<int:pk>/report.html", links.report_html, name="report-html"),
    path("conclusions/<int:pk>/report.md", links.report_markdown, name="report-markdown"),
    path(
        "conclusions/<int:pk>/sizing.csv", links.sizing_file, {"ending": "csv"}, name="sizing-csv"
    ),
    path(
        "conclusions/<int:pk>/sizing.md",
        links.sizing_file,
        {"ending": "md"},
        name="sizing-markdown",
    ),
    path("conclusions/<int:pk>/bundle.zip", bundles.conclusion_bundle, name="conclusion-bundle"),
    path("conclusions/<int:pk>/links/", report_links.link_list, name="public-links"),
    path(
        "conclusions/<int:pk>/links/<int:link>/revoke/",
        report_links.link_revoke,
        name="public-link-revoke",
    ),
    path("public/<str:token>/", report_links.public_report, name="public-report"),
    path("campaigns/<int:pk>/archive/", retention.campaign_archive, name="campaign-archive"),
    path("campaigns/<int:pk>/unarchive/", retention.campaign_unarchive, name="campaign-unarchive"),
    path("storage/", retention.storage, name="storage"),
    path("storage/teams/<int:pk>/", retention.storage_rule, name="storage-rule"),
    path("targets/<int:pk>/end/", retention.target_end, name="target-end"),
    path("targets/<int:pk>/delete/", retention.target_delete, name="target-delete"),
    path("templates/", team_templates.template_list, name="template-list"),
    path("templates/<int:pk>/edit/", team_templates.template_edit, name="template-edit"),
    path("templates/<int:pk>/retire/", team_templates.template_retire, name="template-retire"),
    path("templates/<int:pk>/new/", team_templates.template_begin, name="template-begin"),
    path("campaigns/<int:pk>/template/", team_templates.template_new, name="template-new"),
    path("campaigns/<int:pk>/line/", lines.line_new, name="line-new"),
    path("lines/", lines.line_list, name="line-list"),
    path("lines/<int:pk>/", lines.line_page, name="line"),
    path("lines/<int:pk>/edit/", lines.line_edit, name="line-edit"),
    path("lines/<int:pk>/measure/", lines.line_measure, name="line-measure"),
    path("lines/<int:pk>/pause/", lines.line_pause, name="line-pause"),
    path("lines/<int:pk>/resume/", lines.line_resume, name="line-resume"),
    path("lines/<int:pk>/end/", lines.line_end, name="line-end"),
    path("campaigns/<int:pk>/report/", links.draft_report, name="campaign-report"),
    path("campaigns/", campaigns.campaign_list, name="campaign-list"),
    path("campaigns/new/", define.campaign_new, name="campaign-new"),
    path("campaigns/plan/", define.campaign_plan, name="campaign-plan"),
    path("campaigns/<int:pk>/edit/", define.campaign_edit, name="campaign-edit"),
    path("campaigns/<int:pk>/clone/", define.campaign_clone, name="campaign-clone"),
    path("campaigns/<int:pk>/repeat/", define.campaign_repeat, name="campaign-repeat"),
    path("campaigns/<int:pk>/delete/", campaigns.campaign_delete, name="campaign-delete"),
    path("campaigns/<int:pk>/", include("campaigns.urls.campaign")),
]

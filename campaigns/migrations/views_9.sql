-- Views for Grafana and others that read the database: docs/how-to/grafana.md tells what they promise.
-- Never edited once it is released: CONTRIBUTING.md, "A change under a view". Not called perfdash: PostgreSQL makes the
-- tables of a role in a schema of its name, where there is one.

-- Where somebody made the schema before, perfdash needs no right to make one.
DO $$ BEGIN
    IF to_regnamespace('perfdash_views') IS NULL THEN
        CREATE SCHEMA perfdash_views;
    END IF;
END $$;

-- The column stand_in keeps its name, as readers were promised; its table calls it simulator.
CREATE VIEW perfdash_views.campaigns AS
SELECT
    c.id AS campaign_id,
    c.name AS campaign,
    c.question,
    c.kind,
    coalesce(
        (
            SELECT string_agg(o.name, ', ' ORDER BY p.position)
            FROM campaigns_campaigntarget p
            JOIN campaigns_target o ON o.id = p.target_id
            WHERE p.campaign_id = c.id
        ),
        t.name
    )::varchar AS target,
    c.tags,
    c.parameters,
    c.state,
    c.state_reason,
    c."order" AS run_order,
    c.repetitions,
    c.primary_metric,
    c.smallest_effect,
    c.margin,
    c.stop_rule,
    c.fidelity,
    c.source,
    c.external_id,
    c.created_at,
    c.launched_at,
    c.closed_at,
    (SELECT count(*) FROM campaigns_run r WHERE r.campaign_id = c.id AND r.purpose <> 'trial')
        AS runs,
    (SELECT count(*) FROM campaigns_run r WHERE r.campaign_id = c.id AND r.purpose <> 'trial' AND r.state = 'done')
        AS runs_done,
    (SELECT count(*) FROM campaigns_run r WHERE r.campaign_id = c.id AND r.purpose <> 'trial' AND r.state = 'failed')
        AS runs_failed,
    (SELECT count(*) FROM campaigns_run r WHERE r.campaign_id = c.id AND r.purpose <> 'trial' AND r.state = 'void')
        AS runs_void,
    (SELECT count(*) FROM campaigns_run r WHERE r.campaign_id = c.id AND r.purpose <> 'trial' AND r.state = 'cancelled')
        AS runs_cancelled,
    p.sentence AS answer,
    p.certainty AS answer_certainty,
    p.caveat AS answer_caveat,
    f.computed_at AS answered_at,
    f.data_hash
FROM campaigns_campaign c
LEFT JOIN campaigns_target t ON t.id = c.target_id
LEFT JOIN campaigns_finding f
    ON f.campaign_id = c.id AND f.name = 'answer' AND c.state NOT IN ('running', 'paused', 'cancelling')
LEFT JOIN campaigns_publishedanswer p ON p.campaign_id = f.campaign_id;

CREATE VIEW perfdash_views.cells AS
SELECT
    l.campaign_id,
    c.name AS campaign,
    c.kind,
    coalesce(own.name, t.name) AS target,
    l.position AS cell,
    (
        SELECT string_agg(f.name || ' ' || coalesce(l.levels_by_factor ->> f.name, 'null'), ', ' ORDER BY f.position)
        FROM campaigns_factor f
        WHERE f.campaign_id = l.campaign_id AND l.levels_by_factor ? f.name
    ) AS label,
    l.levels_by_factor AS levels,
    l.id AS cell_id
FROM campaigns_cell l
JOIN campaigns_campaign c ON c.id = l.campaign_id
LEFT JOIN campaigns_target t ON t.id = c.target_id
LEFT JOIN campaigns_target own ON own.id = l.target_id;

CREATE VIEW perfdash_views.runs AS
SELECT
    r.campaign_id,
    l.campaign,
    l.kind,
    l.target,
    r.position AS run,
    l.cell,
    l.label,
    l.levels,
    b.number AS block,
    b.repetition,
    s.number AS session,
    r.purpose,
    r.state,
    r.reason,
    e.id IS NOT NULL AS excluded,
    e.reason AS excluded_reason,
    (SELECT count(*) FROM campaigns_attempt a WHERE a.run_id = r.id) AS attempts,
    coalesce((SELECT max(a.simulator) FROM campaigns_attempt a WHERE a.run_id = r.id), '') AS stand_in,
    r.started_at,
    r.finished_at,
    r.external_id,
    r.id AS run_id
FROM campaigns_run r
JOIN perfdash_views.cells l ON l.cell_id = r.cell_id
JOIN campaigns_block b ON b.id = r.block_id
JOIN campaigns_session s ON s.id = b.session_id
LEFT JOIN campaigns_exclusion e ON e.run_id = r.id AND e.withdrawn_at IS NULL
WHERE r.purpose <> 'trial';

CREATE VIEW perfdash_views.measurements AS
SELECT
    r.campaign_id,
    r.campaign,
    r.kind,
    r.target,
    r.run,
    r.cell,
    r.label,
    r.levels,
    r.block,
    r.session,
    r.purpose,
    r.state,
    r.excluded,
    k.name AS metric,
    k.unit,
    k.lower_is_better,
    m.value,
    m.censored,
    m.bound,
    k.fidelity,
    r.started_at,
    r.finished_at,
    a.worker,
    a.simulator AS stand_in,
    r.run_id
-- In this order a condition on campaign and metric is looked up run by run: PostgreSQL keeps the order of so many joins.
FROM perfdash_views.runs r
JOIN campaigns_attempt a ON a.run_id = r.run_id
JOIN (campaigns_measurement m JOIN campaigns_storedmetric k ON k.id = m.metric_id) ON m.attempt_id = a.id
WHERE r.state IN ('done', 'failed')
    AND (
        a.state = 'accepted'
        -- Of a run without an accepted attempt, what the last failed one measured.
        OR (
            a.state = 'failed'
            AND NOT EXISTS (
                SELECT 1
                FROM campaigns_attempt other
                JOIN campaigns_measurement of_it ON of_it.attempt_id = other.id
                JOIN campaigns_storedmetric its ON its.id = of_it.metric_id
                WHERE other.run_id = a.run_id
                    AND its.name = k.name
                    AND (other.state = 'accepted' OR (other.state = 'failed' AND other.number > a.number))
            )
        )
    );

CREATE VIEW perfdash_views.attempts AS
SELECT
    r.campaign_id,
    r.campaign,
    r.run,
    a.number AS attempt,
    a.state,
    a.phase,
    a.reason,
    a.pool,
    a.worker,
    a.host,
    a.queued_at,
    a.claimed_at,
    a.measure_started_at,
    a.measure_finished_at,
    a.finished_at,
    a.units_done,
    a.units_failed,
    a.health,
    a.simulator AS stand_in,
    r.run_id,
    a.id AS attempt_id
FROM campaigns_attempt a
JOIN perfdash_views.runs r ON r.run_id = a.run_id;

CREATE VIEW perfdash_views.environment AS
SELECT
    a.campaign_id,
    a.campaign,
    a.run,
    a.attempt,
    a.state AS attempt_state,
    f.side,
    f.name,
    f.value,
    nullif(f.value_after, '') AS value_after,
    a.measure_started_at,
    a.attempt_id
FROM campaigns_environmentfact f
JOIN perfdash_views.attempts a ON a.attempt_id = f.attempt_id;

CREATE VIEW perfdash_views.cell_summaries AS
SELECT
    l.campaign_id,
    l.campaign,
    l.kind,
    l.target,
    f.result ->> 'metric' AS metric,
    f.result ->> 'unit' AS unit,
    (f.result ->> 'lower_is_better')::boolean AS lower_is_better,
    l.cell,
    l.label,
    l.levels,
    (told.cell #>> '{summary,n_ok}')::bigint AS n,
    (told.cell #>> '{summary,n_failed}')::bigint AS n_failed,
    (told.cell #>> '{summary,n_censored}')::bigint AS n_censored,
    (told.cell #>> '{summary,n_lost}')::bigint AS n_lost,
    (told.cell #>> '{summary,mean}')::double precision AS mean,
    (told.cell #>> '{summary,sd}')::double precision AS sd,
    (told.cell #>> '{summary,median}')::double precision AS median,
    (told.cell #>> '{summary,minimum}')::double precision AS minimum,
    (told.cell #>> '{summary,maximum}')::double precision AS maximum,
    (told.cell #>> '{summary,gmean}')::double precision AS gmean,
    (told.cell #>> '{summary,gmean_ci,0}')::double precision AS gmean_low,
    (told.cell #>> '{summary,gmean_ci,1}')::double precision AS gmean_high,
    f.computed_at,
    f.data_hash
FROM campaigns_finding f
CROSS JOIN LATERAL jsonb_array_elements(f.result -> 'cells') AS told (cell)
JOIN perfdash_views.cells l ON l.cell_id = (told.cell ->> 'cell')::bigint
WHERE f.name LIKE 'brief:%';

CREATE VIEW perfdash_views.verdicts AS
WITH judged AS (
    SELECT f.campaign_id, c.campaign, c.kind, c.target, f.name, f.result, f.computed_at, f.data_hash
    FROM campaigns_finding f
    JOIN perfdash_views.campaigns c ON c.campaign_id = f.campaign_id
    WHERE f.name IN ('levels', 'pairs') AND c.state NOT IN ('running', 'paused', 'cancelling')
), compared AS (
    SELECT
        j.*,
        part.of_group -> 'levels' AS at_levels,
        (
            SELECT level.value #>> '{}'
            FROM jsonb_array_elements(part.of_group -> 'cells') WITH ORDINALITY AS cell (id, place)
            JOIN jsonb_array_elements(part.of_group -> 'values') WITH ORDINALITY AS level (value, place) USING (place)
            WHERE cell.id = told.entry -> 'baseline'
        ) AS baseline,
        (
            SELECT level.value #>> '{}'
            FROM jsonb_array_elements(part.of_group -> 'cells') WITH ORDINALITY AS cell (id, place)
            JOIN jsonb_array_elements(part.of_group -> 'values') WITH ORDINALITY AS level (value, place) USING (place)
            WHERE cell.id = told.entry -> 'candidate'
        ) AS candidate,
        told.entry #>> '{comparison,model}' AS model,
        told.entry #>> '{comparison,verdict,n}' AS n,
        told.entry #> '{comparison,verdict}' AS verdict
    FROM judged j
    CROSS JOIN LATERAL jsonb_array_elements(j.result -> 'groups') AS part (of_group)
    CROSS JOIN LATERAL jsonb_array_elements(part.of_group -> 'comparisons') AS told (entry)
    WHERE j.name = 'levels'
    UNION ALL
    SELECT
        j.*,
        stratum.entry -> 'levels',
        j.result ->> 'baseline',
        j.result ->> 'candidate',
        'paired',
        stratum.entry #>> '{comparison,n_pairs}',
        stratum.entry #> '{comparison,verdict}'
    FROM judged j
    CROSS JOIN LATERAL jsonb_array_elements(j.result -> 'strata') AS stratum (entry)
    WHERE j.name = 'pairs'
)
SELECT
    campaign_id,
    campaign,
    kind,
    target,
    result ->> 'metric' AS metric,
    result ->> 'unit' AS unit,
    result ->> 'factor' AS factor,
    baseline,
    candidate,
    at_levels,
    verdict ->> 'word' AS verdict,
    verdict ->> 'reason' AS reason,
    (verdict ->> 'pct_change')::double precision AS change_pct,
    (verdict #>> '{ci_pct,0}')::double precision AS low_pct,
    (verdict #>> '{ci_pct,1}')::double precision AS high_pct,
    (verdict ->> 'p')::double precision AS p,
    (verdict ->> 'p_adjusted')::double precision AS p_holm,
    model,
    n::bigint AS n,
    (verdict ->> 'required_n')::double precision AS required_n,
    (verdict ->> 'mde_pct')::double precision AS detectable_pct,
    computed_at,
    data_hash
FROM compared;

CREATE VIEW perfdash_views.resources AS
SELECT
    a.campaign_id,
    a.campaign,
    a.run,
    a.attempt,
    a.state AS attempt_state,
    s.phase,
    s.quantity,
    s.label,
    s.unit,
    s.mean,
    s.p50,
    s.p95,
    s.largest,
    a.measure_started_at,
    a.run_id,
    a.attempt_id
FROM campaigns_watchedsummary s
JOIN perfdash_views.attempts a ON a.attempt_id = s.attempt_id;

CREATE VIEW perfdash_views.bindings AS
SELECT
    a.campaign_id,
    a.campaign,
    a.run,
    a.attempt,
    a.state AS attempt_state,
    b.result ->> 'word' AS word,
    told.resource ->> 'resource' AS resource,
    told.resource ->> 'label' AS label,
    told.resource ->> 'state' AS state,
    b.result -> 'strongest' @> jsonb_build_array(
        jsonb_build_object('resource', told.resource -> 'resource', 'label', told.resource -> 'label')
    ) AS strongest,
    (told.resource ->> 'utilisation')::double precision AS utilisation,
    (told.resource ->> 'saturation')::double precision AS saturation,
    (told.resource ->> 'pressure')::double precision AS pressure,
    a.measure_started_at,
    a.run_id,
    a.attempt_id
FROM campaigns_binding b
JOIN perfdash_views.attempts a ON a.attempt_id = b.attempt_id
LEFT JOIN LATERAL jsonb_array_elements(b.result -> 'resources') AS told (resource) ON TRUE;

CREATE VIEW perfdash_views.trend_points AS
SELECT
    r.at AS time,
    l.id AS line_id,
    l.name AS line,
    t.id AS trend_id,
    t.label AS trend,
    t.metric,
    t.unit,
    t.lower_is_better,
    l.subject,
    v.text AS version,
    v.position AS version_position,
    exp(p.y) AS value,
    p.sd AS sd_of_logs,
    p.n AS runs,
    p.failed,
    p.flags,
    r.environment,
    s.campaign_id,
    r.id AS reading_id
FROM campaigns_point p
JOIN campaigns_trend t ON t.id = p.trend_id
JOIN campaigns_line l ON l.id = t.line_id
JOIN campaigns_reading r ON r.id = p.reading_id
JOIN campaigns_session s ON s.id = r.session_id
LEFT JOIN campaigns_subjectversion v ON v.id = r.version_id;

CREATE VIEW perfdash_views.trend_changes AS
SELECT
    r.at AS time,
    NULL::timestamptz AS timeend,
    concat_ws(
        ' ',
        nullif(concat_ws(' ', nullif(l.subject, ''), b.text), ''),
        CASE
            WHEN c.suspected AND c.direction = 'worse' THEN 'is suspected to be worse:'
            WHEN c.suspected AND c.direction = 'better' THEN 'is suspected to be better:'
            ELSE 'changed:'
        END,
        t.label
    ) AS text,
    array_remove(
        ARRAY[l.name::text, c.kind::text, nullif(c.direction, '')::text,
            CASE WHEN c.suspected THEN 'suspected' END],
        NULL
    ) AS tags,
    l.id AS line_id,
    l.name AS line,
    t.id AS trend_id,
    t.label AS trend,
    c.kind,
    c.direction,
    c.suspected,
    g.text AS good,
    b.text AS bad,
    100 * (exp(c.estimate) - 1) AS change_pct,
    100 * (exp(c.low) - 1) AS low_pct,
    100 * (exp(c.high) - 1) AS high_pct,
    c.p,
    s.campaign_id
FROM campaigns_trendchange c
JOIN campaigns_trend t ON t.id = c.trend_id
JOIN campaigns_line l ON l.id = t.line_id
JOIN campaigns_reading r ON r.id = c.reading_id
JOIN campaigns_session s ON s.id = r.session_id
LEFT JOIN campaigns_subjectversion g ON g.id = c.good_id
LEFT JOIN campaigns_subjectversion b ON b.id = c.bad_id;

CREATE VIEW perfdash_views.alerts AS
SELECT
    a.opened_at AS time,
    a.closed_at AS timeend,
    concat_ws(
        ' ', nullif(a.subject, ''), b.text, 'is', a.direction || ':', replace(a.evidence, '_', ' ')
    ) AS text,
    array_remove(
        ARRAY[nullif(a.subject, '')::text, a.direction::text, a.evidence::text, a.handling::text,
            nullif(a.closed, '')::text],
        NULL
    ) AS tags,
    a.id AS alert_id,
    a.subject,
    a.direction,
    g.text AS good,
    b.text AS bad,
    a.evidence,
    a.handling,
    a.closed,
    (SELECT count(*) FROM campaigns_alerttrend t WHERE t.alert_id = a.id) AS trends
FROM campaigns_alert a
LEFT JOIN campaigns_subjectversion g ON g.id = a.good_id
LEFT JOIN campaigns_subjectversion b ON b.id = a.bad_id;

"""The columns of the views that others read, as they were released: nothing here is ever taken away."""

COLUMNS = {
    "alerts": (
        "time timestamptz, timeend timestamptz, text text, tags _text, alert_id int8, subject "
        "varchar, direction varchar, good varchar, bad varchar, evidence varchar, handling varchar, "
        "closed varchar, trends int8"
    ),
    "attempts": (
        "campaign_id int8, campaign varchar, run int4, attempt int4, state varchar, phase "
        "varchar, reason text, pool varchar, worker varchar, host varchar, queued_at "
        "timestamptz, claimed_at timestamptz, measure_started_at timestamptz, "
        "measure_finished_at timestamptz, finished_at timestamptz, units_done int4, "
        "units_failed int4, health varchar, stand_in varchar, run_id int8, attempt_id "
        "int8"
    ),
    "bindings": (
        "campaign_id int8, campaign varchar, run int4, attempt int4, attempt_state varchar, "
        "word text, resource text, label text, state text, strongest bool, utilisation float8, "
        "saturation float8, pressure float8, measure_started_at timestamptz, run_id int8, "
        "attempt_id int8"
    ),
    "campaigns": (
        "campaign_id int8, campaign varchar, question varchar, kind varchar, target "
        "varchar, tags _varchar, parameters jsonb, state varchar, state_reason text, "
        "run_order varchar, repetitions int4, primary_metric varchar, smallest_effect "
        "float8, margin float8, stop_rule varchar, fidelity varchar, source varchar, "
        "external_id varchar, created_at timestamptz, launched_at timestamptz, closed_at "
        "timestamptz, runs int8, runs_done int8, runs_failed int8, runs_void int8, "
        "runs_cancelled int8, answer text, answer_certainty text, answer_caveat text, answered_at timestamptz, "
        "data_hash varchar"
    ),
    "cell_summaries": (
        "campaign_id int8, campaign varchar, kind varchar, target varchar, metric text, "
        "unit text, lower_is_better bool, cell int4, label text, levels jsonb, n int8, "
        "n_failed int8, n_censored int8, n_lost int8, mean float8, sd float8, median "
        "float8, minimum float8, maximum float8, gmean float8, gmean_low float8, "
        "gmean_high float8, computed_at timestamptz, data_hash varchar"
    ),
    "cells": (
        "campaign_id int8, campaign varchar, kind varchar, target varchar, cell int4, "
        "label text, levels jsonb, cell_id int8"
    ),
    "environment": (
        "campaign_id int8, campaign varchar, run int4, attempt int4, attempt_state "
        "varchar, side varchar, name varchar, value text, value_after text, "
        "measure_started_at timestamptz, attempt_id int8"
    ),
    "measurements": (
        "campaign_id int8, campaign varchar, kind varchar, target varchar, run int4, cell "
        "int4, label text, levels jsonb, block int4, session int4, purpose varchar, state "
        "varchar, excluded bool, metric varchar, unit varchar, lower_is_better bool, "
        "value float8, censored bool, bound bool, fidelity varchar, started_at "
        "timestamptz, finished_at timestamptz, worker varchar, stand_in varchar, run_id "
        "int8"
    ),
    "resources": (
        "campaign_id int8, campaign varchar, run int4, attempt int4, attempt_state varchar, "
        "phase varchar, quantity varchar, label varchar, unit varchar, mean float8, p50 float8, "
        "p95 float8, largest float8, measure_started_at timestamptz, run_id int8, attempt_id int8"
    ),
    "runs": (
        "campaign_id int8, campaign varchar, kind varchar, target varchar, run int4, cell "
        "int4, label text, levels jsonb, block int4, repetition int4, session int4, "
        "purpose varchar, state varchar, reason text, excluded bool, excluded_reason "
        "text, attempts int8, stand_in text, started_at timestamptz, finished_at "
        "timestamptz, external_id varchar, run_id int8"
    ),
    "trend_changes": (
        "time timestamptz, timeend timestamptz, text text, tags _text, line_id int8, line varchar, "
        "trend_id int8, trend varchar, kind varchar, direction varchar, suspected bool, good "
        "varchar, bad varchar, change_pct float8, low_pct float8, high_pct float8, p float8, "
        "campaign_id int8"
    ),
    "trend_points": (
        "time timestamptz, line_id int8, line varchar, trend_id int8, trend varchar, metric "
        "varchar, unit varchar, lower_is_better bool, subject varchar, version varchar, "
        "version_position int4, value float8, sd_of_logs float8, runs int4, failed int4, flags "
        "_varchar, environment int4, campaign_id int8, reading_id int8"
    ),
    "verdicts": (
        "campaign_id int8, campaign varchar, kind varchar, target varchar, metric text, "
        "unit text, factor text, baseline text, candidate text, at_levels jsonb, verdict "
        "text, reason text, change_pct float8, low_pct float8, high_pct float8, p float8, "
        "p_holm float8, model text, n int8, required_n float8, detectable_pct float8, "
        "computed_at timestamptz, data_hash varchar"
    ),
}

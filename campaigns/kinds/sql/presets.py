"""Presets of the kind `sql`. Pure."""

from campaigns.kinds.base import Preset

READS = {
    "script": "kv-read",
    "rows": "100000",
    "value_bytes": "16",
    "loop": "closed",
    "rate": "",
    "protocol": "prepared",
}
TOGETHER = {"client_processes": "together", "connections": "kept"}
SHORT = {"duration_seconds": "10", "warm_up_seconds": "2"}
STUDY = {"order": "interleaved", "repetitions": 5, "cool_down_seconds": 5, "tags": ["throttling"]}
MAXCONN = ("0", "3")
"""Levels of the target's setting maxconn, as script/throttle makes it; 0: no limit."""
PRESETS = (
    Preset(
        "clients-curve",
        "What it carries: 1 to 32 clients read rows, minutes",
        {**READS, **TOGETHER, **SHORT},
        {"clients": ("1", "2", "4", "8", "16", "32")},
        {
            "question": "How many clients does the database carry?",
            "order": "interleaved",
            "repetitions": 3,
            "tags": ["capacity"],
        },
    ),
    Preset(
        "throttling",
        "Throttling a database: 1 to 8 clients, maxconn none and 3, 40 minutes",
        {
            **READS,
            "client_processes": "apart",
            "connections": "kept",
            "duration_seconds": "20",
            "warm_up_seconds": "0",
        },
        {"clients": tuple(map(str, range(1, 9))), "maxconn": MAXCONN},
        {
            "question": "What does a throttle of three connections cost, and whom does it serve?",
            "criterion": {"conditions": [{"metric": "served", "at_least": 100}]},
            **STUDY,
        },
    ),
    Preset(
        "throttling-open",
        "Throttling, offered rates: 25 to 400 a second, maxconn none and 3, 25 minutes",
        {
            **READS,
            "client_processes": "together",
            "connections": "each",
            "clients": "64",
            "loop": "open",
            "late_after_ms": "100",
            "duration_seconds": "20",
            "warm_up_seconds": "2",
        },
        {"rate": ("25", "50", "100", "200", "400"), "maxconn": MAXCONN},
        {
            "question": "Does a throttle keep up the useful rate above the knee?",
            "criterion": {"conditions": [{"metric": "in_time", "at_least": 95}]},
            **STUDY,
            "repetitions": 3,
        },
    ),
    Preset(
        "below-a-foreman",
        "Below a Foreman: pgbench's own scripts, 10 to 500 clients, hours",
        {**READS, **TOGETHER, "duration_seconds": "300", "warm_up_seconds": "10", "scale": "100"},
        {"clients": ("10", "50", "100", "250", "500"), "script": ("tpcb-like", "select-only")},
        {
            "question": "Does the database below Foreman carry 500 connections?",
            "order": "interleaved",
            "repetitions": 3,
            "tags": ["capacity"],
        },
    ),
    Preset(
        "try-it",
        "Try it: 4 clients read rows, 5 s",
        {**READS, **TOGETHER, "duration_seconds": "5", "warm_up_seconds": "1", "clients": "4"},
    ),
)

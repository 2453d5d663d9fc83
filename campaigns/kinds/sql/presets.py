"""Presets of the kind `sql`. Pure."""

from campaigns.kinds.base import Preset

SHORT = {"script": "kv-read", "duration_seconds": "10", "warm_up_seconds": "2", "loop": "closed"}
PRESETS = (
    Preset(
        "clients-curve",
        "What it carries: 1 to 32 clients read rows",
        {**SHORT, "client_processes": "together", "connections": "kept"},
        {"clients": ("1", "2", "4", "8", "16", "32")},
        {
            "question": "How many clients does the database carry?",
            "order": "interleaved",
            "repetitions": 3,
            "tags": ["capacity"],
        },
    ),
    Preset(
        "below-a-foreman",
        "Below a Foreman: pgbench's own scripts, 10 to 500 clients, hours",
        {
            **SHORT, "duration_seconds": "300", "warm_up_seconds": "10", "scale": "100",
            "client_processes": "together", "connections": "kept",
        },
        {"clients": ("10", "50", "100", "250", "500"), "script": ("tpcb-like", "select-only")},
        {
            "question": "Does the database below Foreman carry 500 connections?",
            "order": "interleaved",
            "repetitions": 3,
            "tags": ["capacity"],
        },
    ),
    Preset("try-it", "Try it: 4 clients read rows, 5 s", {**SHORT, "duration_seconds": "5", "clients": "4"}),
)  # fmt: skip

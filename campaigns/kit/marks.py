"""Label, tone and icon of each state."""

from collections.abc import Mapping

Mark = tuple[str, str, str]
"""Label, tone, icon."""


UNKNOWN: Mark = ("unknown", "thin", "ring")


CAMPAIGNS: Mapping[str, Mark] = {
    "draft": ("Draft", "thin", "dots"),
    "running": ("Running", "info", "play"),
    "paused": ("Paused", "warn", "pause"),
    "cancelling": ("Cancelling", "warn", "stop"),
    "cancelled": ("Cancelled", "fail", "x"),
    "finished": ("Finished", "pass", "check"),
}


RUNS: Mapping[str, Mark] = {
    "planned": ("planned", "thin", "clock"),
    "queued": ("queued", "thin", "clock"),
    "open": ("planned", "thin", "clock"),
    "running": ("running", "info", "play"),
    "reset": ("reset", "info", "spin"),
    "apply": ("apply", "info", "spin"),
    "measure": ("measure", "info", "play"),
    "verify": ("verify", "info", "spin"),
    "store": ("store", "info", "spin"),
    "done": ("done", "pass", "check"),
    "ok": ("done", "pass", "check"),
    "accepted": ("accepted", "pass", "check"),
    "failed": ("failed", "fail", "x"),
    "censored": ("timed out", "fail", "clock"),
    "bound": ("bound", "warn", "edge"),
    "void": ("void", "warn", "no"),
    "lost": ("lost", "worse", "warn"),
    "cancelled": ("cancelled", "thin", "stop"),
    "excluded": ("excluded", "thin", "no"),
}


WAITS: Mapping[str, Mark] = {
    "review": ("Review", "info", "edit"),
    "changes": ("Changes", "warn", "redo"),
    "word": ("Justification", "warn", "warn"),
    "launch": ("Approval", "warn", "play"),
    "mention": ("Mention", "info", "talk"),
    "manual_step": ("Manual step", "warn", "warn"),
    "alert": ("Alert", "warn", "warn"),
}


HEALTH: Mapping[str, Mark] = {
    "unknown": ("not probed yet", "thin", "dots"),
    "ready": ("ready", "pass", "check"),
    "unreachable": ("unreachable", "fail", "x"),
    "refused": ("not allowed", "warn", "no"),
}


OUTCOMES: Mapping[str, Mark] = {
    "pass": ("passed", "pass", "check"),
    "warn": ("warns", "warn", "warn"),
    "fail": ("failed", "fail", "x"),
    "not_possible": ("not possible", "thin", "no"),
}


DELIVERIES: Mapping[str, Mark] = {
    "waiting": ("waiting", "info", "clock"),
    "delivered": ("delivered", "pass", "check"),
    "given_up": ("given up", "fail", "x"),
    "dropped": ("not sent", "thin", "no"),
}


CONCLUSIONS: Mapping[str, Mark] = {
    "draft": ("Draft", "thin", "dots"),
    "in_review": ("In review", "info", "clock"),
    "changes_requested": ("Changes requested", "warn", "edit"),
    "accepted": ("Accepted", "pass", "check"),
    "rejected": ("Rejected", "fail", "x"),
    "superseded": ("Superseded", "thin", "redo"),
    "reopened": ("Re-opened", "worse", "warn"),
}

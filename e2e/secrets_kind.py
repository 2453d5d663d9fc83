"""A kind of test that tells the target's password wherever it can. Only for e2e/test_secrets.py."""

import base64
import json
import logging
from urllib.parse import quote

from django import forms

from campaigns.kinds.base import (
    Driver,
    DriverError,
    EffectiveSetting,
    Health,
    Measured,
    Metric,
    Proof,
    Series,
    TargetUnavailable,
)
from campaigns.kinds.base.parameters import ChoiceParameter

MANNERS = ("good", "failing", "void", "buggy")
log = logging.getLogger(__name__)


class TelltaleForm(forms.Form):
    manners = ChoiceParameter(choices=[(name, name) for name in MANNERS], initial="good")


class Telltale(Driver):
    label, summary, question = "Telltale", "for tests", "What does it tell?"
    families = ("telltale",)
    parameters = TelltaleForm
    metrics = (Metric("duration", "Duration", "s", lower_is_better=True, primary=True),)

    def probe(self, target, rules):
        log.warning("Probing with %s.", target.password)
        raise DriverError(f"{target.username}:{target.password} was refused.")

    def reset(self, target, parameters, context):
        context.progress({"said": target.password})
        context.say(f"signed in with {quote(target.password)}")
        return [Proof("password", target.password, target.password, "", ok=True)]

    def apply(self, target, parameters, context):
        sent = base64.b64encode(f"{target.username}:{target.password}".encode()).decode()
        return [EffectiveSetting("Authorization", f"Basic {sent}", f"Basic {sent}", ok=True)]

    def environment(self, target, context):
        return {"url": f"http://{target.username}:{quote(target.password, safe='')}@host/"}

    def measure(self, target, parameters, context):
        secret = target.password  # a traceback with locals would tell it
        context.progress({"said": json.dumps({"password": secret})})
        match parameters["manners"]:
            case "failing":
                raise DriverError(f"The target did not like {secret!r}.")
            case "void":
                raise TargetUnavailable(f"Nobody at http://me:{quote(secret)}@host/.")
            case "buggy":
                raise RuntimeError(f"could not store '{secret}'")
        return Measured(
            values={"duration": 1.0},
            health=Health("warned", (f"it said {secret}",), {"cpu_share": 0.1}),
            samples={"total": [0.1, 0.2], "failure": ["", secret]},
            series=[Series(secret, "B/s", 1.0, [1.0])],
            failures={secret: 1},
            units_done=2,
        )

    def verify(self, target, parameters, context, measured):
        return [Proof("echo", 1, f"<b>{target.password}</b>", "", ok=True)]

    def clean_up(self, target, parameters, context):
        raise DriverError(f"could not sign out {target.password}")


driver = Telltale()

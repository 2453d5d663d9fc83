"""Forms of programs: the definition as YAML, the trial, and what is published."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.utils import pretty_name

from campaigns.execution.programs import MOST_LETTERS, driver_of_draft, suggested_metrics
from campaigns.kit.forms import SecretArea
from campaigns.kit.mappings import FieldValues, JsonObject
from campaigns.models import Program, Target

EXAMPLE = """\
name: my-program
label: My program
question: How long does it take with more threads?
# The program and its arguments, each on its own line. No shell reads them.
arguments:
  - sysbench
  - cpu
  - "--threads={threads}"
  - "--time=5"
  - run
parameters:
  - name: threads
    type: integer      # or number, choice, text
    initial: 1
    minimum: 1
    maximum: 64
    role: load         # or setting, work, instrument
where: worker          # or target: over SSH, which only an admin may define
reader: sysbench       # empty: only how long it takes is measured
version: [sysbench, --version]
seconds: 60
memory_mib: 512
output_bytes: 1000000
"""


class ProgramForm(forms.Form):
    """The definition, and values of secrets that it names."""

    definition = forms.CharField(
        max_length=MOST_LETTERS,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 26, "spellcheck": "false", "class": "code"}),
        help_text="YAML. The help page “Bring your own program” describes every field.",
    )
    secrets = forms.CharField(
        required=False,
        max_length=MOST_LETTERS,
        strip=False,
        label="Values of secrets",
        widget=SecretArea(attrs={"rows": 3, "spellcheck": "false", "autocomplete": "off"}),
        help_text="One per line, name=value, of those that the definition names. Encrypted at rest, and never shown again; a "
        "program gets the path of a file. Not given: as it was, unless what runs, or where, has changed.",
    )

    def clean_secrets(self) -> dict[str, str]:
        """Return the values by name. Raise ValidationError."""
        result = {}
        for line in self.cleaned_data["secrets"].splitlines():
            name, equals, text = line.partition("=")
            if line.strip() and not equals:
                raise ValidationError("Write name=value, one on each line.")
            if line.strip():
                result[name.strip()] = text
        return result


class TrialForm(forms.Form):
    """Parameters of a trial, and the target where the program needs one."""

    target = forms.ModelChoiceField(Target.objects.none(), required=False, empty_label="none")

    def __init__(self, row: Program, data: Any = None) -> None:
        last = (row.trial or {}).get("parameters") or {}
        super().__init__(data, initial={"target": (row.trial or {}).get("target"), **last})
        driver = driver_of_draft(row)
        rows = Target.objects.filter(
            team=row.team_id, retired_at=None, family__in=driver.families, is_production=False
        )
        self.fields["target"].queryset = rows  # type: ignore[attr-defined]
        for name, field in driver.parameters().fields.items():
            field.label = field.label or pretty_name(name)
            self.fields[f"p-{name}"] = field
        for name, value in last.items():
            self.initial[f"p-{name}"] = value

    @property
    def parameters(self) -> FieldValues:
        """The parameters as they were typed."""
        return {
            name.removeprefix("p-"): self.data.get(name, "")
            for name in self.fields
            if name.startswith("p-")
        }


BETTER = (("lower", "lower is better"), ("higher", "higher is better"), ("neither", "neither"))


class MetricsForm(forms.Form):
    """Which of the found metrics are kept, their directions, and which of them is primary."""

    primary = forms.ChoiceField(widget=forms.RadioSelect)

    def __init__(self, row: Program, data: Any = None) -> None:
        super().__init__(data)
        declared = {each["name"]: each for each in row.definition.get("metrics", ())}
        self.found = suggested_metrics(row.trial or {})
        values = {each["name"]: each["value"] for each in (row.trial or {}).get("metrics", ())}
        self.lines: list[JsonObject] = []
        chosen = next((name for name, each in declared.items() if each.get("primary")), None)
        for number, metric in enumerate(self.found):
            kept = declared.get(metric.name)
            self.fields[f"keep-{number}"] = forms.BooleanField(
                required=False,
                label=f"Keep {metric.name}",
                initial=kept is not None or not declared,
            )
            self.fields[f"better-{number}"] = forms.ChoiceField(
                choices=BETTER,
                label=f"Direction of {metric.name}",
                initial=kept.get("better", "lower") if kept else metric.better,
            )
            self.lines.append(
                {
                    "metric": metric,
                    "value": values[metric.name],
                    "keep": self[f"keep-{number}"],
                    "better": self[f"better-{number}"],
                    "is_primary": metric.name == chosen if chosen else metric.primary,
                }
            )
        self.fields["primary"].choices = [(each.name, each.name) for each in self.found]  # type: ignore[attr-defined]

    def metrics(self) -> Sequence[JsonObject]:
        """Return the metrics as a definition has them."""
        clean = self.cleaned_data
        return [
            {
                "name": metric.name,
                "label": metric.label,
                "unit": metric.unit,
                "better": clean[f"better-{number}"],
                **({"primary": True} if metric.name == clean["primary"] else {}),
            }
            for number, metric in enumerate(self.found)
            if clean[f"keep-{number}"] or metric.name == clean["primary"]
        ]

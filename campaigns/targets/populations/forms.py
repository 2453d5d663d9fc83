"""The form of a population, for pages and REST."""

from django import forms

from campaigns.kinds.registration.form import NAME, check_name
from campaigns.models import Population
from campaigns.models.populations import DAYS, MOST_DAYS


class PopulationForm(forms.ModelForm):
    """How many hosts are registered, with which keys, and for how many days."""

    days = forms.IntegerField(
        required=False,
        initial=DAYS,
        min_value=1,
        max_value=MOST_DAYS,
        help_text=str(Population._meta.get_field("days").help_text),
    )

    class Meta:
        model = Population
        fields = ["hosts", "organization", "activation_keys", "days"]

    def clean_days(self) -> int:
        """Return the days, those of every population if none are given."""
        days = self.cleaned_data["days"]
        return DAYS if days is None else int(days)

    def clean_organization(self) -> str:
        """Return the label. Raise ValidationError."""
        label: str = self.cleaned_data["organization"]
        check_name(label)
        return label

    def clean_activation_keys(self) -> str:
        """Return the names, each once. Raise ValidationError."""
        names = [part.strip() for part in self.cleaned_data["activation_keys"].split(",")]
        names = [name for name in names if name]
        if not names or not all(NAME.match(name) for name in names):
            raise forms.ValidationError(
                "Give names of activation keys, separated by commas: without blanks, quotes, / ? # and &."
            )
        return ",".join(dict.fromkeys(names))

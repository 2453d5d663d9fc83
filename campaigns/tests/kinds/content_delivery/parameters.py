"""Parameters of the kind, with the initial values of its form."""

from campaigns.kinds.content_delivery.driver import driver


def parameters_of(**values):
    """Return the cleaned parameters of a run, of which some are given."""
    form = driver.parameters
    initial = {name: field.initial for name, field in form.base_fields.items()}
    filled = form(
        {**{name: value for name, value in initial.items() if value is not None}, **values}
    )
    assert filled.is_valid(), filled.errors
    return filled.cleaned_data


def errors_of(**values):
    """Return the errors of a form by field."""
    form = driver.parameters
    initial = {name: field.initial for name, field in form.base_fields.items()}
    filled = form(
        {
            "repository": "repo/",
            **{name: value for name, value in initial.items() if value is not None},
            **values,
        }
    )
    filled.is_valid()
    return {name: " ".join(map(str, texts)) for name, texts in filled.errors.items()}

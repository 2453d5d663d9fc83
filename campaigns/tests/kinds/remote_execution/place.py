"""A simulated Katello on which the kind `remote_execution` runs jobs, without a worker."""

from dataclasses import dataclass

from campaigns.kinds.remote_execution.form import RemoteExecutionForm
from campaigns.tests.kinds import foreman_place
from campaigns.tests.kinds.foreman_place import RULES

__all__ = ["JOBS", "RULES", "Place", "parameters"]

JOBS = "/api/v2/job_invocations"


@dataclass
class Place(foreman_place.Place):
    """A place at which somebody begins jobs, too."""

    def job(self, mark="", name="", **changes):
        """Begin a job beside perfdash's, or as an earlier attempt of it did."""
        job = {
            "job_template_id": 101, "targeting_type": "static_query", "search_query": "name ~ container",
            "inputs": {"command": "date"}, "description_format": name or "Nightly patching",
        }  # fmt: skip
        return self.send("POST", JOBS, {"job_invocation": job | changes}, mark)


def parameters(**changes):
    initial = {name: each.initial for name, each in RemoteExecutionForm.base_fields.items()}
    form = RemoteExecutionForm(
        initial | {"hosts": 40, "search_query": "name ~ container"} | changes
    )
    assert form.is_valid(), form.errors
    return form.cleaned_data

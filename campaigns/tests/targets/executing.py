"""A kind whose server executes what the author of a campaign writes, with the rights that a test gives its login."""

from campaigns.kinds.base import TargetUnavailable
from campaigns.tests.toy import Toy


class Executing(Toy):
    """Executes `note` of a campaign, unless that is “nothing”. found: rights of the login; None: the server does not answer."""

    label = "Executing"

    def __init__(self):
        self.found = ("superuser",)

    def executes(self, parameters):
        return "SQL" if parameters.get("note") not in (None, "", "nothing") else ""

    def rights(self, target, access, parameters=None):
        if self.found is None:
            raise TargetUnavailable("It does not answer.")
        return self.found

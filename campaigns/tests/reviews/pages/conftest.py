from campaigns.tests.browsing import browser, draft, person, target, toy, worker
from campaigns.tests.conftest import campaign

__all__ = ["browser", "campaign", "draft", "person", "target", "toy", "worker"]

from campaigns.tests.browsing import browser, draft, person, target, toy, worker

__all__ = ["browser", "draft", "person", "target", "toy", "worker"]

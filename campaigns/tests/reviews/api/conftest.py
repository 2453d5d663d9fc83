from campaigns.tests.rest import api, draft, own_rates, owner, send, target, token, toy, worker

__all__ = ["api", "draft", "own_rates", "owner", "send", "target", "token", "toy", "worker"]

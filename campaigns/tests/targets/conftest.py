from campaigns.tests.toy import target, toy

__all__ = ["target", "toy"]

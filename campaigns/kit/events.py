"""Signals for the rooms above, which a room cannot import.

Receivers run at once, within the transaction of the sender; `campaigns.receivers` connects them.
"""

from django.dispatch import Signal

work_waits = Signal()
"""A run, a file or an analysis may be able to start now."""

data_changed = Signal()
"""Runs of `campaign` came, went or count otherwise; its findings are out of date."""

findings_stored = Signal()
"""The findings of `campaign` were stored, in this transaction."""

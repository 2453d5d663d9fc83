"""The kind `downloader`: fetch a PULP_MANIFEST repository into a directory. No database.

docs/kinds/downloader.md says what each engine does, what is measured and what the words mean.
"""

from campaigns.kinds.downloader.steps import Downloader

driver = Downloader()

"""The engine program of the kind `content_delivery`: virtual hosts that fetch metadata and packages. No Django, no database.

`files` reads the request, `delivery` is what one host does, `crew` what all hosts of a process share.
"""

"""Commands on other machines by SSH. No Django.

`access` has the login and the errors, `keys` reads keys, `commands` logs in and runs commands; the last two load
asyncssh, so they are imported where they are used.
"""

"""Credentials: logins of a team for feeds and servers, which campaigns name.

`forms` and `saving` make and change them, `opening` gives them to runs, `uses` lists the campaigns that name one, `ends` tells
before a certificate ends.
"""

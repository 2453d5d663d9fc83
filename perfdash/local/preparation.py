"""Brings the database up to date, and prints the URL that signs in: one process for three commands.

Usage: python -m perfdash.local.preparation BASE_URL SANDBOX_URL
"""

import sys

import django
from django.core.management import call_command

if __name__ == "__main__":
    base_url, sandbox_url = sys.argv[1:]
    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    call_command("prepare", sandbox_url=sandbox_url)
    call_command("sign_in_link", base_url=base_url)

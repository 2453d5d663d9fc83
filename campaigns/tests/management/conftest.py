import pytest
from django.core.management import call_command


@pytest.fixture
def manage(capsys):
    """Run a command; give what it printed."""

    def manage(*arguments: str) -> str:
        call_command(*arguments)
        return str(capsys.readouterr().out).strip()

    return manage

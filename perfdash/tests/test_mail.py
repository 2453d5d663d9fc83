import pytest
from django.core.exceptions import ImproperlyConfigured

from perfdash.mail import MailServer, mail_server


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("", MailServer()),
        ("smtp://mail.example", MailServer("mail.example", 25)),
        ("smtp://127.0.0.1:2525", MailServer("127.0.0.1", 2525)),
        (
            "smtp+tls://ada:p%40ss%2F@mail.example",
            MailServer("mail.example", 587, "ada", "p@ss/", starttls=True),
        ),
        ("smtps://a:b@mail.example:4650", MailServer("mail.example", 4650, "a", "b", tls=True)),
        ("smtp://[::1]:25", MailServer("::1", 25)),
    ],
)
def test_the_address_of_a_mail_server_is_read(url, wanted):
    assert mail_server(url) == wanted


@pytest.mark.parametrize(
    "url",
    [
        "mail.example",
        "http://mail.example",
        "smtp://",
        "smtp://a:secret@mail.example:port",
        "smtp://a:secret@mail.example/path",
        "smtp://a:secret@mail.example?tls=no",
        "smtp+tls://a:secret%C3%B6@mail.example",
    ],
)
def test_what_is_none_stops_the_start_and_no_password_is_quoted(url):
    with pytest.raises(ImproperlyConfigured, match="PERFDASH_EMAIL_URL must be") as refused:
        mail_server(url)

    assert "secret" not in str(refused.value)


def test_no_load_goes_to_the_mail_server():
    assert mail_server("smtp://mail.example").addresses == ["mail.example:25"]
    assert mail_server("smtp://[::1]").addresses == ["[::1]:25"]
    assert mail_server("").addresses == []

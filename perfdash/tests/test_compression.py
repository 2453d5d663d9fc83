"""Pages are compressed; files and answers of the REST API are not."""

import gzip

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from perfdash.compression import CompressedPages


@pytest.mark.parametrize(
    ("content_type", "encoding"),
    [
        ("text/html; charset=utf-8", "gzip"),
        ("application/json", None),
        ("application/zip", None),
        ("application/vnd.apache.parquet", None),
    ],
)
def test_only_pages_are_compressed(content_type, encoding):
    content = b"<p>the same again</p>" * 100
    request = RequestFactory().get("/", headers={"Accept-Encoding": "gzip, deflate"})
    answer = CompressedPages(HttpResponse).process_response(
        request, HttpResponse(content, content_type=content_type)
    )

    assert isinstance(answer, HttpResponse)
    assert answer.get("Content-Encoding") == encoding
    assert (gzip.decompress(answer.content) if encoding else answer.content) == content


def test_a_program_that_does_not_ask_for_it_gets_the_plain_page(client, db):
    answer = client.get("/sign-in/")

    assert "Content-Encoding" not in answer
    assert b"<html" in answer.content

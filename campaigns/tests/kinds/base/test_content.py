"""The proofs of content: number, bytes, and one digest whatever the order."""

from hashlib import sha256

from campaigns.kinds.base.content import content_proofs

ONE, TWO = ("a" * 64, 3), ("b" * 64, 40)


def measured(files):
    return [proof.measured for proof in content_proofs(files, "files")]


def test_the_digest_is_that_of_the_sorted_lines():
    lines = f"{'a' * 64} 3\n{'b' * 64} 40\n"

    assert measured([TWO, ONE]) == [2, 43, sha256(lines.encode()).hexdigest()]


def test_another_size_or_one_more_file_is_other_content():
    digests = {measured(files)[2] for files in ([ONE], [ONE, TWO], [("a" * 64, 4)], [ONE, ONE], [])}

    assert len(digests) == 5

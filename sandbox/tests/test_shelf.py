from sandbox.shelf import Shelf


def test_the_least_recently_used_value_goes_first() -> None:
    shelf: Shelf[str, bytes] = Shelf(10)
    shelf.put("a", b"1234")
    shelf.put("b", b"1234")

    shelf.get("a")
    shelf.put("c", b"1234")

    assert shelf.get("b") is None
    assert shelf.get("a") == shelf.get("c") == b"1234"


def test_a_value_larger_than_the_shelf_is_kept_alone() -> None:
    shelf: Shelf[str, bytes] = Shelf(10)
    shelf.put("a", b"1234")

    shelf.put("b", b"12345678901234")

    assert shelf.get("a") is None
    assert shelf.get("b") is not None


def test_room_is_free_again_after_a_drop_and_a_replacement() -> None:
    shelf: Shelf[str, bytes] = Shelf(10)
    shelf.put("a", b"1234567890")

    shelf.put("a", b"12345")
    shelf.put("b", b"12345")
    shelf.drop("b")
    shelf.drop("b")
    shelf.put("c", b"12345")

    assert shelf.get("a") == shelf.get("c") == b"12345"

import struct

from sandbox.rpm.header import header, int16s, int32s, string, strings


def test_a_header_has_an_index_of_its_fields_and_a_region_that_spans_them() -> None:
    written = header(63, [string(1000, "abc"), int32s(1009, 7), strings(1117, "x", "yz")])

    count, size = struct.unpack_from(">II", written, 8)
    entries = list(struct.iter_unpack(">IIiI", written[16 : 16 + 16 * count]))
    data = written[16 + 16 * count :]
    assert written[:8].hex() == "8eade80100000000"
    assert len(data) == size
    assert entries == [(63, 7, 13, 16), (1000, 6, 0, 1), (1009, 4, 4, 1), (1117, 8, 8, 2)]
    assert data[:13] == b"abc\0\0\0\0\7x\0yz\0"
    assert struct.unpack(">IIiI", data[13:]) == (63, 7, -16 * count, 16)


def test_numbers_begin_where_their_width_allows() -> None:
    written = header(62, [string(1, ""), int16s(2, 1), string(3, "a"), int32s(4, 2)])

    offsets = [struct.unpack_from(">IIiI", written, 16 + 16 * index)[2] for index in range(1, 5)]
    assert offsets == [0, 2, 4, 8]

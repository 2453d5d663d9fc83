"""Result files of JMeter as people have them: several runs in one file, other settings of saving, single bad lines."""

import pytest

from campaigns.results import readers
from campaigns.tests.results.readers.files import DATA, problem

HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,"
    "bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect"
)
BEGIN = 1_767_348_000_000


def line(
    at: float, elapsed: object = 100, thread: int = 1, threads: int = 5, host: str = ""
) -> str:
    return (
        f"{BEGIN + int(at * 1000)},{elapsed},Home,200,OK,{host}T 1-{thread},text,true,,500,100,{threads},{threads},"
        "http://shop.example/,95,0,2"
    )


def read_lines(*lines: str, header: bool = True):
    return readers.read("\n".join([*([HEADER] if header else []), *lines, ""]).encode())


def counts(read):
    return [run.units_done + run.units_failed for run in read.runs]


def told(read, words):
    return any(words in sentence for sentence in read.dropped)


def run_of(began: float, samples: int = 20, **more):
    return [line(began + 0.1 * index, thread=index % 5 + 1, **more) for index in range(samples)]


def test_a_run_that_jmeter_appended_without_a_header_is_found_by_the_pause():
    read = read_lines(*run_of(0), *run_of(3600))

    assert counts(read) == [20, 20]
    assert read.dropped[0] == (
        "Two runs of one setting: nothing was asked for 3,598 s before line 22."
    )
    assert [run.values["request_rate"] for run in read.runs] == [pytest.approx(10)] * 2


def test_a_pause_of_a_slow_test_is_none_between_runs():
    """One request each minute is no sixty runs."""
    assert counts(read_lines(*(line(60 * index) for index in range(20)))) == [20]


def test_runs_in_a_loop_of_a_shell_are_found_by_threads_that_start_again():
    ending = [line(2 + 0.1 * n, thread=5 - n, threads=5 - n) for n in range(5)]
    starting = [line(6 + 0.1 * n, thread=n + 1, threads=n + 1) for n in range(5)]

    read = read_lines(*run_of(0), *ending, *starting, *run_of(6.5))

    assert counts(read) == [25, 25]
    assert "the threads start again in line 27" in read.dropped[0]


def test_threads_that_end_one_after_another_are_one_run():
    ending = [line(2 + 4 * n, thread=5 - n, threads=5 - n) for n in range(5)]

    assert counts(read_lines(*run_of(0), *ending)) == [25]


def test_a_second_copy_without_a_header_is_a_second_run():
    read = read_lines(*run_of(0), *run_of(0), header=False)

    assert counts(read) == [20, 20]
    assert "line 21 repeats line 1" in read.dropped[0]


def test_an_earlier_run_that_was_appended_is_one_of_two():
    read = read_lines(*run_of(3600), *run_of(0))

    assert counts(read) == [20, 20]
    assert "the time goes back by 3,602 s in line 22" in read.dropped[0]


def test_samples_of_one_time_one_after_another_are_refused():
    one, other = run_of(0, 2000), run_of(50, 2000)

    where, text = problem("\n".join([HEADER, *one, *other, ""]))

    assert where == "line 2002"
    assert text.startswith("The time goes back by 150 s, into that of samples above.")
    assert "import each file by itself" in text


def test_generators_that_write_in_turn_are_one_run():
    """A server of distributed JMeter sends a hundred samples at once."""
    batches = [
        each
        for begin in range(0, 60, 10)
        for host in ("a-", "b-")
        for each in run_of(begin, 100, host=host)
    ]

    assert counts(read_lines(*batches)) == [1200]


def test_one_sample_that_took_long_is_no_second_run():
    read = read_lines(*run_of(0, 100), line(0, elapsed=300_000), *run_of(301, 100))

    assert counts(read) == [201]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("header", [True, False])
def test_another_delimiter_is_read(delimiter, header):
    lines = [each.replace(",", delimiter) for each in ([HEADER] if header else []) + run_of(0)]

    read = readers.read("\n".join([*lines, ""]).encode())

    assert counts(read) == [20]
    assert read.runs[0].values["latency_mean"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("date", "step"),
    [("2026/01/02 10:00:%02d.000", 0), ("2026-01-02 10:00:%02d", 1), ("2026-01-02T10:00:%02d", 1)],
)
@pytest.mark.parametrize("header", [True, False])
def test_dates_are_instants(date, step, header):
    lines = [each.replace(each.partition(",")[0], date % n) for n, each in enumerate(run_of(0, 40))]

    read = readers.read("\n".join([*([HEADER] if header else []), *lines, ""]).encode())

    assert counts(read) == [40]
    assert read.runs[0].started_at
    assert read.runs[0].started_at.isoformat() == "2026-01-02T10:00:00+00:00"
    assert read.runs[0].values["request_rate"] == pytest.approx(40 / 39.1)


@pytest.mark.parametrize("date", ["01/02/26 10:00:00", "02.01.2026 10:00:00", "none"])
def test_a_date_of_which_the_day_is_not_known_is_refused_with_the_setting(date):
    text = f"{HEADER}\n{line(0).replace(str(BEGIN), date)}\n"

    where, message = problem(text)

    assert where == "line 2"
    assert "jmeter.save.saveservice.timestamp_format=ms" in message


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (line(1, elapsed="NaN"), "elapsed: “NaN”"),
        (line(1, elapsed=-3), "elapsed: “-3”"),
        (line(1).replace("true", "maybe"), "success is “maybe”"),
        (line(1).replace("http:", "http,"), "18 fields; there are 17 columns"),
        (line(1).replace("OK", '"OK'), "a quote is not closed"),
        ("== jmeter says something ==", "Line 12 was not understood."),
    ],
)
def test_one_bad_line_costs_one_sample(bad, words):
    samples = run_of(0)

    read = read_lines(*samples[:10], bad, *samples[10:])

    assert counts(read) == [20]
    assert any(words in each and "12" in each for each in read.dropped)


def test_a_message_of_several_lines_is_one_field():
    failed = line(1).replace("true,", 'false,"expected\n""one"", got\ntwo"')

    read = read_lines(*run_of(0), failed)

    assert counts(read) == [21]
    assert read.runs[0].units_failed == 1


def test_lines_of_a_runner_before_the_header_are_counted():
    text = f"+ jmeter -n -t plan.jmx\nstarted\n{HEADER}\n" + "\n".join([*run_of(0), ""])

    read = readers.read(text.encode())

    assert counts(read) == [20]
    assert told(read, "2 lines were not understood, the first is line 1.")


def test_quoted_names_of_columns_are_read():
    header = ",".join(f'"{name}"' for name in HEADER.split(","))

    assert counts(readers.read("\n".join([header, *run_of(0), ""]).encode())) == [20]


def test_xml_without_an_end_is_read_and_told():
    text = (DATA / "jmeter.xml.jtl").read_text()
    cut = text[: text.index("<httpSample", len(text) // 2) + 40]

    read = readers.read(cut.encode())

    assert 0 < sum(counts(read)) < sum(counts(readers.read(text.encode())))
    assert told(read, "without </testResults>")


def test_xml_one_after_another_is_two_runs():
    text = (DATA / "jmeter.xml.jtl").read_text()

    read = readers.read((text + text).encode())

    assert counts(read) == counts(readers.read(text.encode())) * 2
    assert "begins another document" in read.dropped[0]


def test_noise_within_and_before_xml_is_counted():
    text = (DATA / "jmeter.xml.jtl").read_text()
    noisy = "+ jmeter -f\n" + text.replace(
        '<testResults version="1.2">\n', '<testResults version="1.2">\nnoise\n'
    )

    read = readers.read(noisy.encode())

    assert read.runs == readers.read(text.encode()).runs
    assert told(read, "2 lines were not understood, the first is line 1.")


def test_one_damaged_sample_of_xml_costs_one():
    text = (DATA / "jmeter.xml.jtl").read_text().replace(' t="68"', ' t="NaN"', 1)

    read = readers.read(text.encode())

    assert told(read, "Line 3 is left out. elapsed: “NaN”")


def test_a_damaged_number_of_bytes_costs_the_transfer_rate():
    samples = run_of(0)
    samples[3] = samples[3].replace(",500,", ",NaN,")

    read = read_lines(*samples)

    assert counts(read) == [20]
    assert "transfer_rate" not in read.runs[0].values
    assert told(read, "The transfer rate is left out. line 5: bytes “NaN”")


def test_runs_of_other_numbers_of_threads_are_not_of_one_setting():
    read = read_lines(*run_of(0, threads=5), HEADER, *run_of(3600, threads=50))

    assert read.factors == {"threads": (5, 50)}
    assert "the most at once in each run" in read.guesses["threads"]
    assert read.dropped[0] == "Two runs: line 22 is a second header."


def test_runs_of_nearly_as_many_threads_are_of_one_setting():
    read = read_lines(*run_of(0, threads=50), HEADER, *run_of(3600, threads=48))

    assert read.factors == {}


def test_a_line_that_stands_for_several_samples_is_left_out():
    """In the modes Statistical and StrippedStatistical a server sends sums."""
    header = HEADER + ",SampleCount,ErrorCount"
    single = [f"{each},1,0" for each in run_of(0)]

    read = readers.read("\n".join([header, *single, f"{line(3)},50,2", ""]).encode())

    assert counts(read) == [20]
    assert told(read, "Line 22 is left out. It stands for 50 samples")

"""JMeter's result files: CSV with or without a header, and XML; one run for each label."""

import re

from campaigns.results.readers.base import Builder, Options, Read, Scalar, Source
from campaigns.results.readers.base.streams import stream_metrics
from campaigns.results.readers.jmeter_jtl.samples import Samples
from campaigns.results.readers.jmeter_jtl.table import read_table
from campaigns.results.readers.jmeter_jtl.xml import read_xml

HEADLESS = re.compile(rb"\d{13},\d{1,9},[^\n]*,(?:true|false),", re.ASCII)


class JmeterJtl:
    """The label is a factor where there are several."""

    name = "jmeter_jtl"
    label = "JMeter"

    def detects(self, head: bytes, filename: str) -> bool:
        """Its root element, its first columns, or lines that begin with an instant."""
        begin = head.removeprefix(b"\xef\xbb\xbf")
        header = begin.partition(b"\n")[0]
        return (
            (_is_xml(begin) and b"<testResults" in head)
            or (b"timeStamp" in header and b"elapsed" in header and not _is_xml(begin))
            or HEADLESS.match(begin) is not None
        )

    def read(self, source: Source, options: Options) -> Read:
        """Read every sample, and gather it by label."""
        builder = Builder(self.name, self.label, work=("label",))
        builder.declare(*stream_metrics())
        samples = Samples()
        if _is_xml(source.head.removeprefix(b"\xef\xbb\xbf")):
            read_xml(source, samples)
        else:
            read_table(source, samples)
        for label, stream in samples.streams.items():
            levels: dict[str, Scalar] = {"label": label} if len(samples.streams) > 1 else {}
            stream.into(builder, levels)
        if samples.threads:
            builder.note("threads, most", samples.threads)
        if samples.nested:
            builder.drop(f"{samples.nested:,} samples inside others are left out: they are parts.")
        builder.drop("Latency is JMeter's elapsed time; time to the first byte is left out.")
        return builder.build(
            name="JMeter",
            question="How fast does the server answer each request?",
            primary=["latency_p95", "latency_mean"],
            tags=("jmeter",),
        )


def _is_xml(begin: bytes) -> bool:
    return begin.lstrip()[:1] == b"<"


reader = JmeterJtl()

"""The end of a soak: its table counts what was seen, and its picture can be drawn of every run, a failed one too."""

import xml.etree.ElementTree as ET

from tests.support.soak import CHANGES, Record, Span
from tests.support.soak_result import picture, table

SVG = "{http://www.w3.org/2000/svg}"


def record_of(*names: str) -> Record:
    record = Record()
    for name in names:
        record.changes[name] = [Span(change, 10.0 * number, 10.0 * number + 5) for number, change in enumerate(CHANGES)]
    record.outages = [Span("RabbitMQ", 3.0, 6.0), Span("dispatcher & Jobs", 12.0, 14.0)]
    return record


def shown(record: Record) -> str:
    return "\n".join(table(record, {"works": 1}))


def texts(record: Record) -> list[str]:
    return [each.text or "" for each in ET.fromstring(picture(record)).iter(f"{SVG}text")]


class TestTable:
    def test_it_counts_changes_and_outages(self) -> None:
        lines = shown(record_of("one", "two"))
        assert "2 created, 2 updated, 2 deleted" in lines
        assert "RabbitMQ 1 times, dispatcher & Jobs 1 times" in lines
        assert "created → Available                     5.0 s     5.0 s" in lines
        assert "1 works" in lines

    def test_a_cluster_that_was_lost_before_its_first_change_is_counted(self) -> None:
        record = record_of("one")
        record.lost["two"] = "not created"
        assert shown(record).startswith("2 clusters")
        assert "lost                                  1" in shown(record)

    def test_a_second_work_of_a_cluster_is_counted_and_a_second_cluster_is_not(self) -> None:
        record = record_of("one", "two")
        record.works["one"] |= {"w1", "w2"}
        record.works["two"] |= {"w3"}
        assert record.duplicates == ["one"]


class TestPicture:
    def test_it_names_every_component_once(self) -> None:
        record = record_of("one", "two")
        record.outages.append(Span("RabbitMQ", 20.0, 21.0))
        assert [each for each in texts(record) if each in ("RabbitMQ", "dispatcher & Jobs")] == [
            "RabbitMQ",
            "dispatcher & Jobs",
        ]

    def test_it_can_be_drawn_of_a_run_that_lost_a_cluster_before_its_first_change(self) -> None:
        record = record_of("one")
        assert record.changes["two"] == []
        assert "1 clusters while every component is killed in turn" in texts(record)

    def test_it_can_be_drawn_of_a_run_in_which_nothing_happened(self) -> None:
        assert "0:00" in texts(Record())

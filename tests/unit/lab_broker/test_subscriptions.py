"""Who gets which message of a subscription, in which order, and what an acknowledgement, a refusal or a loss does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.broker.subscriptions import Consumer, Subscription, UnknownTag
from shared.embedded_broker import Deliver


class Inbox:
    """A consumer and what it was sent."""

    def __init__(self, prefetch: int = 0) -> None:
        self.deliveries: list[Deliver] = []
        self.consumer = Consumer(prefetch, self.deliveries.append)

    @property
    def bodies(self) -> list[bytes]:
        return [delivery.body for delivery in self.deliveries]


@pytest.fixture
def subscription() -> Subscription:
    return Subscription()


def test_messages_wait_for_the_first_consumer(subscription: Subscription) -> None:
    for body in (b"1", b"2"):
        subscription.add(body)

    inbox = Inbox()
    subscription.join(inbox.consumer)

    assert inbox.bodies == [b"1", b"2"]
    assert [delivery.redelivered for delivery in inbox.deliveries] == [False, False]


def test_consumers_take_turns(subscription: Subscription) -> None:
    one, other = Inbox(), Inbox()
    subscription.join(one.consumer)
    subscription.join(other.consumer)

    for body in (b"1", b"2", b"3", b"4"):
        subscription.add(body)

    assert (one.bodies, other.bodies) == ([b"1", b"3"], [b"2", b"4"])


def test_a_consumer_holds_no_more_than_its_prefetch(subscription: Subscription) -> None:
    inbox = Inbox(prefetch=2)
    subscription.join(inbox.consumer)
    for body in (b"1", b"2", b"3"):
        subscription.add(body)
    assert inbox.bodies == [b"1", b"2"]

    subscription.acknowledge(inbox.consumer, 2)

    assert inbox.bodies == [b"1", b"2", b"3"]
    assert subscription.unacknowledged == 2


def test_a_full_consumer_is_passed_over(subscription: Subscription) -> None:
    full, free = Inbox(prefetch=1), Inbox()
    subscription.join(full.consumer)
    subscription.join(free.consumer)

    for body in (b"1", b"2", b"3"):
        subscription.add(body)

    assert (full.bodies, free.bodies) == ([b"1"], [b"2", b"3"])


def test_what_a_lost_consumer_held_comes_first_again_in_its_order(subscription: Subscription) -> None:
    lost = Inbox(prefetch=3)
    subscription.join(lost.consumer)
    for body in (b"1", b"2", b"3", b"4"):
        subscription.add(body)
    subscription.acknowledge(lost.consumer, 2)
    subscription.leave(lost.consumer)

    heir = Inbox()
    subscription.join(heir.consumer)

    assert [(each.body, each.redelivered) for each in heir.deliveries] == [(b"1", True), (b"3", True), (b"4", True)]


def test_a_refused_message_is_delivered_again_or_dropped(subscription: Subscription) -> None:
    inbox = Inbox(prefetch=1)
    subscription.join(inbox.consumer)
    subscription.add(b"1")
    subscription.add(b"2")

    subscription.refuse(inbox.consumer, 1, requeue=True)
    subscription.refuse(inbox.consumer, 2, requeue=False)

    assert [(each.body, each.redelivered) for each in inbox.deliveries] == [(b"1", False), (b"1", True), (b"2", False)]


def test_a_cancelled_consumer_gets_nothing_more_and_may_still_acknowledge(subscription: Subscription) -> None:
    inbox = Inbox()
    subscription.join(inbox.consumer)
    subscription.add(b"1")
    inbox.consumer.cancelled = True

    subscription.add(b"2")
    subscription.acknowledge(inbox.consumer, 1)

    assert inbox.bodies == [b"1"]
    assert subscription.unacknowledged == 0
    assert len(subscription.waiting) == 1


def test_a_tag_is_acknowledged_once(subscription: Subscription) -> None:
    inbox = Inbox()
    subscription.join(inbox.consumer)
    subscription.add(b"1")
    subscription.acknowledge(inbox.consumer, 1)

    with pytest.raises(UnknownTag):
        subscription.acknowledge(inbox.consumer, 1)


STEPS = st.lists(st.sampled_from(["add", "ack", "nack", "leave", "join"]), max_size=60)


@given(STEPS, st.integers(min_value=0, max_value=3))
def test_no_message_is_lost_or_held_twice_whatever_consumers_do(steps: list[str], prefetch: int) -> None:
    subscription, inboxes = Subscription(), [Inbox(prefetch)]
    subscription.join(inboxes[0].consumer)
    added, acknowledged = set[bytes](), set[bytes]()
    for number, step in enumerate(steps):
        consumer = inboxes[number % len(inboxes)].consumer if inboxes else None
        match step, consumer:
            case "add", _:
                added.add(b"%d" % number)
                subscription.add(b"%d" % number)
            case "join", _:
                inboxes.append(Inbox(prefetch))
                subscription.join(inboxes[-1].consumer)
            case "leave", Consumer():
                inboxes = [each for each in inboxes if each.consumer is not consumer]
                subscription.leave(consumer)
            case "ack", Consumer() if consumer.held:
                tag = next(iter(consumer.held))
                acknowledged.add(consumer.held[tag].body)
                subscription.acknowledge(consumer, tag)
            case "nack", Consumer() if consumer.held:
                subscription.refuse(consumer, next(iter(consumer.held)), requeue=True)

        held = [message.body for inbox in inboxes for message in inbox.consumer.held.values()]
        present = held + [message.body for message in subscription.waiting]
        assert len(present) == len(set(present))
        assert set(present) == added - acknowledged
        assert not subscription.waiting or not any(inbox.consumer.takes_more for inbox in inboxes)

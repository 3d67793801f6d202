"""The event types of the marketplace's applications: how often they happen, what they carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from demo.marketplace.draw import Weighted
from demo.marketplace.scene import ATTRIBUTES


@dataclass(frozen=True, slots=True)
class EventType:
    """One type of application event."""

    name: str
    attributes: tuple[str, ...]
    weight: int = 0
    severity: str = "INFO"

    def __post_init__(self) -> None:
        if unknown := set(self.attributes) - ATTRIBUTES.keys():
            raise ValueError(f"event type {self.name}: unknown attributes {sorted(unknown)}")


def _type(name: str, attributes: str, weight: int = 0, severity: str = "INFO") -> EventType:
    return EventType(name, tuple(attributes.split()), weight, severity)


# What a visitor does in between; weights in parts of ten thousand, more or less.
BROWSING: Final = (
    _type("page_viewed", "page referrer duration_ms is_mobile", 2_600),
    _type("vehicle_viewed", "vehicle_id vehicle price position", 2_000),
    _type("search_performed", "search result_count duration_ms", 1_400),
    _type("vehicle_photo_swiped", "vehicle_id photo_number", 900),
    _type("search_filter_applied", "filters result_count", 800),
    _type("banner_shown", "campaign position", 400),
    _type("feature_flag_evaluated", "flag is_enabled experiments", 300),
    _type("vehicle_favorited", "vehicle_id price", 250),
    _type("notification_sent", "channel campaign", 200),
    _type("user_signed_in", "channel is_first", 200),
    _type("chat_message_sent", "vehicle_id message_length", 120),
    _type("vehicle_history_opened", "vehicle_id mileage_km", 100),
    _type("vehicle_compared", "compared_ids", 80),
    _type("finance_calculator_used", "vehicle_id monthly_rate months", 80),
    _type("notification_opened", "channel campaign", 80),
    _type("chat_opened", "vehicle_id is_first", 70),
    _type("vehicle_unfavorited", "vehicle_id", 60),
    _type("banner_clicked", "campaign position", 60),
    _type("vehicle_shared", "vehicle_id channel", 50),
    _type("seller_contacted", "vehicle_id channel message_length", 50),
    _type("user_signed_out", "duration_ms", 50),
    _type("price_alert_created", "vehicle_id target_price_eur_cents", 40),
    _type("trade_in_estimated", "mileage_km offer_eur_cents vehicle", 40),
    _type("offer_made", "vehicle_id offer_eur_cents price", 40),
    _type("price_alert_triggered", "vehicle_id price target_price_eur_cents", 30),
    _type("api_error_occurred", "error duration_ms", 30, "ERROR"),
    _type("test_drive_requested", "vehicle_id promised_at", 15),
    _type("offer_declined", "vehicle_id offer_eur_cents reason", 15),
    _type("email_verified", "channel", 15),
    _type("offer_accepted", "vehicle_id offer_eur_cents", 12),
    _type("app_updated", "is_first", 12),
    _type("test_drive_confirmed", "vehicle_id promised_at", 10),
    _type("newsletter_subscribed", "campaign channel", 10),
    _type("password_reset_requested", "channel", 8, "NOTICE"),
    _type("app_installed", "campaign", 8),
    _type("app_crashed", "error page", 5, "CRITICAL"),
    _type("review_submitted", "vehicle_id rating message_length", 5),
)
BROWSE: Final = Weighted([(kind, kind.weight) for kind in BROWSING])

# What the story of a visit, an order or a truck calls for.
SESSION_STARTED: Final = _type("session_started", "referrer is_first experiments")
SESSION_ENDED: Final = _type("session_ended", "duration_ms")
USER_SIGNED_UP: Final = _type("user_signed_up", "channel campaign")
VEHICLE_VIEWED: Final = next(kind for kind in BROWSING if kind.name == "vehicle_viewed")
CHECKOUT_STARTED: Final = _type("checkout_started", "vehicle_id price items")
CHECKOUT_ABANDONED: Final = _type("checkout_abandoned", "vehicle_id reason")
PAYMENT_SUBMITTED: Final = _type("payment_submitted", "vehicle_id amount_eur_cents payment")
PAYMENT_FAILED: Final = _type("payment_failed", "vehicle_id amount_eur_cents error", 0, "WARNING")
ORDER_PLACED: Final = _type("order_placed", "order_id vehicle_id amount_eur_cents price items")
ORDER_CANCELLED: Final = _type("order_cancelled", "order_id vehicle_id reason", 0, "NOTICE")
DELIVERY_STARTED: Final = _type("delivery_started", "order_id vehicle_id truck_id promised_at")
DELIVERY_DELAYED: Final = _type("delivery_delayed", "order_id truck_id delay_minutes")
DELIVERY_COMPLETED: Final = _type("delivery_completed", "order_id vehicle_id truck_id")

# These happen so many times in a day, whatever its size.
RARE: Final = (
    (_type("account_deleted", "reason", 0, "NOTICE"), 4),
    (_type("fraud_suspected", "order_id amount_eur_cents payment", 0, "ALERT"), 3),
    (_type("refund_issued", "order_id amount_eur_cents reason", 0, "NOTICE"), 5),
    (_type("data_export_requested", "channel", 0, "NOTICE"), 2),
    (_type("vehicle_recall_announced", "vehicle_id vehicle", 0, "WARNING"), 1),
    (_type("legal_terms_changed", "campaign is_enabled", 0, "NOTICE"), 1),
)
STORY: Final = (
    SESSION_STARTED,
    SESSION_ENDED,
    USER_SIGNED_UP,
    CHECKOUT_STARTED,
    CHECKOUT_ABANDONED,
    PAYMENT_SUBMITTED,
    PAYMENT_FAILED,
    ORDER_PLACED,
    ORDER_CANCELLED,
    DELIVERY_STARTED,
    DELIVERY_DELAYED,
    DELIVERY_COMPLETED,
)
ALL: Final = (*BROWSING, *STORY, *(kind for kind, _ in RARE))

# Facts of the books rest on these; a broken copy of one is always followed by a good one.
NEVER_LOST: Final = frozenset(kind.name for kind in STORY)

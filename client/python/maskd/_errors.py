"""Errors, with what the server says beside the message."""

from typing import Any

NAMES = {
    1: "CANCELLED", 2: "UNKNOWN", 3: "INVALID_ARGUMENT", 4: "DEADLINE_EXCEEDED", 5: "NOT_FOUND",
    6: "ALREADY_EXISTS", 7: "PERMISSION_DENIED", 8: "RESOURCE_EXHAUSTED", 9: "FAILED_PRECONDITION",
    10: "ABORTED", 11: "OUT_OF_RANGE", 12: "UNIMPLEMENTED", 13: "INTERNAL", 14: "UNAVAILABLE",
    16: "UNAUTHENTICATED",
}
NUMBERS = {name: number for number, name in NAMES.items()}


class MaskdError(Exception):
    """A call, or a row, that failed.

    code            canonical name, such as "INVALID_ARGUMENT"
    place           JSON Pointer, line:column or field at fault; "" when there is none
    reason          stable reason in UPPER_SNAKE_CASE; "" when there is none
    retry_after_ms  when the same call may succeed; None when the error is not one of load
    """

    def __init__(self, code: str, message: str, place: str = "", reason: str = "",
                 retry_after_ms: int | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.place = place
        self.reason = reason
        self.retry_after_ms = retry_after_ms

    def __reduce__(self) -> tuple[Any, ...]:
        return MaskdError, (self.code, self.message, self.place, self.reason, self.retry_after_ms)

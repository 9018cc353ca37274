"""What every request passes: an id, a line in the log, a limit on its size, and an answer whatever happens."""

import re
import time
import uuid
from urllib.parse import quote

import structlog
from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import Refused, problem_response, unexpected
from api.serving import Serving

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""Ids of the caller's that are taken over: short, and harmless in a log."""

LONGEST_LENGTH = 18
"""Digits of a Content-Length beyond which it need not be read as a number."""

LEFT = 499
"""What the log has in place of a status where the caller left before the answer; nobody receives it."""

log = structlog.get_logger()


class Door:
    """The outermost layer: gives each request its id, logs it, and answers when something unexpected happens."""

    def __init__(self, app: ASGIApp, *, serving: Serving):
        self.app = app
        self.serving = serving

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope["state"] = {**scope.get("state", {}), "request_id": _request_id(Headers(scope=scope))}
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=scope["state"]["request_id"])
        await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun, status = time.perf_counter(), 0

        async def send_named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = scope["state"]["request_id"]
                headers["X-Model-Version"] = self._model_version(scope)
            await send(message)

        try:
            await self.app(scope, receive, send_named)
        except ClientDisconnect:
            status = LEFT
        except Exception:  # a door: the caller is owed an answer
            log.exception("unexpected failure")
            if status:  # the answer has begun: the server must cut it short, or half of it would pass for whole
                raise
            await problem_response(Request(scope), unexpected())(scope, receive, send_named)
        ms = round(1000 * (time.perf_counter() - begun), 2)
        log.info("request", method=scope["method"], path=_route(scope), status=status, ms=ms)

    def _model_version(self, scope: Scope) -> str:
        default = self.serving.default
        label = scope["state"].get("model_version") or (default.entry.label if default else "none")
        return quote(label, safe="/@ ")


class BodyLimit:
    """Refuses a body above the limit, before it is read where its length is told, else as soon as it is passed."""

    def __init__(self, app: ASGIApp, *, max_body_mb: float):
        self.app = app
        self.most = int(max_body_mb * 1_000_000)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        told = Headers(scope=scope).get("content-length", "0")
        if told.isdecimal() and (len(told) > LONGEST_LENGTH or int(told) > self.most):
            await problem_response(Request(scope), self._refusal())(scope, receive, send)
            return
        received = 0

        async def receive_some() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.most:
                raise self._refusal()
            return message

        await self.app(scope, receive_some, send)

    def _refusal(self) -> Refused:
        return Refused(
            f"a body may have {self.most:,} bytes; send several requests, each with some of the series",
            status=413,
            code="body_too_large",
            headers={"Connection": "close"},  # the rest of the body is not waited for
        )


class Head:
    """Answers HEAD as GET without the body, as HTTP asks of every resource (RFC 9110, 9.1)."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def send_no_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        asked = {**scope, "method": "GET"}
        await self.app(asked, receive, send_no_body)
        scope["route"] = asked.get("route")


def _request_id(headers: Headers) -> str:
    sent = headers.get("x-request-id", "")
    return sent if REQUEST_ID.fullmatch(sent) else uuid.uuid4().hex


def _route(scope: Scope) -> str:
    route = scope.get("route")
    return route.path if route is not None else "other"

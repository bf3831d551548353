"""A page of the app in a browser that draws nothing: Streamlit's own protocol over a websocket.

Thirty real browsers would measure the browsers; thirty of these leave the machine to the server. What the server sends is
read as a browser reads it: elements of the last run, the address, the fragments that draw themselves anew.
"""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

WAIT_SECONDS = 240.0
RERUN_SOON = ForwardMsg.FINISHED_EARLY_FOR_RERUN
WHOLE_PAGE = ForwardMsg.FINISHED_SUCCESSFULLY


@dataclass(frozen=True)
class Shown:
    """An element on the page. kind: as the protocol names it. fragment: the one it belongs to, "" for the page itself."""

    kind: str
    element: Any
    fragment: str
    run: str

    @property
    def id(self) -> str:
        """Of a widget; ends with the key that the page gave it."""
        return str(getattr(self.element, "id", ""))

    @property
    def text(self) -> str:
        """What it says: the body, or the label of a widget."""
        return str(getattr(self.element, "body", "") or getattr(self.element, "label", ""))


@dataclass
class Window:
    """One open page. Everything that acts returns the seconds until the server had drawn the whole page anew.

    query: of the address, kept as the server changes it. errors: what the pages showed in red. redrawn: seconds that each
    fragment took that draws itself anew.
    """

    url: str
    page: str = ""
    query: str = ""
    shown: dict[tuple[int, ...], Shown] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    redrawn: list[float] = field(default_factory=list)
    received: int = 0
    _hash: str = ""
    _drawing: str = ""
    _values: dict[str, WidgetState] = field(default_factory=dict)
    _timers: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _asked: dict[str, float] = field(default_factory=dict)
    _done: "asyncio.Future[None] | None" = None
    _socket: ClientConnection | None = None
    _reader: "asyncio.Task[None] | None" = None

    async def __aenter__(self) -> Self:
        place = urlsplit(self.url)
        self._socket = await connect(
            f"ws://{place.netloc}/_stcore/stream",
            subprotocols=["streamlit"],  # type: ignore[list-item]
            origin=self.url,  # type: ignore[arg-type]
            max_size=None,
            compression=None,
            open_timeout=WAIT_SECONDS,
            ping_timeout=None,
        )
        self._reader = asyncio.create_task(self._read(self._socket))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop_timers()
        if self._socket is not None:
            await self._socket.close()
        if self._reader is not None:
            await asyncio.gather(self._reader, return_exceptions=True)

    # --- what a person does ------------------------------------------------------------------------

    async def load(self) -> float:
        """Open the page of the address."""
        return await self._run(ClientState(page_name=self.page))

    async def go(self, page: str) -> float:
        """Follow the menu to another page."""
        self._hash = self.pages[page]
        self.page = page
        return await self._run(ClientState(), kept=False)

    async def click(self, name: str) -> float:
        """Press the button with this key or label."""
        button = self.find("button", name)
        if button.element.disabled:
            raise LookupError(f"the button {name!r} is disabled")
        pressed = WidgetState(id=button.id, trigger_value=True)
        return await self._run(ClientState(fragment_id=button.fragment), pressed)

    async def choose(self, name: str, text: str) -> float:
        """Choose this option of a radio group."""
        radio = self.find("radio", name)
        self._values[radio.id] = WidgetState(id=radio.id, string_value=text)
        return await self._run(ClientState(fragment_id=radio.fragment))

    async def write(self, name: str, text: str) -> float:
        """Write a text and leave the field."""
        self.fill(name, text)
        return await self._run(ClientState())

    def fill(self, name: str, text: str) -> None:
        """Write a text into a field of a form, which is sent with the form."""
        widget = self.find("text_input", name)
        self._values[widget.id] = WidgetState(id=widget.id, string_value=text)

    # --- what a person sees ------------------------------------------------------------------------

    def find(self, kind: str, name: str) -> Shown:
        """The element of a kind with this key or text. LookupError: the page does not show it."""
        for one in self.all(kind):
            if one.id.endswith(f"-{name}") or one.text == name:
                return one
        there = ", ".join(sorted({one.text or one.id for one in self.all(kind)})) or "none"
        raise LookupError(f"no {kind} {name!r} on {self.page or 'the first page'}; there: {there}")

    def has(self, kind: str, name: str) -> bool:
        """Whether the page shows it."""
        return any(one.id.endswith(f"-{name}") or one.text == name for one in self.all(kind))

    def all(self, kind: str) -> Iterator[Shown]:
        """All elements of a kind."""
        return (one for one in list(self.shown.values()) if one.kind == kind)

    # --- the protocol ------------------------------------------------------------------------------

    async def _run(self, state: ClientState, *extra: WidgetState, kept: bool = True) -> float:
        """Ask for a run and wait until the whole page is there."""
        if not kept:
            self._values.clear()
        self._done = asyncio.get_running_loop().create_future()
        begun = time.perf_counter()
        await self._send(state, *extra)
        await asyncio.wait_for(self._done, WAIT_SECONDS)
        return time.perf_counter() - begun

    async def _send(self, state: ClientState, *extra: WidgetState) -> None:
        state.query_string = self.query
        state.page_script_hash = self._hash
        state.widget_states.widgets.extend([*self._values.values(), *extra])
        state.context_info.timezone = "UTC"
        state.context_info.locale = "en"
        state.context_info.url = f"{self.url}/{self.page}"
        if self._socket is None:
            raise ValueError("the window is not open")
        await self._socket.send(BackMsg(rerun_script=state).SerializeToString())

    async def _read(self, socket: ClientConnection) -> None:
        try:
            async for data in socket:
                if isinstance(data, bytes):
                    self.received += len(data)
                    message = ForwardMsg()
                    message.ParseFromString(data)
                    self._take(message)
        except ConnectionClosed as closed:
            if self._done is not None and not self._done.done():
                self._done.set_exception(closed)

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        fragments = list(message.metadata.run.fragment_ids)
        if kind == "new_session":
            self._hash = message.new_session.page_script_hash
            self._drawing = message.metadata.run.script_run_id
            if not fragments:
                self._stop_timers()
        elif kind == "navigation":
            self._hash = message.navigation.page_script_hash
            self.pages = {
                page.url_pathname: page.page_script_hash for page in message.navigation.app_pages
            }
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            self._repeat(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                self._stop_timer(fragment)
        elif kind == "delta":
            self._show(tuple(message.metadata.delta_path), message.delta)
        elif kind == "script_finished" and message.script_finished != RERUN_SOON:
            self._finish(message.script_finished == WHOLE_PAGE, fragments)

    def _show(self, path: tuple[int, ...], delta: Any) -> None:
        if delta.WhichOneof("type") != "new_element":
            self.shown.pop(path, None)
            return
        kind = delta.new_element.WhichOneof("type")
        element = getattr(delta.new_element, kind) if kind else None
        self.shown[path] = Shown(kind or "", element, delta.fragment_id, self._drawing)
        if kind == "exception":
            self.errors.append(f"{element.type}: {element.message}")
        elif kind == "alert" and element.format == element.ERROR:
            self.errors.append(element.body)

    def _finish(self, whole: bool, fragments: list[str]) -> None:
        """What this run has not drawn again is gone."""
        for path, one in list(self.shown.items()):
            if one.run != self._drawing and (whole or one.fragment in fragments):
                del self.shown[path]
        for fragment in fragments:
            if fragment in self._asked:
                self.redrawn.append(time.perf_counter() - self._asked.pop(fragment))
        if whole and self._done is not None and not self._done.done():
            self._done.set_result(None)

    def _repeat(self, fragment: str, seconds: float) -> None:
        async def again() -> None:
            while True:
                await asyncio.sleep(seconds)
                self._asked.setdefault(fragment, time.perf_counter())
                await self._send(ClientState(fragment_id=fragment, is_auto_rerun=True))

        self._stop_timer(fragment)
        self._timers[fragment] = asyncio.create_task(again())

    def _stop_timer(self, fragment: str) -> None:
        self._asked.pop(fragment, None)
        if timer := self._timers.pop(fragment, None):
            timer.cancel()

    def _stop_timers(self) -> None:
        for fragment in list(self._timers):
            self._stop_timer(fragment)


def query(**values: str) -> str:
    """Values as the query of an address."""
    return urlencode(values)

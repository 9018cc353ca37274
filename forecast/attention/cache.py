"""Keys and values of attention: projected once, and kept while decoding for as long as any query may see them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from forecast.attention.patterns import Local, Pattern


@dataclass(frozen=True, eq=False)
class KeysValues:
    """Keys [batch, head, key, key_dim] and values [batch, head, key, value_dim] of the same positions."""

    keys: Tensor
    values: Tensor

    def between(self, first: int, last: int) -> "KeysValues":
        """Give views of the positions from `first` to before `last`."""
        return KeysValues(self.keys[:, :, first:last], self.values[:, :, first:last])

    def write(self, new: "KeysValues", *, first: int) -> None:
        """Copy positions to where they begin."""
        last = first + new.keys.shape[2]
        self.keys[:, :, first:last] = new.keys
        self.values[:, :, first:last] = new.values

    def repeated(self, times: int) -> "KeysValues":
        """Give each row of the batch several times, one copy beside the other."""
        return KeysValues(self.keys.repeat_interleave(times, dim=0), self.values.repeat_interleave(times, dim=0))

    def room(self, size: int) -> "KeysValues":
        """Give unwritten room for `size` positions of the same kind."""
        return KeysValues(_room(self.keys, size), _room(self.values, size))


class Cache(ABC):
    """Holds what later queries may see, in the order of time and in one piece."""

    _room: KeysValues | None = None

    @abstractmethod
    def append(self, new: KeysValues) -> KeysValues:
        """Take new positions and give all that their queries may see, themselves last.

        What is given are views: they hold until the next call.
        """

    def repeat(self, times: int) -> None:
        """Let each row of the batch become several that share their past, one beside the other."""
        if self._room is not None and times > 1:
            self._room = self._room.repeated(times)


class FullCache(Cache):
    """Room for the keys and values of `capacity` positions, filled from the left as decoding goes on."""

    def __init__(self, capacity: int):
        self.capacity = capacity
        self.length = 0

    def append(self, new: KeysValues) -> KeysValues:
        """Write new positions behind those held; nothing is copied but the new ones."""
        room = self._room = self._room or new.room(self.capacity)
        first, self.length = self.length, self.length + new.keys.shape[2]
        assert self.length <= self.capacity, "a cache is asked for with room for all that will be decoded"
        room.write(new, first=first)
        return room.between(0, self.length)


class RingCache(Cache):
    """The newest `left` positions and those just appended: all that a window sees, however long decoding goes on.

    A buffer of two windows is written forward; once it is full, the newest window moves back to its beginning. So keys
    stay in order and in one piece, and on average each is copied twice.
    """

    def __init__(self, left: int):
        self.left = left
        self.size = 2 * (left + 1)
        self.end = 0

    def append(self, new: KeysValues) -> KeysValues:
        """Write new positions behind those held, and give none that the oldest of them does not see."""
        room = self._room = self._room or new.room(self.size)
        count = new.keys.shape[2]
        if count > self.size - self.left:
            return self._pass_through(room, new)
        if self.end + count > self.size:
            self._keep(self._held(room))
        room.write(new, first=self.end)
        self.end += count
        return room.between(max(0, self.end - count - self.left), self.end)

    def _pass_through(self, room: KeysValues, new: KeysValues) -> KeysValues:
        """Take more positions than there is room for: only the newest are kept."""
        held = self._held(room)
        seen = KeysValues(torch.cat([held.keys, new.keys], dim=2), torch.cat([held.values, new.values], dim=2))
        total = seen.keys.shape[2]
        self._keep(seen.between(total - self.left, total))
        return seen

    def _held(self, room: KeysValues) -> KeysValues:
        return room.between(max(0, self.end - self.left), self.end)

    def _keep(self, held: KeysValues) -> None:
        """Move positions to the beginning of the buffer, which they may overlap."""
        assert self._room is not None, "there is room from the first position on"
        self._room.write(KeysValues(held.keys.clone(), held.values.clone()), first=0)
        self.end = held.keys.shape[2]


def cache_for(pattern: Pattern, *, capacity: int) -> Cache:
    """Give an empty cache for at most `capacity` positions that look at each other in a pattern which hides the future.

    A window needs the newest keys alone. Every other pattern may ask for any: a sparse one for its first tokens, or
    for a block far back.
    """
    if isinstance(pattern, Local) and 2 * (pattern.left + 1) < capacity:
        return RingCache(pattern.left)
    return FullCache(capacity)


def _room(like: Tensor, size: int) -> Tensor:
    batch, heads, _, width = like.shape
    return like.new_empty(batch, heads, size, width)

"""Keys and values of attention: projected once, and kept in pre-allocated room while decoding."""

from dataclasses import dataclass
from typing import Self

from torch import Tensor


@dataclass(frozen=True, eq=False)
class KeysValues:
    """Keys [batch, head, key, key_dim] and values [batch, head, key, value_dim] of the same positions."""

    keys: Tensor
    values: Tensor


class Cache:
    """Room for the keys and values of `capacity` positions, filled from the left as decoding goes on."""

    def __init__(self, capacity: int):
        self.capacity = capacity
        self.length = 0
        self._room: KeysValues | None = None

    def append(self, new: KeysValues) -> KeysValues:
        """Write new positions behind those held and give views of all; nothing is copied but the new ones."""
        room = self._room = self._room or self._allocate(new)
        first, self.length = self.length, self.length + new.keys.shape[2]
        room.keys[:, :, first : self.length] = new.keys
        room.values[:, :, first : self.length] = new.values
        return KeysValues(room.keys[:, :, : self.length], room.values[:, :, : self.length])

    def _allocate(self, like: KeysValues) -> KeysValues:
        return KeysValues(self._room_for(like.keys), self._room_for(like.values))

    def _room_for(self, new: Tensor) -> Tensor:
        batch, heads, _, width = new.shape
        return new.new_empty(batch, heads, self.capacity, width)

    @classmethod
    def for_layers(cls, num_layers: int, *, capacity: int) -> list[Self]:
        """Give one empty cache a layer."""
        return [cls(capacity) for _ in range(num_layers)]

"""Arrays that grow on disk: `.npy` files, written row after row, that come out as `numpy.save` would write them."""

from pathlib import Path
from typing import Self

import numpy as np
from jaxtyping import Shaped

from forecast.frames.vocabulary import Table, recode

CHUNK = 1 << 20  # rows held at a time


class GrowingArray:
    """One `.npy` file, complete once it is closed."""

    def __init__(self, file: Path, *, dtype: str, row_shape: tuple[int, ...] = ()):
        self.file = file
        self.dtype = np.dtype(dtype)
        self.row_shape = row_shape
        self.num_rows = 0
        self._content = file.open("w+b")
        self._write_header()

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of what is written by now."""
        return (self.num_rows, *self.row_shape)

    def append(self, rows: Shaped[np.ndarray, " row *column"], *, table: Table | None = None) -> Self:
        """Write rows at the end, a chunk at a time; with a table, as codes that it replaces."""
        assert rows.shape[1:] == self.row_shape, f"{self.file.name} has rows of {self.row_shape}, not {rows.shape[1:]}"
        for start in range(0, len(rows), CHUNK):
            chunk = rows[start : start + CHUNK]
            chunk = chunk if table is None else recode(chunk, table)
            self._content.write(chunk.astype(self.dtype, copy=False).tobytes())
        self.num_rows += len(rows)
        return self

    def append_ones(self, count: int) -> Self:
        """Write rows of ones at the end."""
        for start in range(0, count, CHUNK):
            self.append(np.ones((min(CHUNK, count - start), *self.row_shape), dtype=self.dtype))
        return self

    def close(self) -> None:
        """Complete the file; once more does no harm."""
        if not self._content.closed:
            self._content.seek(0)
            self._write_header()
            self._content.close()

    def _write_header(self) -> None:
        # numpy leaves room for the first axis to grow, so that the header stays as long as it is.
        header = {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": self.shape}
        np.lib.format.write_array_header_1_0(self._content, header)


def recode_file(file: Path, table: Table, *, column: int | None = None) -> None:
    """Replace the codes in a complete file, in one of its columns where it has several."""
    codes = np.load(file, mmap_mode="r+")
    codes = codes if column is None else codes[:, column]
    for start in range(0, len(codes), CHUNK):
        codes[start : start + CHUNK] = recode(codes[start : start + CHUNK], table)

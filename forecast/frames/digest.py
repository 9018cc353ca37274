"""A digest of a panel's whole content: ids, values, gaps and stamps; equal for equal data whatever frame held it."""

import hashlib
import json

import numpy as np

from forecast.frames.panel import Panel

NUM_CHARACTERS = 32  # MLflow keeps 36; 128 bits tell data sets apart


def panel_digest(panel: Panel) -> str:
    """Give 32 hexadecimal digits that change with any id, value, mask, stamp, frequency, zone, or the series' order."""
    origins = panel.axis.origins
    names = [panel.axis.frequency.text, panel.axis.zone, *panel.ids]
    content = hashlib.sha256(json.dumps(names).encode())
    content.update(panel.values.astype("<f8").tobytes())
    content.update(np.packbits(panel.observed).tobytes())
    for whole_numbers in (panel.offsets, origins.places, origins.times_of_day, origins.month_days):
        content.update(whole_numbers.astype("<i8").tobytes())
    return content.hexdigest()[:NUM_CHARACTERS]

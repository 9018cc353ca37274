"""Show what the data floor promises: one line an item. QUICK=1 gives smaller forms, each of which says so."""

import sys

from benchmarks.contract_table import show_contract
from benchmarks.covariates_matter import show_covariates
from benchmarks.padding import show_padding
from benchmarks.peer_loaders import show_peers
from benchmarks.postgres_source import show_postgres
from benchmarks.ray_scale import show_ray
from benchmarks.real_files import show_real_files
from benchmarks.shown import report
from benchmarks.windows_at_scale import show_windows

PARTS = (
    show_contract,
    show_real_files,
    show_covariates,
    show_windows,
    show_peers,
    show_padding,
    show_postgres,
    show_ray,
)


def main() -> int:
    """Show everything and give the exit status: 0 where nothing was missed."""
    return 0 if report(PARTS) else 1


if __name__ == "__main__":
    sys.exit(main())

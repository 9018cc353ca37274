"""Every figure that the README states, each by one command, against peers or bounds in the same run."""

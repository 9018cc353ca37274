"""Longcast's model library: series in, forecasts out. Knows torch; knows no HTTP, schedule, database or Ray."""

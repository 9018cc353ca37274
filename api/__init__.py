"""The service: HTTP in, forecasts out. Knows no training; meets the pipelines only in the registry and the artifact."""

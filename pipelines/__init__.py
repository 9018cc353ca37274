"""The offline house: tables in, windows cut, models trained, backtested and promoted."""

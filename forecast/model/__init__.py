"""The encoder-decoder Transformer over patches of a series."""

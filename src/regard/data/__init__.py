"""Raw files → examples → ids → batches."""

"""Files in: bytes to a table, a table to rows that are gold, pairs, sentences, NLI pairs or triplets."""

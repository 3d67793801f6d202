"""A used-vehicle marketplace's day, made from a seed: files that land, and the truth about them.

The same seed and size give the same rows everywhere, whatever the clock, the locale or the hash
seed. The files are the same bytes, too, wherever zlib and pyarrow are of the same version: gzip
and Parquet files carry the marks of what wrote them.
"""

"""Files larger than memory: rows are brought together by user in parts that fit, and read part by part."""

"""Structure-aware damage for documents and chunks, in reproducible numbers; `ci/fuzz.sh` runs it at length.

Read first: `cases` (what a case is, how it is judged and reported), then `documents` and `payloads`.
"""

EXTRA_DIST += %D%/README.md
EXTRA_DIST += %D%/pyproject.toml
EXTRA_DIST += %D%/tutti/__init__.py
EXTRA_DIST += %D%/tutti/_library.py
EXTRA_DIST += %D%/tutti/_rows.py
EXTRA_DIST += %D%/tutti/model.py
EXTRA_DIST += %D%/tutti/run.py

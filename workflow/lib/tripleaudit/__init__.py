"""tripleaudit: audit relational-triple extraction, from raw corpus to paper-style tables."""

__version__ = "0.2.0"

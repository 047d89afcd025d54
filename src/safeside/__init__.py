"""Publish "at most t known infected people were here", never be wrong, and protect everybody in the data.

What the package offers stands in `__init__.pyi`, for type checkers and for this file alike. Each name is
loaded when it is first used: whoever counts visits does not wait for the audit, nor hold it in memory.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

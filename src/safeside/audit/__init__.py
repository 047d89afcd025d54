"""Exact enumeration of ordered neighbours and of transcripts, and statistical tests of samplers.

For a mechanism of your own: `audit_mechanism`; for a sequence of answers with a rule that stops:
`audit_procedure`; for something that draws: `SamplerTest`. docs/audit.md shows each in a few lines.
"""

from safeside.audit.channel import Independent
from safeside.audit.exact import audit_mechanism
from safeside.audit.statistical import SamplerTest
from safeside.audit.transcripts import Procedure, Statement, announce, audit_procedure, hide, publish

__all__ = [
    "Independent",
    "Procedure",
    "SamplerTest",
    "Statement",
    "announce",
    "audit_mechanism",
    "audit_procedure",
    "hide",
    "publish",
]

"""A recipe as a Python script that needs sentence-transformers and nothing of the workbench.

The script is put together of the pieces that its recipe needs, so that it can be read from top to bottom.
"""

from augsbert_core.scripts.bi_encoder import BiEncoderScript, bi_encoder_script
from augsbert_core.scripts.cross_encoder import CrossEncoderScript, cross_encoder_script

__all__ = ["BiEncoderScript", "CrossEncoderScript", "bi_encoder_script", "cross_encoder_script"]

"""Writes `outlines.txt`: the glyphs of `DejaVuSans-subset.ttf` as lines of text (with fontTools 4.68 or later).

A line is a character, its glyph's number in the font, its advance, and its outline: `M x y` begins a contour,
`L x y` is a line, `Q cx cy x y` a quadratic curve. All in the font's units, y upwards.
"""

import hashlib
import pathlib

from fontTools.pens.basePen import BasePen
from fontTools.ttLib import TTFont

FOLDER = pathlib.Path(__file__).parent
FONT = FOLDER / "DejaVuSans-subset.ttf"


class Words(BasePen):
    """An outline as words."""

    def __init__(self, glyphs):
        super().__init__(glyphs)
        self.words = []

    def add(self, command, *points):
        self.words.append(command)
        self.words += [f"{value:g}" for point in points for value in point]

    def _moveTo(self, to):
        self.add("M", to)

    def _lineTo(self, to):
        self.add("L", to)

    def _qCurveToOne(self, control, to):
        self.add("Q", control, to)


font = TTFont(FONT)
glyphs = font.getGlyphSet()
lines = [
    f"font {FONT.name}",
    f"sha256 {hashlib.sha256(FONT.read_bytes()).hexdigest()}",
    f"units_per_em {font['head'].unitsPerEm}",
]
for code, name in sorted(font.getBestCmap().items()):
    pen = Words(glyphs)
    glyphs[name].draw(pen)
    words = [f"U+{code:04X}", str(font.getGlyphID(name)), str(font["hmtx"][name][0]), *pen.words]
    lines.append(" ".join(words))
(FOLDER / "outlines.txt").write_text("\n".join(lines) + "\n", encoding="ascii")

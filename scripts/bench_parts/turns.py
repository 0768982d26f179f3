"""Loops that turn more and more often."""
from . import text

TITLE = 'Growth with trip counts'
FAMILIES = {
    'section': 'load, compute, store over two FIFOs',
    'rates': 'two pages pushed a turn, one popped',
    'nest': 'a loop in a loop',
}
COUNTS = tuple(10 ** k for k in range(1, 10))
SECONDS = 120


def measure(bench):
    return [{'family': family, 'turns': count, **bench.measured((family, count), SECONDS)}
            for family in FAMILIES for count in bench.upto(COUNTS, (10, 10 ** 9))]


def slowest_growth(rows):
    """The largest exponent over the families, of certifying with turns; None where some count is not decided."""
    if any(row.get('verdict') != 'certified' or 'ended' in row for row in rows):
        return None
    fits = [text.exponent([(r['turns'], text.certifying(r)) for r in rows if r['family'] == family], 100)
            for family in FAMILIES]
    return max(fits, default=None) if None not in fits else None


def render(rows):
    by = {(row['family'], row['turns']): row for row in rows}
    counts = sorted({row['turns'] for row in rows})

    def cells(family, count):
        row = by.get((family, count), {})
        return text.outcome(row), text.seconds(text.certifying(row)), text.seconds(text.rechecking(row))

    head = [column for family in FAMILIES for column in (FAMILIES[family], 'certify', 'recheck')]
    return [f'One section of 8 to 17 op texts, whatever the trip count. At most {SECONDS} CPU seconds per program.', '',
            *text.table(['turns', *head],
                        [[text.count(count), *(cell for family in FAMILIES for cell in cells(family, count))]
                         for count in counts]),
            *text.why_undecided(rows)]

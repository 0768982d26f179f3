"""Fits, and figures as a reader wants them."""
import math
import statistics


def exponent(points, least=0):
    """Slope of log(y) over log(x) from x = least on, by least squares; None if there are too few points."""
    logs = [(math.log(x), math.log(y)) for x, y in points if x >= least and y > 0]
    if len(logs) < 2:
        return None
    x0, y0 = (statistics.fmean(values) for values in zip(*logs))
    return sum((x - x0) * (y - y0) for x, y in logs) / sum((x - x0) ** 2 for x, _ in logs)


def fitted(value):
    return 'n/a' if value is None else f'{value:.2f}'


def figure(value):
    """Three digits, no exponent."""
    if value is None:
        return ''
    if value < 0.0001:
        return '0' if value == 0 else '< 0.0001'
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f'{round(value, digits):,.{min(digits, 4)}f}'


def seconds(value):
    return '' if value is None else figure(value) + ' s'


def count(value):
    return '' if value is None else f'{value:,.0f}'


def ratio(value, base):
    """How many times `base`."""
    return '' if value is None or not base else f'{value / base:.{1 if value / base < 10 else 0}f}'


def table(head, rows):
    """Lines of a Markdown table."""
    return ['| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head),
            *('| ' + ' | '.join(str(cell) for cell in row) + ' |' for row in rows)]


def certifying(row):
    """CPU seconds of certifying without the digest, or None."""
    return max(row['certify'] - row['digest'], 1e-6) if 'certify' in row else None


def rechecking(row):
    return max(row['recheck'] - row['digest'], 1e-6) if 'recheck' in row else None


def outcome(row):
    return row.get('ended') or row.get('verdict', '')


def why_undecided(rows):
    """A paragraph with the first reason that the report of an undecided program gives, if any is."""
    for row in rows:
        if row.get('verdict') == 'undecided':
            return ['', f'Undecided, for example `{row["line"]}`.']
    return []

"""What the figures have to reach, and whether they do: computed from the other parts, never measured."""
from . import composer, growth, monolithic, text, turns, workers

TITLE = 'Targets'


class Target:
    """`figures`: (name, value or None, limit, format). Met if there are figures and each is at most its limit."""

    def __init__(self, what, figures):
        self.what = what
        self.figures = figures

    def cells(self):
        known = bool(self.figures) and all(value is not None for _, value, _, _ in self.figures)
        met = known and all(value <= limit for _, value, limit, _ in self.figures)
        found = '; '.join(f'{name} {"not decided" if value is None else form.format(value)}'.strip()
                          for name, value, _, form in self.figures).replace('; with', ' with')
        return self.what, found or 'not measured', 'met' if met else '**not yet**'


def flat(rows):
    row = next((r for r in rows if r['family'] == 'composed' and r['size'] == growth.LARGE_COMPOSED), {})
    read = row.get('read')

    def times(spent):
        return spent / read if spent and read else None

    return [
        Target('certify a program of 5 million op texts (sections on four chips) in at most 3 x read, with at most 120 bytes per op '
               'above the parsed program',
               [('', times(text.certifying(row)), 3, '{:.1f} x read'),
                ('', growth.memory_per_op(row, 'certify_peak_bytes'), 120, '{:.0f} bytes per op')]),
        Target('recheck it in at most 1 x read', [('', times(text.rechecking(row)), 1, '{:.1f} x read')]),
    ]


def growing(rows):
    return [Target('certifying grows with ops from 10^5 to 10^7 by an exponent of at most 1.05',
                   [(family, growth.growth(rows, family, text.certifying, 90_000), 1.05, '{:.2f}') for family in growth.FAMILIES])]


def turning(rows):
    return [Target('certifying does not grow with trip counts up to 10^9 (exponent at most 0.05)',
                   [('', turns.slowest_growth(rows), 0.05, 'exponent {:.2f}')])]


def compared(rows):
    row = next((r for r in rows if r['size'] == 30_000), None)
    factor = monolithic.times(row, 'query', 'potentials') if row else None
    # At least 100 times faster: at most a hundredth of the time.
    share = 1 / factor if factor else None
    return [Target('at 30,000 ops of the FIFO pipeline certifying takes at most 1/100 of one monolithic query',
                   [('', share, 0.01, f'1/{factor:.0f}' if factor else '')])]


def composing(rows):
    figures = []
    for step, shape in composer.SHAPES:
        mine = composer.of(rows, step, shape)
        if step == 'phase_order' and mine and mine[-1]['size'] == 1_000_000:
            figures.append((shape, mine[-1]['ms'] / 1000, 2, '{:.2f} s'))
            figures.append(('', text.exponent([(r['ops'], r['ms']) for r in mine], 2500), 1.1, 'with exponent {:.2f}'))
    return [Target('`phase_order` of 10^6 sections is linear (exponent at most 1.1) and takes at most 2 s', figures)]


def handing(rows):
    figures = []
    for kind, name in (('loop', 'as loops'), ('text', 'as text')):
        row = workers.million(rows, kind) or {}
        sure = row.get('verdict') == 'certified'
        figures += [(name, text.certifying(row) if sure else None, 3, '{:.2f} CPU s'),
                    ('with', workers.peak(row) / 1e9 if sure else None, 0.6, '{:.2f} GB')]
    return [Target('10^6 hand-offs among 16 workers in at most 3 CPU s and 0.6 GB', figures),
            Target('certifying grows with workers, 16 to 4,096, by an exponent of at most 1.1',
                   [('', workers.growth(rows), 1.1, '{:.2f}')])]


def render(parts):
    """`parts`: name to rows."""
    found = []
    for name, make in (('growth', flat), ('growth', growing), ('turns', turning), ('monolithic', compared),
                       ('composer', composing), ('workers', handing)):
        found += make(parts[name]) if name in parts else []
    return found and ['Set beforehand, and computed from the figures below.', '',
                      *text.table(('target', 'figure', ''), [target.cells() for target in found])]

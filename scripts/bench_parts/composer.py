"""The composer, from Google Benchmark."""
from . import text
from .steps import medians

TITLE = 'The composer'
SHAPES = {
    ('phase_order', 'layers'): '`phase_order`, layers of a model on eight chips, every sixteenth section gathers',
    ('phase_order', 'sequences'): '`phase_order`, independent sequences behind one section of all chips',
    ('phase_order', 'turns'): '`phase_order`, two chips busy in turns, then sections that need both',
    ('compose', 'chains'): '`compose`, four chains of sections (size: ops)',
}
SIZES = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


def measure(bench):
    sizes = '|'.join(str(size) for size in bench.upto(SIZES, (1000,)))
    return medians(bench.families(f'^(phase_order|compose)/[a-z]+/({sizes})$', 1))


def of(rows, step, family):
    return sorted((r for r in rows if (r['step'], r['family']) == (step, family)), key=lambda r: r['size'])


def render(rows):
    lines = []
    for (step, family), what in SHAPES.items():
        mine = of(rows, step, family)
        if mine:
            lines.append((what, text.count(mine[-1]['ops']), text.seconds(mine[-1]['ms'] / 1000),
                          text.fitted(text.exponent([(r['ops'], r['ms']) for r in mine], 2500))))
    return ['Finding the order of sections and their phases from what they touch, and joining them.', '',
            *text.table(('what', 'sections', 'CPU', 'exponent'), lines)]

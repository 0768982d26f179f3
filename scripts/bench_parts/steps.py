"""What every step costs, from Google Benchmark."""
import statistics

from . import text

TITLE = 'Every step'
FAMILIES = ('ring', 'pipeline', 'composed')
SIZES = (3000, 10_000, 30_000, 100_000, 300_000)
REPEATED = 100_000  # the largest size that is measured three times


def measure(bench):
    sizes = bench.upto(SIZES, (1000,))
    steps = f'(read|{bench.only})' if bench.only else '[a-z_]+'
    found = []
    for chosen, repetitions in (([s for s in sizes if s <= REPEATED], 1 if bench.smoke else 3),
                                ([s for s in sizes if s > REPEATED], 1)):
        if chosen:
            names = f'^{steps}/({"|".join(FAMILIES)})/({"|".join(map(str, chosen))})$'
            found += bench.families(names, repetitions)
    return medians(found)


def medians(found):
    """A row per benchmark: step, family, size, CPU milliseconds, counts."""
    runs = {}
    for b in found:
        runs.setdefault(tuple(b['name'].split('/')[:3]), []).append(b)
    rows = []
    for (step, family, size), repeated in runs.items():
        kept = ('ops', 'allocations', 'allocated', 'queries', 'z3_units', 'certificate', 'bytes_per_second')
        rows.append({'step': step, 'family': family, 'size': int(size),
                     'ms': round(statistics.median(b['cpu_time'] for b in repeated), 4),
                     **{name: round(repeated[0][name]) for name in kept if name in repeated[0]}})
    return rows


def render(rows):
    out = ['Steps of the pipeline in one process, at the largest size; the exponent is fitted over all sizes from 3,000 ops. '
           '`prove_` is a rule\'s search with Z3, `check_` the check of its witness without; `translate` is unrolling, net and '
           'accesses together, `total` everything after reading. Every rule is asked here, also one that certifying would leave '
           'out because nothing in the program is its matter (`shard` and, without a postcondition, `reduction`).']
    for family in FAMILIES:
        mine = {}
        for row in rows:
            if row['family'] == family:
                mine.setdefault(row['step'], []).append(row)
        if 'read' not in mine:
            continue
        read = max(mine['read'], key=lambda r: r['size'])
        out += ['', f'**{family}, {read["ops"]:,} ops, read at {read["bytes_per_second"] / 1e6:.0f} MB/s**', '']
        lines = []
        for step, sized in mine.items():
            last = max(sized, key=lambda r: r['size'])
            fit = text.exponent([(r['ops'], r['ms']) for r in sized], 2500)
            per_op = [f'{last[name] / last["ops"]:.2f}' if name in last else '' for name in ('allocations', 'z3_units')]
            lines.append((f'`{step}`', text.seconds(last['ms'] / 1000), f'{last["ms"] / read["ms"]:.2f}', text.fitted(fit), per_op[0],
                          f'{last["allocated"] / last["ops"]:.0f}', text.count(last.get('queries')), per_op[1]))
        out += text.table(('step', 'CPU', 'x read', 'exponent', 'allocations per op', 'bytes per op', 'Z3 queries', 'Z3 units per op'),
                          lines)
    return out

"""Programs of growing text."""
from . import text

TITLE = 'Growth with ops'
SIZES = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
FAMILIES = {
    'ring': 'ring all-reduce: many engine programs and FIFOs',
    'pipeline': 'FIFO pipeline: load, compute and store of one site, tile after tile',
    'composed': 'sections of 48 ops in four chains on four chips, a rendezvous after every four',
}
MOST = {'ring': 1_000_000}  # collectives have at most 256 ranks
SUMMARY = (10_000, 100_000, 1_000_000, 10_000_000)
LARGE_COMPOSED = 5_000_000  # the size that a target speaks of
SECONDS = 600


def measure(bench):
    rows = []
    for family in FAMILIES:
        sizes = {size for size in bench.upto(SIZES, (1000,)) if size <= MOST.get(family, size)}
        if family == 'composed' and not bench.smoke:
            sizes.update(bench.upto((LARGE_COMPOSED,), ()))
        for size in sorted(sizes):
            rows.append({'family': family, 'size': size, **bench.measured((family, size), SECONDS)})
            if 'ended' in rows[-1]:
                break  # nor would a larger one
    return rows


def memory_per_op(row, what):
    return max(row[what] - row['parsed_bytes'], 0) / row['ops'] if what in row else None


def growth(rows, family, get, least):
    return text.exponent([(r['ops'], get(r)) for r in rows if r['family'] == family and get(r)], least)


def render(rows):
    out = ['The file has one op text per op, no loops. Memory is the peak above the parsed program.']
    for family, what in FAMILIES.items():
        mine = [row for row in rows if row['family'] == family]
        if not mine:
            continue
        out += ['', f'**{what[0].upper()}{what[1:]}**', '']
        out += text.table(
            ('ops', 'file', 'read', 'digest', 'certify', 'x read', 'Z3 queries', 'memory per op', 'recheck', 'x read',
             'memory per op', 'bytes of certificate', 'outcome'),
            [(text.count(r.get('ops', r['size'])), f'{r.get("file_bytes", 0) / 1e6:,.1f} MB',
              text.seconds(r.get('read')), text.seconds(r.get('digest')),
              text.seconds(text.certifying(r)), text.ratio(text.certifying(r), r.get('read')), text.count(r.get('queries')),
              text.count(memory_per_op(r, 'certify_peak_bytes')), text.seconds(text.rechecking(r)),
              text.ratio(text.rechecking(r), r.get('read')), text.count(memory_per_op(r, 'recheck_peak_bytes')),
              text.count(r.get('certificate_bytes')), text.outcome(r)) for r in mine])
        fits = [f'{name} {text.fitted(growth(rows, family, get, 9000))} from 10,000 ops and '
                f'{text.fitted(growth(rows, family, get, 90_000))} from 100,000'
                for name, get in (('certifying', text.certifying), ('rechecking', text.rechecking))]
        out += ['', f'Exponents: {"; ".join(fits)}.', *text.why_undecided(mine)]
    return out


def summary(rows):
    """The table of the README."""
    lines = []
    for family, what in FAMILIES.items():
        for r in rows:
            if r['family'] == family and r['size'] in SUMMARY and 'recheck' in r:
                lines.append((what.partition(':')[0], text.count(r['ops']), text.seconds(r['read']),
                              text.seconds(text.certifying(r)), text.ratio(text.certifying(r), r['read']),
                              text.count(r['queries']), text.seconds(text.rechecking(r)),
                              text.ratio(text.rechecking(r), r['read']), text.count(r['certificate_bytes'])))
                what = ''
    return text.table(('program', 'ops', 'read', 'certify', 'x read', 'Z3 queries', 'recheck', 'x read', 'bytes of certificate'),
                      lines)

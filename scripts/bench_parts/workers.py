"""A chain of workers that hand on through semaphores."""
from . import text

TITLE = 'Growth with workers'
WORKERS = (16, 64, 256, 1024, 4096)
TURNS = 1000         # of the loop
OPS = 1_000_000      # of the text, at most
HANDOFFS = 1_000_000
AMONG = 16
SECONDS = 120


def handoffs(workers, turns):
    return 2 * (workers - 1) * turns


def ops_of_turn(workers):
    return 5 * workers - 4


def measure(bench):
    loop_turns, most = (10, 2000) if bench.smoke else (TURNS, OPS)
    rows = []

    def add(kind, workers, turns):
        rows.append({'kind': kind, 'workers': workers, 'turns': turns,
                     **bench.measured((f'workers-{kind}', workers, turns), SECONDS)})

    for workers in bench.upto(WORKERS, (16,)):
        add('loop', workers, loop_turns)
        add('text', workers, most // ops_of_turn(workers))
    if not bench.smoke:
        for kind in ('loop', 'text'):
            add(kind, AMONG, -(-HANDOFFS // handoffs(AMONG, 1)))
    return rows


def million(rows, kind):
    """The row of a million hand-offs among 16 workers."""
    return next((r for r in rows if r['kind'] == kind and r['workers'] == AMONG and
                 handoffs(AMONG, r['turns']) >= HANDOFFS), None)


def growing(rows):
    return [r for r in rows if r['kind'] == 'loop' and r['turns'] == TURNS]


def growth(rows):
    """Exponent of certifying with workers, at equal turns; None unless all were certified."""
    mine = growing(rows)
    if any(r.get('verdict') != 'certified' for r in mine):
        return None
    return text.exponent([(r['workers'], text.certifying(r)) for r in mine])


def peak(row):
    return max(row[name] for name in ('certify_peak_bytes', 'recheck_peak_bytes') if name in row)


def render(rows):
    head = ('workers', 'turns', 'hand-offs', 'ops', 'op instances', 'read', 'certify', 'us per hand-off', 'Z3 queries', 'recheck',
            'peak memory', 'outcome')

    def line(r):
        passed = handoffs(r['workers'], r['turns'])
        spent = text.certifying(r)
        return (text.count(r['workers']), text.count(r['turns']), text.count(passed), text.count(r.get('ops')),
                text.count(r.get('transitions')), text.seconds(r.get('read')), text.seconds(spent),
                text.figure(spent * 1e6 / passed) if spent else '', text.count(r.get('queries')),
                text.seconds(text.rechecking(r)),
                f'{peak(r) / 2 ** 20:,.0f} MiB' if 'certify_peak_bytes' in r else '', text.outcome(r))

    out = ['Worker i of a chain takes what worker i-1 left in a buffer and leaves its own: `wait full; wait empty; run; post full; '
           'post empty`, two semaphores between neighbours. A hand-off is a post that a wait needs, `full` or `empty`. '
           f'At most {SECONDS} CPU seconds per program.']
    fit = text.exponent([(r['workers'], text.certifying(r)) for r in growing(rows) if r.get('verdict') == 'certified'])
    out[0] += f' Exponent of certifying the loops with workers, as far as they are certified: {text.fitted(fit)}.'
    for kind, title in (('loop', 'As loops'), ('text', 'Unrolled, as text')):
        out += ['', f'**{title}**', '', *text.table(head, [line(r) for r in rows if r['kind'] == kind])]
    return out + text.why_undecided(rows)

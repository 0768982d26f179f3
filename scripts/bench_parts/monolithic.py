"""Against one query about the whole program."""
from . import text

TITLE = 'Against one monolithic query'
SIZES = (1000, 3000, 10_000, 30_000)
SECONDS = 600


def measure(bench):
    rows = []
    for size in bench.upto(SIZES, (300,)):
        what = ('pipeline', size)
        certified = bench.measured(what, SECONDS)
        query = bench.measured(what, SECONDS, '--potentials')
        whole = bench.measured(what, SECONDS, '--monolithic')
        rows.append({'size': size, 'certified': certified, 'query': query, 'monolithic': whole})
    return rows


def times(row, what, name):
    """How many times slower; the limit where it was not finished."""
    spent = row[what].get(name)
    own = text.certifying(row['certified'])
    return (spent or SECONDS) / own if own else None


def render(rows):
    def spent(row, what, name):
        return text.seconds(row[what].get(name)) if name in row[what] else row[what].get('ended', '')

    def slower(row, what, name):
        more = '' if name in row[what] else 'more than '
        return more + text.ratio(times(row, what, name), 1)

    return ['The FIFO pipeline. *One query*: potentials that prove the whole net live, a variable per op, in one question to the '
            'difference logic of Z3 (`smt.arith.solver=1`, its fastest), the time of the solver alone. `--monolithic`: everything '
            'that certifying asks, without classes and cuts. Certifying asks for all rules, and checks all witnesses.', '',
            *text.table(('ops', 'certify', 'one query', 'x certify', '`--monolithic`', 'x certify'),
                        [(text.count(r['certified'].get('ops')), text.seconds(text.certifying(r['certified'])),
                          spent(r, 'query', 'potentials'), slower(r, 'query', 'potentials'),
                          spent(r, 'monolithic', 'certify'), slower(r, 'monolithic', 'certify')) for r in rows])]

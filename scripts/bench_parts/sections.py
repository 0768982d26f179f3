"""Chains of sections, as compose joins them."""
from . import text

TITLE = 'Growth with sections'
NUMBERS = (10, 30, 100, 300, 1000, 3000, 10_000)
MONOLITHIC = 100
SECONDS = 600


def measure(bench):
    rows = [{'sections': n, **bench.measured(('sections', n), SECONDS)} for n in bench.upto(NUMBERS, (10,))]
    whole = bench.upto((MONOLITHIC,), (2,))
    rows += [{'sections': n, 'monolithic': True, **bench.measured(('sections', n), SECONDS, '--monolithic')} for n in whole]
    return rows


def render(rows):
    cut = [r for r in rows if 'monolithic' not in r]
    out = ['Sections of 28 ops (load, compute and store on two sites, in loops of two turns), a rendezvous of six engine '
           'programs (15 ops) between two. An op of the text is up to two op instances.', '']
    out += text.table(
        ('sections', 'ops', 'op instances', 'places', 'read', 'certify', 'x read', 'Z3 queries', 'recheck', 'x read',
         'bytes of certificate', 'outcome'),
        [(text.count(r['sections']), text.count(r.get('ops')), text.count(r.get('transitions')), text.count(r.get('places')),
          text.seconds(r.get('read')), text.seconds(text.certifying(r)), text.ratio(text.certifying(r), r.get('read')),
          text.count(r.get('queries')), text.seconds(text.rechecking(r)), text.ratio(text.rechecking(r), r.get('read')),
          text.count(r.get('certificate_bytes')), text.outcome(r)) for r in cut])
    fits = [f'{name} {text.fitted(text.exponent([(r["sections"], get(r)) for r in cut if get(r)], 100))}'
            for name, get in (('certifying', text.certifying), ('rechecking', text.rechecking))]
    out += ['', f'Exponents from 100 sections: {", ".join(fits)}.']
    for r in rows:
        if 'monolithic' in r:
            spent = text.seconds(text.certifying(r)) if 'certify' in r else f'({r.get("ended")})'
            out += ['', f'Without classes and cuts (`--monolithic`) {r["sections"]} sections take {spent}. The cuts give up nothing: '
                    'what is impossible in a part of the net is impossible in the net, and the witness that comes out is checked '
                    'as a whole.']
    return out

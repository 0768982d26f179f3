"""Other people's collective algorithms."""
import csv
import os
import pathlib

from . import text
from .run import ROOT, say

TITLE = 'Collective algorithms'
SECONDS = 600


def folder():
    return pathlib.Path(os.environ.get('SPATIALCERT_CORPUS') or ROOT / '../shared/corpus') / 'msccl'


def measure(bench):
    """None where there is no corpus: then what was measured before is kept."""
    if bench.smoke or not (folder() / 'expected.tsv').exists():
        return None
    above, _, up_to = bench.steps.partition(':')
    with open(folder() / 'expected.tsv', encoding='utf-8') as file:
        files = [(int(row['steps']), row['file']) for row in csv.DictReader(file, delimiter='\t')
                 if int(above) < int(row['steps']) <= int(up_to or 10 ** 12)]
    rows = []
    for steps, name in sorted(files):
        say(f'{name}: {steps:,} steps')
        rows += [{'file': pathlib.Path(name).name, 'steps': steps, **row} for row in bench.file(folder() / name, SECONDS)]
    return rows


def render(rows):
    return ['Large algorithms in MSCCL XML, of a corpus that is not part of the repository; placements and message sizes are '
            f'programs of their own. At most {SECONDS} CPU seconds per file.', '',
            *text.table(('file', 'steps', 'ops', 'read', 'certify', 'x read', 'recheck', 'x read', 'certificate, bytes per op',
                         'peak memory', 'outcome'),
                        [(r['file'].split('.')[0], text.count(r['steps']), text.count(r.get('ops')), text.seconds(r.get('read')),
                          text.seconds(text.certifying(r)), text.ratio(text.certifying(r), r.get('read')),
                          text.seconds(text.rechecking(r)), text.ratio(text.rechecking(r), r.get('read')),
                          f'{r["certificate_bytes"] / r["ops"]:.2f}' if 'certificate_bytes' in r else '',
                          f'{r["certify_peak_bytes"] / 2 ** 20:,.0f} MiB' if 'certify_peak_bytes' in r else '',
                          text.outcome(r)) for r in rows])]

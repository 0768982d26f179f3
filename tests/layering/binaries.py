"""binaries.py NM READELF RECHECK SPATIALCERT: what the built `recheck` consists of.

Neither Z3 nor Boost nor a reader of foreign files among its shared libraries, and nothing among its symbols that
searches, proves, asks a solver or imports. `spatialcert` has all of it, which shows that this test would see it.
"""
import re
import subprocess
import sys

LIBRARIES = {'Z3': r'libz3', 'Boost': r'libboost', 'pugixml': r'libpugixml'}
# Boost.Graph is headers only.
LINKED_BY_SPATIALCERT = {'Z3', 'pugixml'}

SYMBOLS = {
    'the solver': r'\bspatialcert::smt::',
    "Z3's interface": r'^(Z3_[a-z]|z3::)',
    'the pipeline': r'\bspatialcert::certify::',
    'a rule that proves': r'\bspatialcert::proofs::\w+::prove\(',
    'the search for places': r'\bspatialcert::ir::(OrderJustifier|justify|justify_periodically|build_net|explain)\b',
    'the search for a subject': r'\bspatialcert::proofs::find_subject\(',
    'an importer': r'\bspatialcert::ir::(import_|msccl|Msccl)',
    'a generator': r'\bspatialcert::compose::',
}
# What it must have, so that it was a binary with names that was looked at.
CHECKS = [r'\bspatialcert::proofs::recheck\(', r'\bspatialcert::ir::check_net\('] + [
    rf'\bspatialcert::proofs::{rule}::check\('
    for rule in ('liveness', 'bounds', 'quiescence', 'ordering', 'flow', 'memory', 'reduction', 'coverage')
]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(readelf, binary):
    return re.findall(r'\(NEEDED\).*\[(.*)\]', output(readelf, '-d', binary))


def loaded(binary):
    """All libraries, those that libraries need included."""
    return [line.split()[0] for line in output('ldd', binary).splitlines()]


def symbols(nm, binary):
    lines = output(nm, '--demangle', '--format=posix', binary).splitlines()
    # NAME TYPE VALUE SIZE, where a name may hold blanks.
    return [re.sub(r' [A-Za-z](?: [0-9a-f]+){0,2} ?$', '', line) for line in lines]


def matching(pattern, names):
    return next((name for name in names if re.search(pattern, name)), None)


def main():
    nm, readelf, recheck, spatialcert = sys.argv[1:]
    problems = []
    libraries = needed(readelf, recheck) + loaded(recheck)
    if not any(name.startswith('libstdc++') for name in libraries):
        problems.append('recheck: no shared library found: this test would not see one')
    for what, pattern in LIBRARIES.items():
        if name := matching(pattern, libraries):
            problems.append(f'recheck: loads {what}: {name}')
        if what in LINKED_BY_SPATIALCERT and not matching(pattern, needed(readelf, spatialcert)):
            problems.append(f'spatialcert: {what} not found: this test would not see it')
    checker, command = symbols(nm, recheck), symbols(nm, spatialcert)
    for what, pattern in SYMBOLS.items():
        if name := matching(pattern, checker):
            problems.append(f'recheck: has {what}: {name}')
        if not matching(pattern, command):
            problems.append(f'spatialcert: {what} not found: this test would not see it')
    problems += [f'recheck: nothing matches {pattern}' for pattern in CHECKS if not matching(pattern, checker)]
    print('\n'.join(problems) or f'{len(set(libraries))} libraries, {len(checker)} symbols, no violation')
    sys.exit(1 if problems else 0)


main()

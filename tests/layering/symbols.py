"""symbols.py NM ARCHIVES: the trusted half is complete without Z3 and the prover.

ARCHIVES has a line `LIBRARY FILE` per static library. Whatever of the project a library uses must be defined in it or
in a library of its layers, and only `smt` may use Z3.
"""
import re
import subprocess
import sys

from layers import LAYERS

# A function of Z3's C interface, or anything in its C++ namespace. (Names such as `z3_...` of our own do not count.)
Z3 = re.compile(r'^Z3_[a-z]|^_Z\w*2z3[0-9]')
OURS = re.compile(r'^_Z\w*11spatialcert')


def symbols(nm, archive):
    """(defined, undefined) names."""
    text = subprocess.run([nm, '--format=posix', archive], check=True, capture_output=True, text=True).stdout
    fields = [line.split() for line in text.splitlines() if not line.endswith(':')]
    undefined = {f[0] for f in fields if len(f) > 1 and f[1] in 'Uvw'}
    defined = {f[0] for f in fields if len(f) > 1 and f[1] not in 'Uvw'}
    return defined, undefined


def main():
    nm, archives = sys.argv[1:]
    lines = [line.split(' ', 1) for line in open(archives).read().splitlines()]
    table = {library: symbols(nm, path) for library, path in lines}
    problems = []
    for library, (defined, undefined) in table.items():
        of_z3 = sorted(s for s in defined | undefined if Z3.match(s))
        if library == 'smt' and not of_z3:
            problems.append('smt: no Z3 symbol found: this test would not see one')
        if library != 'smt' and of_z3:
            problems.append(f'{library}: uses Z3: {of_z3[0]}')
        known = defined.union(*(table[below][0] for below in LAYERS[library]))
        problems += [f'{library}: {s} is defined outside its layers' for s in sorted(undefined - known) if OURS.match(s)]
    print('\n'.join(problems) or f'{len(table)} libraries, no violation')
    sys.exit(1 if problems else 0)


main()

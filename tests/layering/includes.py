"""includes.py SOURCE_DIR MANIFEST: fails on includes that break the layers.

MANIFEST has a line `LIBRARY FILE` for every source and public header. Other files of a folder are private to the
library that has the folder's sources; a test.cpp is a test. First the check is tried on faults planted in a copy of
what it read.
"""
import pathlib
import re
import sys

from layers import LAYERS, NOT_IN_HEADERS, THIRD_PARTIES

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
FOLDERS = ('ir', 'compose', 'smt', 'proofs', 'certify')
EXECUTABLES = {'certify/command': 'command', 'proofs/recheck/main.cpp': 'recheck'}


def read_tree(root):
    """Relative path -> list of (is local, included name)."""
    tree = {}
    for folder in FOLDERS + ('tests', 'bench'):
        for path in sorted((root / folder).rglob('*.[hc]pp')):
            found = INCLUDE.findall(path.read_text())
            tree[str(path.relative_to(root))] = [(quote == '"', name) for quote, name in found]
    return tree


def read_layers(tree, manifest):
    """Relative path -> library, for the files of FOLDERS."""
    layer = dict(reversed(line.split(' ', 1)) for line in manifest.read_text().splitlines())
    of_folder = {}
    for path, library in layer.items():
        if path.endswith('.cpp'):
            of_folder.setdefault(str(pathlib.PurePath(path).parent), library)
    for path in tree:
        folder = str(pathlib.PurePath(path).parent)
        if path in layer or path.endswith('/test.cpp') or not path.startswith(tuple(f + '/' for f in FOLDERS)):
            continue
        layer[path] = EXECUTABLES.get(path, EXECUTABLES.get(folder, of_folder.get(folder, 'no library')))
    return layer


def closure(tree, path):
    """Every local file that `path` includes, directly or not."""
    seen, todo = set(), [path]
    while todo:
        for local, name in tree.get(todo.pop(), []):
            if local and name not in seen:
                seen.add(name)
                todo.append(name)
    return seen


def violations(tree, layer):
    out = []
    for path, includes in tree.items():
        for _, name in includes:
            if path.endswith('.hpp') and name.startswith(NOT_IN_HEADERS):
                out.append(f'{path}: <{name}> does not belong in a header')
        library = layer.get(path)
        if library is None:
            continue
        if library not in LAYERS:
            out.append(f'{path}: {library} is not in tests/layering/layers.py')
            continue
        for local, name in includes:
            for prefix, users in THIRD_PARTIES.items():
                if name.startswith(prefix) and library not in users:
                    out.append(f'{path}: {library} must not include <{name}>')
            if not local:
                continue
            target = layer.get(name)
            if target is None:
                out.append(f'{path}: "{name}" is no file of the project')
            elif target != library and target not in LAYERS[library]:
                out.append(f'{path}: {library} must not include "{name}" of {target}')
        if path.startswith('proofs/') and path.endswith('/check.cpp'):
            for name in sorted(closure(tree, path)):
                if layer.get(name) not in ('proofs_check', 'ir_core'):
                    out.append(f'{path}: a check reaches "{name}" of {layer.get(name)}')
    return out


# (file, is local, include) of one fault each.
PLANTED = [
    ('ir/net.hpp', True, 'compose/collectives/collectives.hpp'),
    ('ir/net.cpp', True, 'ir/program_file.hpp'),
    ('compose/collectives/ring.cpp', True, 'proofs/rules.hpp'),
    ('proofs/liveness/check.cpp', True, 'smt/query.hpp'),
    ('proofs/liveness/check.cpp', True, 'proofs/liveness/cycle.hpp'),
    ('proofs/rules.hpp', True, 'smt/query.hpp'),
    ('proofs/liveness/prove.cpp', False, 'z3++.h'),
    ('smt/query.hpp', False, 'z3++.h'),
    ('ir/net.hpp', False, 'iostream'),
    ('proofs/liveness/cycle.hpp', False, 'boost/graph/adjacency_list.hpp'),
    ('smt/query.cpp', True, 'ir/net.hpp'),
    ('proofs/subject.cpp', True, 'ir/no_such_file.hpp'),
    ('proofs/recheck/main.cpp', True, 'ir/search/justify.hpp'),
    ('proofs/recheck/recheck.cpp', False, 'CLI/CLI.hpp'),
]


def main():
    root, manifest = map(pathlib.Path, sys.argv[1:])
    tree = read_tree(root)
    layer = read_layers(tree, manifest)
    for path, local, name in PLANTED:
        if path not in tree or not violations({**tree, path: tree[path] + [(local, name)]}, layer):
            sys.exit(f'the check does not notice {path} including {name}')
    found = violations(tree, layer)
    print('\n'.join(found) or f'{len(tree)} files, {sum(map(len, tree.values()))} includes, no violation')
    sys.exit(1 if found else 0)


main()

"""suggestions.py SPATIALCERT SOURCE_DIR WORK_DIR: suggestions for every golden program, as the command gives them.

By `certify` and `explain`, as text and as JSON against the schemas, with the files of repaired programs certified again.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

import jsonschema

SPATIALCERT, SOURCE, WORK = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
GOLDEN = sorted((SOURCE / 'tests' / 'golden').glob('*.json'))
SCHEMAS = {name: json.loads((SOURCE / 'docs' / name).read_text()) for name in
           ('report.schema.json', 'counterexample.schema.json', 'explanation.schema.json')}
OUTCOMES = {'certified', 'partial', 'none'}

problems = []


def check(holds, *what):
    if not holds:
        problems.append(' '.join(str(w) for w in what))


def spatialcert(*arguments):
    done = subprocess.run([SPATIALCERT, *map(str, arguments)], capture_output=True, text=True)
    check(done.returncode in (0, 1, 2), arguments, 'ended with', done.returncode, done.stderr)
    return done


def validate(name, document, what):
    resolver = jsonschema.RefResolver(name, SCHEMAS[name], store=SCHEMAS)
    for error in jsonschema.Draft202012Validator(SCHEMAS[name], resolver=resolver).iter_errors(document):
        check(False, what, name, list(error.path), error.message[:200])


def check_costs(name, suggestion):
    """The costs of the steps add up, and are those of the two programs."""
    for key, value in suggestion['cost'].items():
        check(value == sum(step['cost'][key] for step in suggestion['steps']), name, 'cost', key)
    if 'file' not in suggestion:
        return
    before = json.loads((SOURCE / 'tests' / 'golden' / f'{name}.json').read_text())
    after = json.loads(pathlib.Path(suggestion['file']).read_text())
    for key, size in (('semaphores', lambda p: len(p.get('semaphores', []))), ('ops', ops), ('bytes', fifo_bytes),
                      ('operands', operands)):
        check(suggestion['cost'][key] == size(after) - size(before), name, 'costs', key, suggestion['cost'][key],
              'is', size(after) - size(before))


def texts(body):
    for op in body:
        yield op
        for value in op.values():
            if isinstance(value, list) and value and isinstance(value[0], dict) and 'run' not in op:
                yield from texts(value)


def ops(program):
    return sum(1 for engine in program['programs'] for _ in texts(engine['ops']))


def operands(program):
    collective = {s['name'] for s in program.get('stages', []) if s['kind'] == 'allreduce'}
    return sum(len(op.get('reads', [])) for engine in program['programs'] for op in texts(engine['ops'])
               if op.get('run') in collective)


def fifo_bytes(program):
    return sum(b['page_bytes'] * b['pages'] for b in program.get('buffers', []) if b['kind'] == 'fifo')


def check_suggestion(name, suggestion, folder):
    """Its file is what it says, and is certified if it says so."""
    outcome = suggestion['outcome']
    check(suggestion['text'].startswith('suggestion: '), name, 'text', suggestion['text'][:40])
    check(('steps' in suggestion and bool(suggestion['steps'])) == (outcome != 'none'), name, 'steps of', outcome)
    written = sorted(p.name for p in folder.glob(f'{name}.*.json'))
    expected = {'certified': [f'{name}.repaired.json'], 'partial': [f'{name}.partial.json'], 'none': []}[outcome]
    check(written == expected, name, outcome, 'wrote', written)
    if outcome == 'none':
        check('no repair found' in suggestion['text'], name, 'does not say that there is none')
        check('file' not in suggestion and 'digest' not in suggestion, name, 'has a file of nothing')
        check(suggestion['tried'] or suggestion['obstacles'], name, 'says nothing of why')
        return
    check(suggestion['file'] == str(folder / expected[0]), name, 'file', suggestion['file'])
    again = spatialcert('certify', '--format', 'json', suggestion['file'])
    check((again.returncode == 0) == (outcome == 'certified'), suggestion['file'], 'certify:', again.returncode)
    check(json.loads(again.stdout)['programs'][0]['digest'] == suggestion['digest'], name, 'digest')
    check(('remaining' in suggestion) == (outcome == 'partial'), name, 'remaining')
    check_costs(name, suggestion)


def by_certify():
    seen = {}
    for jobs in (1, 4):
        folder = WORK / 'certify'
        shutil.rmtree(folder, ignore_errors=True)
        json_run = spatialcert('certify', '--format', 'json', '-j', jobs, '--suggest-to', folder, *GOLDEN)
        report = json.loads(json_run.stdout)
        validate('report.schema.json', report, 'the report')
        text_run = spatialcert('certify', '-j', jobs, '--suggest', *GOLDEN)
        plain = spatialcert('certify', '-j', jobs, *GOLDEN)
        check(json_run.returncode == text_run.returncode == plain.returncode == 1, 'exit status',
              json_run.returncode, text_run.returncode, plain.returncode)
        suggestions = {}
        for program in report['programs']:
            check(('suggestion' in program) == (program['verdict'] == 'refuted'), program['name'], 'suggestion?')
            if 'suggestion' in program:
                suggestions[program['name']] = program['suggestion']
        check(text_run.stdout.count('suggestion: ') == len(suggestions), 'the text has other suggestions')
        for name, suggestion in suggestions.items():
            first = suggestion['text'].splitlines()[0]
            check(first in text_run.stdout, name, 'is not in the text:', first)
        seen[jobs] = (suggestions, re.sub(r'[0-9.]+ s\b', '', text_run.stdout),
                      {p.name: p.read_bytes() for p in folder.iterdir()})
    check(seen[1] == seen[4], 'the output depends on -j')
    for name, suggestion in seen[1][0].items():
        check_suggestion(name, suggestion, WORK / 'certify')
    found = {s['outcome'] for s in seen[1][0].values()}
    check(found == OUTCOMES, 'not every outcome was seen', found)
    return seen[1][0]


def by_explain(suggestions):
    cex = WORK / 'cex'
    shutil.rmtree(cex, ignore_errors=True)
    spatialcert('certify', '--quiet', '--cex', cex, *GOLDEN)
    refuted = [p for p in GOLDEN if p.stem in suggestions]
    for program in refuted:
        for found in sorted(cex.glob(f'{program.stem}.*.json')):
            folder = WORK / 'explain' / found.stem
            shutil.rmtree(folder, ignore_errors=True)
            done = spatialcert('explain', program, found, '--format', 'json', '--suggest-to', folder)
            check(done.returncode == 0, found.name, 'explain:', done.returncode)
            explanation = json.loads(done.stdout)
            validate('explanation.schema.json', explanation, found.name)
            check_suggestion(program.stem, explanation['suggestion'], folder)
            steps = explanation['suggestion']['steps']
            others = [p for p in cex.glob(f'{program.stem}.*.json') if p != found]
            check(not steps or others or steps[0]['rule'] == explanation['rule'], found.name, 'began elsewhere')
    one = refuted[0]
    found = next(cex.glob(f'{one.stem}.*.json'))
    with_it = spatialcert('explain', one, found, '--suggest')
    without = spatialcert('explain', one, found)
    check(with_it.returncode == without.returncode == 0, 'explain: exit status')
    check(with_it.stdout.startswith(without.stdout) and 'suggestion: ' in with_it.stdout[len(without.stdout):],
          'explain --suggest does not add a suggestion')


WORK.mkdir(parents=True, exist_ok=True)
by_explain(by_certify())
for problem in problems:
    print(problem, file=sys.stderr)
sys.exit(1 if problems else 0)

"""views.py SPATIALCERT SOURCE_DIR WORK_DIR: every view of every golden program, in the eyes of those who read it.

SARIF and our own JSON against their schemas, DOT by Graphviz, PNML as a net that is played, JUnit and traces by their
structure. All programs of tests/golden, the same with hostile names, and files that are refused.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

import jsonschema

SPATIALCERT, SOURCE, WORK = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
GOLDEN = SOURCE / 'tests' / 'golden'
FIXTURES = SOURCE / 'tests' / 'views' / 'fixtures'
PNML = '{http://www.pnml.org/version-2009/grammar/pnml}'
RULES = 12
# Ends a name everywhere, in some syntax or other.
HOSTILE = '"a\'b<c>&amp;]]>\\n\\\n{0}](x)\u0001\u007fé名'

problems = []


def check(holds, *what):
    if not holds:
        problems.append(' '.join(str(w) for w in what))


def spatialcert(*arguments, status=None):
    done = subprocess.run([SPATIALCERT, *map(str, arguments)], capture_output=True)
    if status is not None:
        check(done.returncode == status, arguments[0], 'ended with', done.returncode, done.stderr.decode())
    return done


def load(path):
    return json.loads(path.read_text())


# ---- schemas ----

def schema(path):
    return json.loads(path.read_text())


SCHEMAS = {name: schema(SOURCE / 'docs' / name) for name in
           ('report.schema.json', 'counterexample.schema.json', 'explanation.schema.json', 'program.schema.json')}
SARIF = jsonschema.Draft4Validator(schema(FIXTURES / 'sarif-schema-2.1.0.json'))


def validate(name, document, what):
    resolver = jsonschema.RefResolver(name, SCHEMAS[name], store=SCHEMAS)
    for error in jsonschema.Draft202012Validator(SCHEMAS[name], resolver=resolver).iter_errors(document):
        check(False, what, name, list(error.path), error.message[:200])


def check_schemas():
    """They are schemas, and would see what is wrong."""
    for name, content in SCHEMAS.items():
        jsonschema.Draft202012Validator.check_schema(content)
    jsonschema.Draft4Validator.check_schema(SARIF.schema)
    check(not SARIF.is_valid({'version': '2.1.0', 'runs': [{}]}), 'the schema of SARIF accepts a run without a tool')


# ---- one run ----

class Run:
    """Views and counterexamples of a run over `programs`."""

    def __init__(self, name, programs, *options, whole=False):
        self.folder = WORK / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        at = self.folder
        flags = ['--sarif', at / 'run.sarif', '--junit', at / 'run.xml', '--html', at / 'run.html', '--dot', f'{at}/dot/',
                 '--pnml', f'{at}/pnml/', '--perfetto', f'{at}/trace/', '--cex', at / 'cex']
        if whole:
            flags += ['--whole-net']
        self.done = spatialcert('certify', '--format', 'json', *options, *flags, *programs)
        self.report = json.loads(self.done.stdout)
        self.programs = {p['name']: p for p in self.report['programs'] if 'name' in p}
        self.counterexamples = {p.name[:-len('.json')]: load(p) for p in sorted((at / 'cex').glob('*.json'))}

    def files(self):
        return {p.relative_to(self.folder): p.read_bytes() for p in sorted(self.folder.rglob('*')) if p.is_file()}

    def refuted(self):
        return {(p, r['rule']) for p, program in self.programs.items() for r in program['rules']
                if r['verdict'] == 'refuted'}


def check_run(run):
    validate('report.schema.json', run.report, 'the report')
    check(len(run.counterexamples) == len(run.refuted()), run.folder, 'lacks counterexamples')
    for name, counterexample in run.counterexamples.items():
        validate('counterexample.schema.json', counterexample, name)
    for folder, extension in (('dot', '.dot'), ('pnml', '.pnml'), ('trace', '.trace.json')):
        names = {p.name[:-len(extension)] for p in (run.folder / folder).iterdir()}
        check(names == set(run.counterexamples), folder, 'has other counterexamples than --cex')
    check_sarif(run)
    check_junit(run)
    for name, counterexample in run.counterexamples.items():
        check_dot(run.folder / 'dot' / f'{name}.dot')
        check_pnml(run, run.folder / 'pnml' / f'{name}.pnml', counterexample)
        check_trace(run.folder / 'trace' / f'{name}.trace.json', counterexample)


# ---- SARIF ----

def check_sarif(run):
    log = load(run.folder / 'run.sarif')
    for error in SARIF.iter_errors(log):
        check(False, 'SARIF', list(error.path), error.message[:200])
    sarif = log['runs'][0]
    rules = [rule['id'] for rule in sarif['tool']['driver']['rules']]
    check(len(rules) == RULES and len(set(rules)) == RULES, 'SARIF: rules', rules)
    check(sarif['invocations'][0]['exitCode'] == run.done.returncode, 'SARIF: exit code')
    found = set()
    fingerprints = set()
    for result in sarif['results']:
        check(rules[result['ruleIndex']] == result['ruleId'], 'SARIF: index of', result['ruleId'])
        fingerprints.add(result['partialFingerprints']['finding/v1'])
        if result['kind'] == 'fail':
            found.add((result['properties']['program'], result['ruleId']))
            check(result['level'] == 'error', 'SARIF: level', result['level'])
        check(result['locations'][0]['physicalLocation']['artifactLocation']['uri'], 'SARIF: a result without a file')
    check(found == run.refuted(), 'SARIF: refuted', found ^ run.refuted())
    check(len(fingerprints) == len(sarif['results']), 'SARIF: two findings share a fingerprint')
    undecided = {(p, r['rule']) for p, program in run.programs.items() for r in program['rules']
                 if r['verdict'] == 'undecided'}
    opened = {(r['properties']['program'], r['ruleId']) for r in sarif['results'] if r['kind'] == 'open'}
    check(opened == undecided, 'SARIF: undecided', opened ^ undecided)
    for result in sarif['results']:
        if result['ruleId'] == 'liveness' and result['kind'] == 'fail':
            check(result.get('codeFlows'), 'SARIF: a deadlock without its circle')


def regions(run):
    """Source regions of results, by program."""
    found = {}
    for result in load(run.folder / 'run.sarif')['runs'][0]['results']:
        for place in result['locations'] + result.get('relatedLocations', []):
            physical = place['physicalLocation']
            if 'region' in physical:
                found.setdefault(result['properties']['program'], set()).add(
                    (physical['artifactLocation']['uri'], physical['region']['startLine'],
                     physical['region'].get('startColumn')))
    return found


# ---- JUnit ----

def check_junit(run):
    root = xml.parse(run.folder / 'run.xml').getroot()
    check(root.tag == 'testsuites', 'JUnit: root', root.tag)
    sums = dict.fromkeys(('tests', 'failures', 'errors', 'skipped'), 0)
    failed = set()
    for suite, program in zip(root, run.report['programs']):
        cases = suite.findall('testcase')
        outcome = {tag: [c for c in cases if c.find(tag) is not None] for tag in ('failure', 'error', 'skipped')}
        counts = {'tests': len(cases), 'failures': len(outcome['failure']), 'errors': len(outcome['error']),
                  'skipped': len(outcome['skipped'])}
        for key, value in counts.items():
            check(suite.get(key) == str(value), 'JUnit:', key, 'of', suite.get('name'))
            sums[key] += value
        if program['verdict'] in ('refused', 'fault'):
            check(counts == {'tests': 1, 'failures': 0, 'errors': 1, 'skipped': 0}, 'JUnit: a refused file', counts)
            continue
        check(len(cases) == RULES, 'JUnit: cases of', suite.get('name'), len(cases))
        failed |= {(program['name'], c.get('name')) for c in outcome['failure']}
        certified = not outcome['failure'] and not outcome['error']
        check(certified == (program['verdict'] == 'certified'), 'JUnit: verdict of', suite.get('name'))
        for case in outcome['failure']:
            check(case.find('failure').get('message') and case.find('failure').text.strip(), 'JUnit: says nothing')
    for key, value in sums.items():
        check(root.get(key) == str(value), 'JUnit: sum of', key)
    check(len(root) == len(run.report['programs']), 'JUnit: suites', len(root))
    check(failed == run.refuted(), 'JUnit: refuted', failed ^ run.refuted())


# ---- nets ----

def check_dot(path):
    done = subprocess.run(['dot', '-Tdot_json', str(path)], capture_output=True)
    check(done.returncode == 0 and not done.stderr, path, done.stderr.decode())
    if done.returncode != 0:
        return
    graph = json.loads(done.stdout)
    marked = [node for node in graph.get('objects', []) if 'fillcolor' in node]
    check(marked, path, 'marks nothing')


class Net:
    def __init__(self, path):
        net = xml.parse(path).getroot().find(PNML + 'net')
        page = net.find(PNML + 'page')
        ids = [node.get('id') for node in xml.parse(path).getroot().iter() if node.get('id')]
        check(len(ids) == len(set(ids)), path, 'has an id twice')
        self.marking = {}
        for place in page.findall(PNML + 'place'):
            mark = place.find(f'{PNML}initialMarking/{PNML}text')
            self.marking[place.get('id')] = int(mark.text) if mark is not None else 0
        self.names = {t.get('id'): t.find(f'{PNML}name/{PNML}text').text for t in page.findall(PNML + 'transition')}
        self.before = {t: [] for t in self.names}
        self.after = {t: [] for t in self.names}
        for arc in page.findall(PNML + 'arc'):
            source, target = arc.get('source'), arc.get('target')
            if source in self.marking and target in self.names:
                self.before[target].append(source)
            elif source in self.names and target in self.marking:
                self.after[source].append(target)
            else:
                check(False, path, 'has an arc from', source, 'to', target)
        self.notes = [node.text for node in net.find(PNML + 'toolspecific')]

    def starts(self):
        return [p for p in self.marking if p.startswith('s')]

    def fired(self):
        """Transitions that can be fired at least once, in a marked graph whatever the order."""
        marking, fired, moved = dict(self.marking), {}, True
        while moved:
            moved = False
            for t in self.names:
                if fired.get(t, 0) < 3 and all(marking[p] > 0 for p in self.before[t]):
                    for p in self.before[t]:
                        marking[p] -= 1
                    for p in self.after[t]:
                        marking[p] += 1
                    fired[t] = fired.get(t, 0) + 1
                    moved = True
        return set(fired)


def check_pnml(run, path, counterexample):
    net = Net(path)
    check(net.names, path, 'shows no op')
    check(all(net.marking[p] == 1 for p in net.starts()), path, 'does not start every engine program once')
    for place in net.marking:
        uses = [t for t in net.names if place in net.before[t]] + [t for t in net.names if place in net.after[t]]
        check(uses, path, 'has a place that nothing uses:', place)
    if '--whole-net' not in run.done.args or any('negative' in (n or '') or 'later' in (n or '') for n in net.notes):
        return
    rules = {r['rule']: r['verdict'] for r in run.programs[counterexample['program']]['rules']}
    if rules['liveness'] == 'certified':
        check(net.fired() == set(net.names), path, 'stops though the program is live')
    elif counterexample['kind'] == 'cycle' and counterexample['iterations'] == 1:
        check(net.fired() != set(net.names), path, 'does not stop though the program deadlocks')


# ---- traces ----

def check_trace(path, counterexample):
    trace = load(path)
    events = trace['traceEvents']
    named = {(e['pid'], e['tid']) for e in events if e['name'] == 'thread_name'}
    sites = {e['pid'] for e in events if e['name'] == 'process_name'}
    slices = [e for e in events if e['ph'] == 'X']
    steps = [e for e in slices if e['cat'] not in ('blocked', 'next')]
    check(all((e['pid'], e['tid']) in named for e in slices), path, 'has a track without a name')
    check(all(e['pid'] in sites for e in events if e['ph'] == 'C'), path, 'has a counter without a site')
    for track in named:
        at = 0
        for e in sorted((e for e in slices if (e['pid'], e['tid']) == track), key=lambda e: e['ts']):
            check(e['ts'] >= at, path, 'performs two ops at once on', track)
            at = e['ts'] + e['dur']
    if counterexample['schedules']:
        wanted = sum(runs for schedule in counterexample['schedules'] for _, runs in schedule)
        if counterexample['kind'] in ('race', 'wrong-order'):  # a schedule may end before it was played
            check(len(steps) <= wanted, path, 'has too many steps')
        else:
            check(len(steps) == wanted, path, 'has', len(steps), 'steps instead of', wanted)
    begun = {e['id']: e['ts'] for e in events if e['ph'] == 's'}
    ended = {e['id']: e['ts'] for e in events if e['ph'] == 'f'}
    check(begun.keys() == ended.keys(), path, 'has an arrow with one end')
    check(all(begun[i] < ended[i] for i in begun), path, 'has an arrow back in time')
    if counterexample['kind'] in ('cycle', 'starved'):
        # An op of the chain may come after the one that its engine program stands at.
        names = {(e['pid'], e['tid']): e['args']['name'] for e in events if e['name'] == 'thread_name'}
        blocked = {names[e['pid'], e['tid']] for e in slices if e['cat'] == 'blocked' and e['args']['for_ever']}
        for link in counterexample['chain']:
            engine = link['waiter_at']['engine']
            check(engine in blocked, path, 'does not show as blocked:', engine)


# ---- the tests ----

def golden_programs():
    return sorted(GOLDEN.glob('*.json'))


def test_goldens():
    one = Run('goldens', golden_programs(), '-j', 1)
    check(one.done.returncode == 1, 'goldens ended with', one.done.returncode)
    check_run(one)
    again = Run('goldens-j', golden_programs(), '-j', 4)
    check(one.files() == again.files(), 'views depend on -j:',
          [str(k) for k, v in one.files().items() if again.files().get(k) != v])
    whole = Run('goldens-whole', golden_programs(), whole=True)
    check_run(whole)
    kinds = {c['kind'] for c in one.counterexamples.values()}
    check(len(kinds) >= 18, 'goldens have few kinds:', kinds)
    found = regions(one)
    check(('softmax.py', 12, None) in found['crossed-waits-of-three-engines'], 'SARIF: softmax.py:12 is not named')


def test_explanations():
    for program in golden_programs():
        for cex in sorted((WORK / 'goldens' / 'cex').glob(f'{program.stem}.*.json')):
            done = spatialcert('explain', program, cex, '--format', 'json', status=0)
            said = json.loads(done.stdout)
            validate('explanation.schema.json', said, cex.name)
            check(said['counterexample'] == load(cex), cex.name, 'is explained as another')
    # A view of one counterexample says the same whoever asks for it.
    stem = 'crossed-waits-of-three-engines'
    cex = WORK / 'goldens' / 'cex' / f'{stem}.liveness.json'
    for flag, folder, extension in (('--dot', 'dot', 'dot'), ('--pnml', 'pnml', 'pnml'),
                                    ('--perfetto', 'trace', 'trace.json')):
        done = spatialcert('explain', GOLDEN / f'{stem}.json', cex, flag, '-', status=0)
        same = (WORK / 'goldens' / folder / f'{stem}.liveness.{extension}').read_bytes()
        check(done.stdout == same, flag, 'of explain differs from that of certify')
    sarif = json.loads(spatialcert('explain', GOLDEN / f'{stem}.json', cex, '--sarif', '-', status=0).stdout)
    check(SARIF.is_valid(sarif) and len(sarif['runs'][0]['results']) == 1, 'SARIF of explain')
    queries = WORK / 'queries'
    shutil.rmtree(queries, ignore_errors=True)
    spatialcert('explain', GOLDEN / f'{stem}.json', cex, '--smt2', queries, status=0)
    written = list(queries.rglob('*.smt2'))
    check(written and all('(check-sat)' in q.read_text() for q in written), '--smt2 of explain wrote no queries')


def hostile(path, folder):
    program = load(path)
    names = {}
    for kind in ('tensors', 'buffers', 'semaphores', 'stages', 'sections'):
        for item in program.get(kind, []):
            names[item['name']] = item['name'] + HOSTILE
    # What is no name must not look like one.
    keep = {'name': program['name'], 'target': program['target'], 'format': program['format']}
    fixed = ('kind', 'role', 'dtype', 'init', 'op', 'lifetime', 'depth', 'restart', 'engine', 'space', 'handoff')

    def deep(value):
        if isinstance(value, list):
            return [deep(item) for item in value]
        if isinstance(value, dict):
            return {k: v if k in fixed and isinstance(v, str) else deep(v) for k, v in value.items()}
        return names.get(value, value) if isinstance(value, str) else value

    program = deep(program) | keep
    program['name'] = program['name'] + HOSTILE
    program['source_files'] = [name + HOSTILE for name in program.get('source_files', [])]
    out = folder / path.name
    out.write_text(json.dumps(program))
    return out


def test_hostile_names():
    folder = WORK / 'hostile-programs'
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    programs = [hostile(path, folder) for path in golden_programs()]
    run = Run('hostile', programs)
    refused = [p for p in run.report['programs'] if p['verdict'] == 'refused']
    check(not refused, 'hostile names were refused:', refused[:1])
    verdicts = sorted(p['verdict'] for p in run.programs.values())
    check(verdicts == golden_verdicts(), 'hostile names change verdicts')
    check_run(run)
    legible = HOSTILE.replace('\u0001', '\u2401').replace('\u007f', '\u2421')
    suites = [suite.get('name') for suite in xml.parse(run.folder / 'run.xml').getroot()]
    check(all(name.endswith(legible) for name in suites), 'JUnit: names', suites[:1])
    net = next(iter(sorted((run.folder / 'pnml').iterdir())))
    name = xml.parse(net).getroot().find(f'{PNML}net/{PNML}name/{PNML}text').text
    check(name.endswith(legible), 'PNML: name', name)
    text = (run.folder / 'run.sarif').read_text()
    check('](' not in ''.join(result['message']['text'] for result in json.loads(text)['runs'][0]['results']),
          'SARIF: a name is a link')


def golden_verdicts():
    done = spatialcert('certify', '--format', 'json', *golden_programs())
    return sorted(p['verdict'] for p in json.loads(done.stdout)['programs'])


def test_refused():
    folder = WORK / 'refused-programs'
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / 'broken <&" .json').write_text('{"format": "spatialcert-program",\n "version": 7}')
    no_text = json.loads((GOLDEN / 'certified-sum.json').read_text())
    bytes_ = json.dumps(no_text).replace('certified-sum', 'certified-\\udcff').encode()
    (folder / 'no-utf8.json').write_bytes(bytes_.replace(b'\\udcff', b'\xff'))
    run = Run('refused', [*sorted(folder.iterdir()), GOLDEN / 'certified-sum.json'])
    check(run.done.returncode == 3, 'refused files ended with', run.done.returncode)
    sarif = load(run.folder / 'run.sarif')
    check(SARIF.is_valid(sarif), 'SARIF of refused files')
    invocation = sarif['runs'][0]['invocations'][0]
    notes = invocation['toolExecutionNotifications']
    check([n['descriptor']['id'] for n in notes] == ['refused', 'refused'], 'SARIF: refused files', notes)
    check(invocation['exitCode'] == 3 and invocation['executionSuccessful'], 'SARIF: invocation')
    check(notes[0]['locations'][0]['physicalLocation']['artifactLocation']['uri'].endswith('broken%20%3C%26%22%20.json'),
          'SARIF: address of a file')
    check_junit(run)
    check(not (run.folder / 'dot').exists(), 'a net of nothing')


def test_sources():
    """Columns reach every view; lines that move change no verdict and no fingerprint, but the digest."""
    program = load(GOLDEN / 'crossed-waits-of-three-engines.json')

    def with_sources(value, line, column):
        if isinstance(value, list):
            return [with_sources(item, line, column) for item in value]
        if isinstance(value, dict):
            out = {k: with_sources(v, line, column) for k, v in value.items()}
            if 'source' in out:
                out['source'] = [out['source'][0], out['source'][1] + line, *column]
            return out
        return value

    runs = []
    for name, line, column in (('here', 0, []), ('moved', 100, [7])):
        path = WORK / f'{name}.json'
        path.write_text(json.dumps(with_sources(program, line, column)))
        validate('program.schema.json', load(path), name)
        runs.append(Run(name, [path]))
        check_run(runs[-1])
    here, moved = (run.report['programs'][0] for run in runs)
    check(here['digest'] != moved['digest'], 'the digest does not cover sources')
    strip = [[(r['rule'], r['verdict'], r['obligations'], r['queries']) for r in p['rules']] for p in (here, moved)]
    check(strip[0] == strip[1], 'sources change a verdict')
    prints = [[r['partialFingerprints'] for r in load(run.folder / 'run.sarif')['runs'][0]['results']] for run in runs]
    check(prints[0] == prints[1], 'SARIF: fingerprints move with lines')
    check(('softmax.py', 112, 7) in regions(runs[1])['crossed-waits-of-three-engines'], 'SARIF: columns')
    check('softmax.py:112:7' in next(r for r in moved['rules'] if r['rule'] == 'liveness')['text'], 'text: columns')
    for path in ('dot/crossed-waits-of-three-engines.liveness.dot', 'pnml/crossed-waits-of-three-engines.liveness.pnml',
                 'trace/crossed-waits-of-three-engines.liveness.trace.json', 'run.html', 'run.xml',
                 'cex/crossed-waits-of-three-engines.liveness.json'):
        check('softmax.py:112:7' in (runs[1].folder / path).read_text(), path, 'does not name softmax.py:112:7')


def test_limits():
    cex = WORK / 'goldens' / 'cex' / 'double-buffer-overwrite.ordering.json'
    program = GOLDEN / 'double-buffer-overwrite.json'
    steps = [sum(n for _, n in schedule) for schedule in load(cex)['schedules']]
    out = WORK / 'limited'
    spatialcert('explain', program, cex, '--perfetto', out, '--most-steps', 2, status=0)
    events = load(out)['traceEvents']
    shown = [e for e in events if e['ph'] == 'X' and e['cat'] not in ('blocked', 'next')]
    check(len(shown) == 4 < sum(steps), 'a trace has', len(shown), 'steps though 2 of each were asked for')
    check(sum('are not shown' in e['name'] for e in events) == 2, 'a trace does not say that it was cut')
    spatialcert('explain', program, cex, '--pnml', out, '--whole-net', '--most-ops', 3, status=0)
    net = Net(out)
    check(len(net.names) == 3, 'a net has', len(net.names), 'ops though 3 were asked for')
    check(any('op instances are shown' in (note or '') for note in net.notes), 'a net does not say that it was cut')
    done = spatialcert('explain', program, cex, '--dot', '-', '--most-ops', 3, status=0).stdout.decode()
    check('3 of ' in done, 'DOT does not say that it was cut')


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    check_schemas()
    for test in (test_goldens, test_explanations, test_hostile_names, test_refused, test_sources, test_limits):
        before = len(problems)
        test()
        print(f'{test.__name__}: {"ok" if len(problems) == before else "FAILED"}')
    print('\n'.join(problems[:40]))
    sys.exit(1 if problems else 0)


main()

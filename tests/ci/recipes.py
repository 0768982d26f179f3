"""recipes.py SOURCE SPATIALCERT: the CI recipes, checked for form and run in a clean clone of the project.

Exits with 77 where the source is no git checkout, or where git, shellcheck or PyYAML is missing. The clone has what is
committed. The command that the recipes run is the one that was built.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

SOURCE, BINARY = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()


def skip(why):
    print('skipped:', why)
    sys.exit(77)


try:
    import yaml
except ImportError:
    skip('no PyYAML (python3-yaml)')
for tool in ('git', 'shellcheck'):
    shutil.which(tool) or skip(f'no {tool}')
if not (SOURCE / '.git').exists():
    skip('the source is no git checkout')

PROBLEMS = []


def check(holds, *what):
    if not holds:
        PROBLEMS.append(' '.join(str(one) for one in what))


# Nothing of the user's, or of a CI run that this is part of, may show.
CLEAN = {key: value for key, value in os.environ.items()
         if not key.startswith(('GITHUB_', 'SPATIALCERT_', 'CI_', 'GIT_'))}
CLEAN |= {'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null', 'GIT_CONFIG_COUNT': '2',
          'GIT_CONFIG_KEY_0': 'safe.directory', 'GIT_CONFIG_VALUE_0': '*',
          'GIT_CONFIG_KEY_1': 'init.defaultBranch', 'GIT_CONFIG_VALUE_1': 'main'}
for person in ('AUTHOR', 'COMMITTER'):
    CLEAN |= {f'GIT_{person}_NAME': 'nobody', f'GIT_{person}_EMAIL': 'nobody@example.org'}


def run(*command, folder, env=None, text=None):
    return subprocess.run([str(part) for part in command], cwd=folder, env=CLEAN | (env or {}), input=text,
                          capture_output=True, text=True, timeout=120)


def must(*command, folder, **more):
    done = run(*command, folder=folder, **more)
    if done.returncode != 0:
        sys.exit(f'{command} in {folder}: {done.returncode}\n{done.stdout}{done.stderr}')
    return done


# ---- form ----

def shellcheck(what, text):
    done = subprocess.run(['shellcheck', '--shell=bash', '-'], input=text, capture_output=True, text=True)
    check(done.returncode == 0, what, done.stdout)


def check_action(action):
    check(set(action) == {'name', 'description', 'inputs', 'outputs', 'runs'}, 'action.yml:', set(action))
    for name, one in action['inputs'].items():
        check(set(one) <= {'description', 'required', 'default'} and one.get('description'), 'input', name, one)
        check(one.get('required') or isinstance(one.get('default'), str), 'input', name, 'has no default')
    steps = action['runs']['steps']
    ids = [step['id'] for step in steps]
    check(action['runs']['using'] == 'composite' and len(set(ids)) == len(ids), 'runs')
    known = {f'inputs.{name}' for name in action['inputs']} | {'github.action_path'}
    for step in steps:
        check(set(step) == {'id', 'shell', 'env', 'run'} and step['shell'] == 'bash', 'step', step)
        # What a user passes may hold anything, and must not become part of a script.
        check('${{' not in step['run'], step['id'], 'has an expression in its script')
        for expression in re.findall(r'\$\{\{ (.*?) \}\}', ' '.join(step['env'].values())):
            check(expression in known or re.fullmatch(rf'steps\.({"|".join(ids)})\.outputs\.\w+', expression),
                  step['id'], 'uses', expression)
        shellcheck(f'action.yml, {step["id"]}', step['run'])
    for name, one in action['outputs'].items():
        check(set(one) == {'description', 'value'} and one['description'], 'output', name)
        check(one['value'] == '${{ steps.gate.outputs.%s }}' % name, 'output', name, one['value'])


def check_gitlab(document):
    check(set(document) == {'spatialcert'}, 'gitlab-ci.yml:', set(document))
    job = document['spatialcert']
    check(set(job) == {'stage', 'image', 'variables', 'script', 'artifacts'}, 'job:', set(job))
    check(all(isinstance(line, str) for line in job['script']), 'script:', job['script'])
    check(all(isinstance(value, str) for value in job['variables'].values()), 'variables:', job['variables'])
    check(job['artifacts']['when'] == 'always', 'artifacts')
    folder = job['variables']['SPATIALCERT_REPORTS']
    check(job['artifacts']['paths'] == [folder + '/'], 'paths')
    check(job['artifacts']['reports'] == {'junit': folder + '/junit.xml'}, 'reports')
    shellcheck('gitlab-ci.yml', '\n'.join(job['script']))


# ---- runs ----

class Workspace:
    """The folder of a compiler's repository, with programs before and after a change."""

    def __init__(self, root, clone, name):
        self.root, self.clone = root / name, clone
        self.root.mkdir()

    def put(self, path, golden):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.clone / 'tests/golden' / f'{golden}.json', target)

    def programs(self, worse):
        """The programs of docs/ci.md."""
        for side in ('baseline', 'candidate'):
            self.put(f'{side}/layers/attention.json', 'certified-two-sections')
            self.put(f'{side}/layers/norm.json', 'certified-sum')
        if worse:
            self.put('candidate/layers/norm.json', 'missing-wait')
            self.put('candidate/layers/gate.json', 'certified-persistent')
        return self

    def action(self, action, **inputs):
        """Runs the steps as a runner would, until one fails."""
        values = {f'inputs.{name}': one.get('default', '') for name, one in action['inputs'].items()}
        values |= {f'inputs.{name.replace("_", "-")}': value for name, value in inputs.items()}
        values['github.action_path'] = str(self.clone)
        summary = self.root / 'step-summary'
        summary.write_text('')
        for step in action['runs']['steps']:
            output = self.root / f'output-{step["id"]}'
            output.write_text('')
            env = {key: re.sub(r'\$\{\{ (.*?) \}\}', lambda match: values.get(match[1], ''), value)
                   for key, value in step['env'].items()}
            env |= {'GITHUB_OUTPUT': str(output), 'GITHUB_STEP_SUMMARY': str(summary)}
            done = run('bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', step['run'], folder=self.root, env=env)
            for line in output.read_text().splitlines():
                name, value = line.split('=', 1)
                values[f'steps.{step["id"]}.outputs.{name}'] = value
            if done.returncode != 0:
                break
        outputs = {name: values.get(one['value'][4:-3], '') for name, one in action['outputs'].items()}
        return done, outputs, summary.read_text()

    def gitlab(self, document, **variables):
        job = document['spatialcert']
        env = job['variables'] | variables
        return run('bash', '-eo', 'pipefail', '-c', '\n'.join(job['script']), folder=self.root, env=env)


def try_action(root, clone, action):
    inputs = {'candidate': 'candidate', 'baseline': 'baseline', 'binary': str(BINARY)}
    good = Workspace(root, clone, 'good').programs(worse=False)
    done, outputs, summary = good.action(action, **inputs)
    check(done.returncode == 0 and outputs['verdict'] == 'passed' and outputs['status'] == '0', 'good:', done, outputs)
    check(summary.startswith('## spatialcert gate passed: 2 held'), summary)
    certificates = good.root / 'spatialcert-reports/certificates'
    check((certificates / 'layers/norm.cert').is_file(), 'certificates')
    # The next run has nothing to judge anew.
    done, _, summary = good.action(action, **inputs, baseline_certificates='spatialcert-reports/certificates')
    check(done.returncode == 0, 'again:', done)

    bad = Workspace(root, clone, 'bad').programs(worse=True)
    done, outputs, summary = bad.action(action, **inputs, jobs='2')
    check(done.returncode == 1 and outputs['verdict'] == 'refuted', 'bad:', done, outputs)
    check('layers/norm | newly refuted' in summary, summary)
    documentation = (SOURCE / 'docs/ci.md').read_text()
    check(summary.strip() in documentation, 'docs/ci.md does not show this summary:\n' + summary)
    sarif = json.loads((bad.root / outputs['sarif']).read_text())
    check(sarif['version'] == '2.1.0' and sarif['runs'][0]['results'], 'sarif')
    suites = xml.etree.ElementTree.parse(bad.root / outputs['junit']).getroot()
    check(suites.findall('.//failure'), 'junit')
    excuse = {'format': 'spatialcert-policy', 'version': 1, 'exceptions': [
        {'program': 'layers/norm', 'rule': 'ordering', 'may': 'refuted', 'reason': 'tried here', 'until': '9999-12-31'}]}
    (bad.root / 'policy.json').write_text(json.dumps(excuse))
    done, outputs, _ = bad.action(action, **inputs, policy='policy.json')
    check(done.returncode == 0 and outputs['verdict'] == 'passed', 'excused:', done, outputs)
    (bad.root / 'policy.json').write_text('{}')
    done, outputs, _ = bad.action(action, **inputs, policy='policy.json')
    check(done.returncode == 3 and outputs['verdict'] == 'refused', 'policy:', done, outputs)

    # Without a baseline the candidate is judged alone.
    alone = {'candidate': 'candidate', 'binary': str(BINARY)}
    done, outputs, summary = good.action(action, **alone)
    check(done.returncode == 0 and outputs['verdict'] == 'passed', 'alone:', done, outputs)
    check('certified-sum: certified' in summary, summary)
    done, outputs, _ = bad.action(action, **alone)
    check(done.returncode == 1 and outputs['verdict'] == 'refuted', 'alone, bad:', done, outputs)
    done, outputs, _ = good.action(action, **alone, policy='policy.json')
    check(done.returncode == 64 and outputs['verdict'] == 'usage', 'alone, policy:', done, outputs)

    # Nothing that was to be judged is there: never passed.
    for changed in ({'candidate': 'none'}, {'candidate': ''}, {'baseline': 'none'}, {'binary': '/none'},
                    {'binary': '/bin/false'}, {'baseline': '', 'candidate': 'empty'}, {'candidate': 'empty'}):
        (good.root / 'empty').mkdir(exist_ok=True)
        done, outputs, _ = good.action(action, **(inputs | changed))
        check(done.returncode != 0 and outputs['verdict'] != 'passed', changed, done, outputs)
    # What a user passes is no script.
    done, _, _ = good.action(action, **(inputs | {'candidate': '$(touch owned); touch owned'}))
    check(done.returncode != 0 and not (good.root / 'owned').exists(), 'script injection', done)


def try_gitlab(root, clone, document):
    variables = {'SPATIALCERT_BINARY': str(BINARY), 'SPATIALCERT_SOURCE': str(clone),
                 'SPATIALCERT_BASELINE': 'baseline', 'SPATIALCERT_CANDIDATE': 'candidate'}
    for worse, status in ((False, 0), (True, 1)):
        place = Workspace(root, clone, f'gitlab-{status}').programs(worse)
        done = place.gitlab(document, **variables)
        check(done.returncode == status, 'gitlab:', done)
        check((place.root / 'spatialcert-reports/junit.xml').is_file(), 'no junit.xml')
    done = place.gitlab(document, **(variables | {'SPATIALCERT_BINARY': '/none'}))
    check(done.returncode != 0, 'gitlab without a command:', done)


def try_hook(root, clone):
    place = Workspace(root, clone, 'hooked').programs(worse=False)
    folder = place.root
    remote = root / 'remote.git'
    must('git', 'init', '-q', '--bare', remote, folder=root)
    must('git', 'init', '-q', folder=folder)
    must('git', 'remote', 'add', 'origin', remote, folder=folder)
    must('git', 'add', '.', folder=folder)
    must('git', 'commit', '-qm', 'programs', folder=folder)
    must('git', 'push', '-q', 'origin', 'main', folder=folder)
    shutil.copy(clone / 'scripts/hooks/pre-push', folder / '.git/hooks/pre-push')

    def push(*what):
        must('git', 'commit', '-q', '--allow-empty', '-m', 'more', folder=folder)
        return run('git', 'push', '-q', 'origin', *(what or ('main',)), folder=folder)

    done = push()
    check(done.returncode != 0 and 'must name folders' in done.stderr, 'hook, not set up:', done)
    for key, value in (('baseline', 'baseline'), ('candidate', 'candidate'), ('binary', BINARY)):
        must('git', 'config', f'spatialcert.{key}', value, folder=folder)
    check(push().returncode == 0, 'hook, good')
    must('git', 'config', 'spatialcert.emit', f'cp {clone}/tests/golden/missing-wait.json candidate/layers/norm.json',
         folder=folder)
    done = push()
    check(done.returncode != 0 and 'newly refuted' in done.stderr and 'not pushed' in done.stderr, 'hook, bad:', done)
    must('git', 'config', 'spatialcert.emit', 'false', folder=folder)
    done = push()
    check(done.returncode != 0 and 'failed: false' in done.stderr, 'hook, emit:', done)
    must('git', 'push', '-q', '--no-verify', 'origin', 'main:other', folder=folder)
    check(push('--delete', 'other').returncode == 0, 'hook, delete')
    must('git', 'config', 'spatialcert.binary', '/none', folder=folder)
    must('git', 'config', '--unset', 'spatialcert.emit', folder=folder)
    check(push().returncode != 0, 'hook, no command')


def main():
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary)
        clone = root / 'spatialcert'
        must('git', 'clone', '-q', '--no-local', '--depth', '1', f'file://{SOURCE}', clone, folder=root)
        action = yaml.safe_load((clone / 'action.yml').read_text())
        gitlab = yaml.safe_load((clone / 'docs/ci/gitlab-ci.yml').read_text())
        for script in [*sorted((clone / 'scripts/ci').iterdir()), *sorted((clone / 'scripts/hooks').iterdir())]:
            check(os.access(script, os.X_OK), script.name, 'cannot be executed')
            shellcheck(script.name, script.read_text())
        check_action(action)
        check_gitlab(gitlab)
        try_action(root, clone, action)
        try_gitlab(root, clone, gitlab)
        try_hook(root, clone)
    print('\n'.join(PROBLEMS) or 'action, GitLab job and hook: as documented')
    sys.exit(1 if PROBLEMS else 0)


main()

"""commands.py SOURCE BIN_FOLDER [DOCUMENT...]: runs every command that README.md and docs/*.md show, and compares what they print.

A command is a line `$ COMMAND` in an indented code block or in one of language `console`; a backslash at its end continues
it. What follows it in the block is what it prints, both streams together, unless nothing follows.
- `...` alone on a line stands for any lines, within a line for anything.
- Times are not compared: `0.05 s`.
- A command that does not exit with 0 says so: `# exit status 1`, or the next command is `echo $?` and its output.
- `<!-- setup: COMMANDS -->` makes what the reader is taken to have; it is run like a command and must succeed.
- A code block behind `<!-- file: PATH -->` stands in that file, word for word.
Commands of a document run one after the other in a folder of its own, where README.md, docs and tests are those of the source,
and nothing that was there may be changed. A line that looks like a command and has no `$` is an error, so that none is left out.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Commands that need the network, a package manager or hours, and what runs them instead.
ELSEWHERE = {
    r'scripts/(demo|test)\b.*': 'continuous integration',
    r'scripts/(dependencies|bench|trusted|mutants)\b.*': 'developers, and scripts/test',
    r'cmake --preset .*': 'the test install_and_consume, for the preset that is tested',
    r'git config spatialcert\..*|cp spatialcert/scripts/hooks/.*': 'the test ci_recipes',
}
LOOKS_LIKE_A_COMMAND = re.compile(r'(?:\$ )?(spatialcert|recheck|scripts/\w+|cmake|git|cp|ctest)( |$)')
SHOWN = ('README.md', 'docs', 'tests')  # of the source, in the folder of every document


class Command:
    def __init__(self, line, text):
        self.line, self.text, self.output, self.setup = line, text, [], False

    def status(self):
        """What it exits with, if the document says so."""
        said = re.search(r'#.*\bexit status (\d+)', self.text)
        return int(said[1]) if said else None


def blocks(lines):
    """(language, [(line number, text)]) of every code block; of indented ones the language is None."""
    at = 0
    while at < len(lines):
        fence = re.match(r'( *)```(\S*)', lines[at])
        if fence:
            indent, at, content = len(fence[1]), at + 1, []
            while at < len(lines) and lines[at].strip() != '```':
                content.append((at + 1, lines[at][indent:]))
                at += 1
            yield fence[2], content
            at += 1
        elif lines[at].startswith('    ') and (at == 0 or not lines[at - 1].strip() or lines[at - 1].endswith('-->')):
            content = []
            while at < len(lines) and (lines[at].startswith('    ') or not lines[at].strip()):
                content.append((at + 1, lines[at][4:]))
                at += 1
            yield None, content
        else:
            at += 1


def commands_of(text, complain):
    """Commands in the order of the document, setups among them."""
    found = []
    for setup in re.finditer(r'<!-- setup:(.*?)-->', text, re.DOTALL):
        command = Command(text.count('\n', 0, setup.start()) + 1, setup[1].strip())
        command.setup = True
        found.append(command)
    for language, content in blocks(text.split('\n')):
        if language not in (None, '', 'console', 'text', 'sh', 'bash', 'shell'):
            continue
        current = None
        for number, line in content:
            if line.startswith('$ ') and language in (None, 'console'):
                current = Command(number, line[2:])
                found.append(current)
            elif current and current.text.endswith('\\') and not current.output:
                current.text += '\n' + line
            elif current:
                current.output.append(line)
            elif LOOKS_LIKE_A_COMMAND.match(line) and not any(re.fullmatch(pattern, line) for pattern in ELSEWHERE):
                complain(number, f'a command without `$`: {line}')
    return sorted(found, key=lambda command: command.line)


def check_quotes(text, source, complain):
    """Are the code blocks that are said to be of a file in it?"""
    for quote in re.finditer(r'<!-- file: (\S+) -->\n```\w*\n(.*?)```\n', text, re.DOTALL):
        if quote[2] not in (source / quote[1]).read_text(encoding='utf-8'):
            complain(text.count('\n', 0, quote.start()) + 1, f'not in {quote[1]}:\n{quote[2]}')
    marks = len(re.findall('<!-- file:', text))
    if marks != len(re.findall(r'<!-- file: (\S+) -->\n```', text)):
        complain(0, f'one of {marks} marks `file` has no code block behind it')


def matches(expected, found):
    """Do the lines match, `...` being any lines, or anything within one?"""
    def line_pattern(line):
        masked = re.sub(r'\d+\.\d+ s\b', 'TIME', line.rstrip())
        masked = r'[^\n]*'.join(re.escape(part) for part in masked.split('...'))
        return re.sub(r'[ ]*TIME', r' *\\d+\\.\\d+ s', masked.replace('\\ ', ' ')) + '\n'

    expected = '\n'.join(expected).rstrip().split('\n')
    pattern = ''.join('(?:[^\n]*\n)*?' if line.strip() == '...' else line_pattern(line) for line in expected)
    text = ''.join(line.rstrip() + '\n' for line in found.rstrip().split('\n'))
    return re.fullmatch(pattern, text) is not None


def state_of(folder):
    """What the document must leave alone."""
    return {path: (folder / path).resolve() for path in SHOWN}


def run_document(document, text, source, environment, complain):
    check_quotes(text, source, complain)
    commands = commands_of(text, complain)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for name in SHOWN:
            (work / name).symlink_to(source / name)
        before, status = state_of(work), 0
        for at, command in enumerate(commands):
            done = subprocess.run(['bash', '-c', f'(exit {status})\n{command.text}'], cwd=work, env=environment,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
            status = done.returncode
            asked = at + 1 < len(commands) and commands[at + 1].text == 'echo $?'
            expected = command.status() or 0
            if status != expected and not (asked and not command.setup):
                complain(command.line, f'{command.text}\nexit status {status}, expected {expected}\n{done.stdout}')
            elif any(line.strip() for line in command.output) and not matches(command.output, done.stdout):
                complain(command.line, f'{command.text}\nprinted\n{done.stdout}\nand the document has\n' + '\n'.join(command.output))
        if state_of(work) != before:
            complain(0, 'a command replaced a file of the source')
    return sum(not command.setup for command in commands)


def main():
    source, binaries = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    chosen = [pathlib.Path(argument).resolve() for argument in sys.argv[3:]]
    documents = chosen or [source / 'README.md', *sorted((source / 'docs').rglob('*.md'))]
    environment = {key: value for key, value in os.environ.items() if not key.startswith('SPATIALCERT_')}
    environment |= {'PATH': f'{binaries}{os.pathsep}{os.environ["PATH"]}', 'NO_COLOR': '1', 'LC_ALL': 'C.UTF-8'}
    problems, count = [], 0
    for document in documents:
        def complain(line, what, document=document):
            problems.append(f'{document.relative_to(source)}:{line}: {what}')

        count += run_document(document, document.read_text(encoding='utf-8'), source, environment, complain)
    print('\n\n'.join(problems))
    print(f'{count} commands in {len(documents)} documents, {len(problems)} problems')
    if count == 0 or problems:
        sys.exit(1)


if not shutil.which('bash'):
    print('skipped: no bash')
    sys.exit(77)
main()

"""Builds the benchmarks, writes programs, and measures them in processes of their own, within limits."""
import contextlib
import json
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / 'build' / 'bench'
TEXTS = ('program', 'verdict', 'line', 'z3', 'ended')
REPEATED = 120000  # programs of at most so many ops are measured three times


def build():
    subprocess.run([ROOT / 'scripts/dependencies'], check=True)
    configure = ['cmake', '--preset', 'release', '-B', BUILD, '-DSPATIALCERT_BENCHMARKS=ON']
    subprocess.run(configure, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    targets = ['spatialcert_bench', 'spatialcert_bench_file', 'spatialcert_bench_program']
    subprocess.run(['cmake', '--build', BUILD, '--target', *targets], check=True, stdout=sys.stderr)
    return BUILD / 'bin'


def memory_of_machine():
    return os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')


def say(text):
    print(text, file=sys.stderr, flush=True)


class Bench:
    """The binaries, and the limits of every program that is measured."""

    def __init__(self, binaries, options):
        self.binaries = pathlib.Path(binaries)
        self.smoke = options.smoke
        self.largest = options.largest
        self.only = options.only
        self.steps = options.steps
        self.memory = min(24 << 30, memory_of_machine() * 4 // 5)

    def upto(self, sizes, smoke):
        """These sizes, or what a smoke run takes instead."""
        return [size for size in (smoke if self.smoke else sizes) if not self.largest or size <= self.largest]

    @contextlib.contextmanager
    def program(self, *what):
        """A file with the program that `spatialcert_bench_program` makes of these words."""
        say(' '.join(str(word) for word in what))
        with tempfile.TemporaryDirectory(prefix='spatialcert-bench-') as folder:
            path = pathlib.Path(folder) / 'program.json'
            subprocess.run([self.binaries / 'spatialcert_bench_program', *map(str, what), path], check=True)
            yield path

    def _limit(self):
        resource.setrlimit(resource.RLIMIT_AS, (self.memory, self.memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def file(self, path, seconds, *options):
        """Figures of every program of the file, as far as they were reached within so many CPU seconds. Where not
        all were, `ended` says why."""
        with tempfile.TemporaryFile('w+') as out, tempfile.TemporaryFile('w+') as errors:
            child = subprocess.Popen([self.binaries / 'spatialcert_bench_file', *options, path], stdout=out, stderr=errors,
                                     preexec_fn=self._limit)
            late = self._wait(child, seconds)
            out.seek(0)
            errors.seek(0)
            figures, complaint = out.read(), errors.read().strip()
        head, programs = {}, []
        for line in figures.splitlines():
            name, value = line.split('\t', 1)
            if name == 'program':
                programs.append({})
            (programs[-1] if programs else head)[name] = value if name in TEXTS else float(value) if '.' in value else int(value)
        head.pop('z3', None)  # stands with the machine
        out = [{**head, **program} for program in programs] or [head]
        for row in out:
            if row.get('verdict') == 'certified':
                row.pop('line', None)
        if late:
            out[-1]['ended'] = f'not finished after {seconds} s'
        elif child.returncode:
            too_large = 'bad_alloc' in complaint or 'memory' in complaint or child.returncode == -signal.SIGKILL
            out[-1]['ended'] = (f'more than {self.memory / 2 ** 30:.0f} GiB' if too_large else
                                complaint or f'ended with {child.returncode}')
        return out

    @staticmethod
    def _wait(child, seconds):
        """True if it had to be ended, after so many CPU seconds. A limit of the system's own would make the clock that the
        child measures with coarser."""
        while child.poll() is None:
            with contextlib.suppress(FileNotFoundError, IndexError, subprocess.TimeoutExpired):
                fields = pathlib.Path(f'/proc/{child.pid}/stat').read_text(encoding='utf-8').rpartition(')')[2].split()
                if (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK') > seconds:
                    child.kill()
                    child.wait()
                    return True
                child.wait(timeout=0.05)
        return False

    def measured(self, what, seconds, *options):
        """Figures of one generated program: the medians of three runs, if it is small."""
        with self.program(*what) as path:
            runs = self.file(path, seconds, *options)
            # What takes long needs no second look.
            spent = runs[0].get('certify', 0) + runs[0].get('potentials', 0)
            if runs[0].get('ops', REPEATED) < REPEATED and spent < 5 and not self.smoke:
                runs += self.file(path, seconds, *options) + self.file(path, seconds, *options)
        out = dict(runs[0])
        for name, value in runs[0].items():
            if isinstance(value, float):
                out[name] = round(statistics.median(run.get(name, value) for run in runs), 6)
        return out

    def families(self, pattern, repetitions):
        """The Google Benchmark families whose names match, as their JSON lists them."""
        with tempfile.TemporaryDirectory(prefix='spatialcert-bench-') as folder:
            out = pathlib.Path(folder) / 'bench.json'
            least = '0.001' if self.smoke else '0.05'
            subprocess.run([self.binaries / 'spatialcert_bench', f'--benchmark_filter={pattern}',
                            f'--benchmark_repetitions={repetitions}', f'--benchmark_min_time={least}',
                            f'--benchmark_out={out}', '--benchmark_out_format=json'], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            found = json.loads(out.read_text())['benchmarks']
        for b in found:
            if b.get('error_occurred'):
                sys.exit(f"{b['name']}: {b['error_message']}")
        return [b for b in found if b['run_type'] == 'iteration']

"""The parts of docs/performance.md. A part has TITLE, measure(bench), which gives rows for the JSON, and render(rows)."""
from . import composer, corpus, growth, monolithic, sections, steps, turns, workers

PARTS = {
    'growth': growth,
    'turns': turns,
    'sections': sections,
    'workers': workers,
    'monolithic': monolithic,
    'corpus': corpus,
    'composer': composer,
    'steps': steps,
}

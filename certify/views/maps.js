// Maps: of a memory and its buffers, of the way of data through ops, of slices, of sections.

const percent = (x) => `${Math.max(0, Math.min(100, x))}%`;
const bar = (kind, low, high, from, to, text) => {
  const node = el('i', {class: kind, title: text});
  const span = Math.max(1, to - from);
  node.style.left = percent(100 * (low - from) / span);
  node.style.width = percent(100 * (Math.min(high, to) - Math.max(low, from)) / span);
  return node;
};
const bytes = (n) => n.toLocaleString('en');

// Rows by address, one per buffer; lifetimes beside it; the bytes in question across all rows.
function memoryMap(memory, id) {
  const ends = memory.buffers.map((b) => b.high);
  const whole = {from: 0, to: Math.max(memory.bytes, ...ends), name: 'Whole space'};
  const culprits = memory.buffers.filter((b) => b.culprit);
  const low = Math.min(...culprits.map((b) => b.low)), high = Math.max(...culprits.map((b) => b.high));
  const margin = Math.max(1, Math.ceil((high - low) * 0.15));
  const near = {from: Math.max(0, low - margin), to: Math.min(whole.to, high + margin), name: 'Around the culprits'};
  const tiny = {from: Math.max(0, memory.mark.low - 16), to: Math.min(whole.to, memory.mark.high + 16), name: 'The bytes in question'};
  const body = el('div', {class: 'memory'});
  // Alive in a phase in which all culprits are.
  const meets = (b, [low, high]) => b.phases.some(([l, h]) => l <= high && low <= h);
  const together = culprits[0].phases.filter((run) => culprits.every((c) => meets(c, run)));
  const sameTime = (b) => b.culprit || together.some((run) => meets(b, run));
  let only = true;
  const draw = ({from, to}) => {
    const inside = memory.buffers.filter((b) => b.culprit || (b.high > from && b.low < to && (!only || sameTime(b))));
    const ticks = el('div', {class: 'ticks'}, ...[0, 0.25, 0.5, 0.75, 1].map((f) => {
      const tick = el('span', {}, bytes(Math.round(from + f * (to - from))));
      tick.style.left = percent(100 * f);
      return tick;
    }));
    const track = (b) => {
      const {mark} = memory;
      const shaded = bar('shared', mark.low, Math.max(mark.high, mark.low + 1), from, to, mark.text);
      const end = memory.bytes < to ? bar('beyond', memory.bytes, to, from, to, 'past the end of the space') : null;
      return el('div', {class: 'track'}, end,
          b ? bar(`buffer ${b.kind}${b.culprit ? ' culprit' : ''}`, b.low, b.high, from, to,
              `${b.name}: [${bytes(b.low)}, ${bytes(b.high)})`) : null, !b || b.culprit ? shaded : null);
    };
    const life = (b) => el('div', {class: 'life', title: b.life}, ...b.phases.map(([first, last]) =>
      bar(b.culprit ? 'culprit' : 'phase', first, last + 1, 0, memory.phases,
          first === last ? `phase ${first + 1}` : `phases ${first + 1} to ${last + 1}`)));
    body.replaceChildren(
        el('div', {class: 'memrow head'}, el('span', {}, 'buffer'), el('span', {}, 'bytes'), ticks,
            el('span', {}, memory.phases === 1 ? 'lives' : `phases 1\u2013${memory.phases}`)),
        ...inside.map((b) => el('div', {class: `memrow${b.culprit ? ' culprit' : ''}`},
            el('span', {class: 'name', title: b.name}, b.culprit ? el('span', {class: 'sign', 'aria-label': 'culprit'}, '\u25b6 ') : '',
                b.name, el('small', {}, ` ${b.kind}`), b.source ? sourceLink(b.source) : ''),
            el('span', {class: 'range'}, `[${bytes(b.low)}, ${bytes(b.high)})`), track(b), life(b))),
        el('div', {class: 'memrow sum'}, el('span', {class: 'name'}, '\u2715 ', memory.mark.text),
            el('span', {class: 'range'}, memory.mark.low < memory.mark.high
                ? `[${bytes(memory.mark.low)}, ${bytes(memory.mark.high)})` : bytes(memory.mark.low)),
            track(null), el('span')));
  };
  const views = [near, whole, tiny];
  let view = near;
  const others = memory.buffers.filter((b) => !sameTime(b)).length;
  const choice = el('fieldset', {class: 'choice'}, el('legend', {}, 'Show'), ...views.map((v, i) => el('label', {},
      el('input', {type: 'radio', name: `${id}-memory`, checked: i === 0, onchange: () => draw(view = v)}), ` ${v.name}`)),
      others ? el('label', {}, el('input', {type: 'checkbox', onchange: (e) => { only = !e.target.checked; draw(view); }}),
          ` also ${plural(others, 'buffer')} of other phases`) : null);
  draw(near);
  return el('figure', {class: 'map'}, el('figcaption', {}, el('h4', {}, `Memory: ${memory.space} of ${memory.site}`),
      ` ${bytes(memory.bytes)} bytes, addresses are multiples of ${memory.alignment}`),
      choice, el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Memory map'}, body),
      memory.left ? el('p', {class: 'note'}, `${plural(memory.left, 'buffer')} further away are not in this page.`) : null);
}

// Ops in order; between two of them what they hand on.
function pathMap(path) {
  const list = el('ol', {class: 'path'});
  path.ops.forEach((op, i) => {
    if (path.left && i === path.cut) list.append(el('li', {class: 'gap'}, `\u22ee ${plural(path.left, 'op')} not in this page`));
    const number = path.left && i >= path.cut ? i + path.left + 1 : i + 1;
    const access = (a) => el('li', {class: a.write ? 'write' : 'read'}, el('span', {class: 'verb'}, a.write ? 'writes' : 'reads'), ' ',
        el('code', {}, a.region), ' ', el('span', {class: `home${a.home === 'spine' ? ' spine' : ''}`}, a.home));
    list.append(el('li', {class: 'pathop'}, el('span', {class: 'step'}, String(number)),
        el('div', {}, el('b', {}, op.engine), ' ', el('code', {}, op.op),
            el('small', {}, ` ${op.part} `), op.source ? sourceLink(op.source) : '',
            el('ul', {}, ...op.accesses.map(access)))));
  });
  if (path.end) list.append(el('li', {class: 'pathend'}, el('span', {class: 'step'}, '\u2715'), el('div', {}, 'seen at ', el('code', {}, path.end))));
  const groups = [['2', '\u2461 twice', (c) => c[1] >= 2], ['1', '\u2713 once', (c) => c[1] === 1], ['0', '\u2715 never', (c) => c[1] === 0]];
  const chips = path.chips.length === 0 ? null : el('div', {class: 'chips'}, el('h4', {}, 'Contained in it'),
      ...groups.map(([kind, text, of]) => {
        const some = path.chips.filter(of);
        return some.length === 0 ? null : el('p', {}, el('span', {class: `times t${kind}`}, text), ' ',
            ...some.map((c) => el('span', {class: `chip t${kind}`}, c[0])));
      }));
  return el('figure', {class: 'map'}, el('figcaption', {}, el('h4', {}, 'The way of the data')), list, chips);
}

// Contributions that a result has too often or too rarely.
function termTable(terms) {
  return el('figure', {class: 'map'}, el('figcaption', {}, el('h4', {}, 'Contributions')), el('table', {class: 'terms'},
      el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'contribution'), el('th', {scope: 'col', class: 'number'}, 'found'),
          el('th', {scope: 'col', class: 'number'}, 'expected'))),
      el('tbody', {}, ...terms.list.map(([name, found, expected]) => el('tr', {}, el('th', {scope: 'row'}, name),
          el('td', {class: 'number'}, String(found)), el('td', {class: 'number'}, String(expected)))))),
      terms.left ? el('p', {class: 'note'}, `${plural(terms.left, 'contribution')} are not in this page.`) : null);
}

// One row per part, along the axis that is cut; the index in question across all of them.
function sliceMap(slices) {
  const figures = slices.tensors.map((t) => {
    const row = (part) => {
      const track = el('div', {class: 'track'}, ...part.ranges.map(([low, high]) =>
        bar(`slice${part.culprit ? ' culprit' : ''}`, low, high, 0, t.length, `[${bytes(low)}, ${bytes(high)})`)),
          bar('index', slices.index, slices.index + 1, 0, t.length, `index ${slices.index}`));
      const text = part.ranges.map(([low, high]) => `[${bytes(low)}, ${bytes(high)})`).join(' ');
      return el('div', {class: `memrow${part.culprit ? ' culprit' : ''}`},
          el('span', {class: 'name'}, part.culprit ? el('span', {class: 'sign', 'aria-label': 'culprit'}, '\u25b6 ') : '',
              `chip ${part.chip}`, el('small', {}, ` part ${part.part}, ${part.tensor}`), part.source ? sourceLink(part.source) : ''),
          el('span', {class: 'range', title: text}, text, part.left ? ` and ${part.left} more` : ''), track);
    };
    const covered = (index) => t.parts.filter((p) => p.ranges.some(([l, h]) => l <= index && index < h)).length;
    const ticks = el('div', {class: 'ticks'}, ...[0, 0.25, 0.5, 0.75, 1].map((f) => {
      const tick = el('span', {}, bytes(Math.round(f * t.length)));
      tick.style.left = percent(100 * f);
      return tick;
    }));
    return el('div', {class: 'sliced'},
        el('p', {}, el('b', {}, t.name), ` ${t.rows} \u00d7 ${t.cols}, cut in ${t.axis} along ${t.dimension}, every index in ` +
          `${plural(t.copies, 'part')}; index ${bytes(slices.index)} is in ${t.left ? 'at least ' : ''}${covered(slices.index)}`),
        el('div', {class: 'memory slices'},
            el('div', {class: 'memrow head'}, el('span', {}, 'chip'), el('span', {}, t.axis), ticks), ...t.parts.map(row)),
        t.left ? el('p', {class: 'note'}, `${plural(t.left, 'part')} are not in this page.`) : null);
  });
  return el('figure', {class: 'map'}, el('figcaption', {}, el('h4', {}, 'Slices')), ...figures);
}

// Sections in order, by phase; those that a counterexample is about are marked by its rule.
function strip(data, rule) {
  const groups = [];
  let before = -1;
  for (const s of data.sections) {
    let group = groups[groups.length - 1];
    if (!group || group.phase !== s.phase) groups.push(group = {phase: s.phase, items: []});
    if (s.n > before + 1) group.items.push(el('li', {class: 'gap'}, `\u22ef ${s.n - before - 1}`));
    const rules = rule ? s.rules.filter((r) => r === rule) : s.rules;
    const title = `section ${s.name}, phase ${s.phase + 1}${s.source ? ', ' + s.source : ''}`;
    group.items.push(el('li', {class: rules.length ? 'section culprit' : 'section', title},
        rules.length ? el('span', {class: 'sign', 'aria-hidden': 'true'}, '\u25bc ') : '', s.name,
        rules.length && s.source ? sourceLink(s.source) : '',
        rules.length ? el('span', {class: 'of'}, rule ? el('span', {class: 'unseen'}, ' (here)') : ` ${rules.join(', ')}`) : ''));
    before = s.n;
  }
  if (data.count > before + 1 && groups.length) {
    groups[groups.length - 1].items.push(el('li', {class: 'gap'}, `\u22ef ${data.count - before - 1}`));
  }
  const closing = '\u2503 is a closed boundary';
  return [el('h4', {}, `${plural(data.count, 'section')} in ${plural(data.phases, 'phase')}`),
    el('ol', {class: 'phases', tabindex: 0, 'aria-label': 'Sections by phase'}, ...groups.map((g) => el('li', {class: 'phase'},
        el('span', {class: 'nr'}, `phase ${g.phase + 1}`), el('ol', {}, ...g.items)))),
    groups.length > 1 ? el('small', {}, closing) : ''];
}

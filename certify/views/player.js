// Replays: a schedule as a list of states, with a slider. Every state was played by the token game;
// here a step only sets the values that came with it, and going back restores what was there.
const el = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'class') node.className = value;
    else node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
};
const kSvg = 'http://www.w3.org/2000/svg';
const svg = (tag, attributes) => {
  const node = document.createElementNS(kSvg, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
};
const plural = (n, word) => `${n.toLocaleString('en')} ${word}${n === 1 ? '' : 's'}`;

// States of one schedule. `at` counts steps taken of those that the page has.
class Replay {
  constructor(scene, schedule) {
    this.scene = scene;
    this.schedule = schedule;
    this.at = 0;
    this.next = schedule.next.slice();
    this.values = schedule.values.slice();
    this.waits = new Map(schedule.waits.map((w) => [w[0], w]));
    this.undo = [];
  }
  get length() { return this.schedule.steps.length; }
  step(i) {
    const [lane, t, supplier, changes, waits, op, instance] = this.schedule.steps[i];
    return {lane, t, supplier, changes, waits, op, instance};
  }
  // The step taken last; null before the first.
  get last() { return this.at > 0 ? this.step(this.at - 1) : null; }
  forward() {
    const s = this.step(this.at);
    this.undo.push({
      next: this.next[s.lane],
      values: s.changes.map(([g]) => [g, this.values[g]]),
      waits: s.waits.map((w) => [w[0], this.waits.get(w[0])]),
    });
    this.next[s.lane] = s.t + 1;
    for (const [g, value] of s.changes) this.values[g] = value;
    for (const w of s.waits) w.length > 1 ? this.waits.set(w[0], w) : this.waits.delete(w[0]);
    ++this.at;
  }
  back() {
    --this.at;
    const s = this.step(this.at);
    const old = this.undo.pop();
    this.next[s.lane] = old.next;
    for (const [g, value] of old.values) this.values[g] = value;
    for (const [lane, w] of old.waits) w ? this.waits.set(lane, w) : this.waits.delete(lane);
  }
  go(to) {
    const target = Math.max(0, Math.min(this.length, to));
    while (this.at < target) this.forward();
    while (this.at > target) this.back();
  }
  // What holds a lane back: {counter, need, have}, or null.
  wait(lane) {
    const w = this.waits.get(lane);
    return w ? {counter: this.scene.counters[w[1]], need: w[2], have: this.values[this.scene.counter_gauges[w[1]]]} : null;
  }
  stuck(lane) { return this.at === this.length && this.schedule.stuck.includes(lane); }
}

const opOf = (scene, op) => {
  const [number, text, part, source] = scene.ops[op];
  return {number, text, part: scene.parts[part], source: scene.sources[source]};
};
const opText = (scene, op, instance) => `op ${scene.ops[op][0]} ${scene.ops[op][1]}${scene.instances[instance]}`;

const kFewGauges = 30;  // that are always shown
const kRecent = 20;     // steps that a change is recent for

// The controls of a replay, and the tables of what its state holds. `show` is called after a change.
class Player {
  constructor(scene, id, show) {
    this.scene = scene;
    this.id = id;
    this.show = show;
    this.replays = scene.schedules.map((s) => new Replay(scene, s));
    this.which = 0;
    this.timer = 0;
    this.marks = new Map();
    for (const m of scene.marks) {
      if (m.label) this.marks.set(m.t, (this.marks.get(m.t) ?? []).concat(m.label));
    }
  }
  get replay() { return this.replays[this.which]; }

  build() {
    const icon = (d) => {
      const picture = svg('svg', {viewBox: '0 0 16 16', 'aria-hidden': 'true', class: 'icon'});
      picture.append(svg('path', {d}));
      return picture;
    };
    this.icons = {play: icon('M4 2 L14 8 L4 14 Z'), pause: icon('M3 2 H7 V14 H3 Z M9 2 H13 V14 H9 Z')};
    const button = (sign, label, action, extra) => el('button',
        {type: 'button', class: 'step', 'aria-label': label, title: label, onclick: action, ...extra}, sign);
    this.play_ = button(this.icons.play, 'Play', () => this.toggle(), {'data-action': 'play'});
    this.slider = el('input', {type: 'range', min: 0, step: 1, value: 0, 'aria-label': 'Step of the schedule',
      oninput: () => this.go(Number(this.slider.value))});
    this.count = el('output', {class: 'count', 'data-out': 'count'});
    this.caption = el('p', {class: 'caption', 'data-out': 'caption'});
    this.stop = el('p', {class: 'stop', hidden: true});
    this.note = el('p', {class: 'note', hidden: true});
    this.speed = el('select', {'aria-label': 'Steps per second'},
        ...[1, 2, 5, 20].map((n) => el('option', {value: n, selected: n === 2}, `${n}/s`)));
    const choice = this.replays.length < 2 ? null : el('fieldset', {class: 'choice'},
        el('legend', {}, 'Schedule'), ...this.replays.map((r, i) => el('label', {},
            el('input', {type: 'radio', name: `${this.id}-schedule`, value: i, checked: i === 0,
              onchange: () => this.choose(i)}),
            ` ${i + 1}${r.schedule.title ? ': ' + r.schedule.title : ''}`)));
    this.bar = el('div', {class: 'player', role: 'group', 'aria-label': 'Replay'}, choice,
        el('div', {class: 'buttons'},
            button(icon('M2 2 H4 V14 H2 Z M14 2 L5 8 L14 14 Z'), 'First step', () => this.go(0), {'data-action': 'first'}),
            button(icon('M10.5 2 L4.5 8 L10.5 14 L12 12.7 L7.3 8 L12 3.3 Z'), 'Step back', () => this.go(this.replay.at - 1), {'data-action': 'back'}),
            this.play_,
            button(icon('M5.5 2 L11.5 8 L5.5 14 L4 12.7 L8.7 8 L4 3.3 Z'), 'Step forward', () => this.go(this.replay.at + 1), {'data-action': 'forward'}),
            button(icon('M14 2 H12 V14 H14 Z M2 2 L11 8 L2 14 Z'), 'Last step', () => this.go(this.replay.length), {'data-action': 'last'}),
            this.speed),
        this.slider, this.count);
    this.semaphores = el('tbody');
    this.fifos = el('tbody');
    this.engines = el('tbody');
    const table = (name, heads, body) => el('div', {class: 'state'}, el('h4', {}, name),
        el('table', {}, el('thead', {}, el('tr', {}, ...heads.map((h) => el('th',
            {scope: 'col', class: ['value', 'max', 'filled', 'of'].includes(h) ? 'number' : null}, h)))), body));
    this.panel = el('div', {class: 'panel', tabindex: 0, role: 'region', 'aria-label': 'State after this step'},
        table('Engine programs', ['engine', 'state'], this.engines),
        this.scene.gauges.length > kFewGauges ? el('label', {class: 'few'}, el('input', {type: 'checkbox', checked: true}),
            ` only what changed in the last ${kRecent} steps, or is waited for`) : null,
        this.has('semaphore') ? table('Semaphores', ['name', 'value', 'max', ''], this.semaphores) : null,
        this.has('filled') ? table('FIFOs', ['name', 'filled', 'of', '', 'open'], this.fifos) : null);
    this.head = el('div', {class: 'replay'}, this.bar, this.caption, this.stop, this.note);
    this.buildGauges();
    this.buildEngines();
    this.choose(0);
    return this;
  }
  has(kind) { return this.scene.gauges.some((g) => g.kind === kind); }

  buildGauges() {
    this.cells = [];
    const gauges = this.scene.gauges;
    gauges.forEach((g, i) => {
      if (g.kind === 'semaphore') {
        const value = el('td', {class: 'number', 'data-gauge': i});
        const bar = el('td', {class: 'bar', 'aria-hidden': 'true'}, el('i'));
        const row = el('tr', {}, el('th', {scope: 'row', title: `${g.name}, ${g.site}`}, g.name), value,
            el('td', {class: 'number'}, String(g.most)), bar);
        this.semaphores.append(row);
        this.cells[i] = {value, row, bar: bar.firstChild, most: g.most};
      } else if (g.kind === 'filled') {
        const value = el('td', {class: 'number', 'data-gauge': i});
        const pips = el('td', {class: 'pips', 'aria-hidden': 'true'});
        const open = el('td', {class: 'open'});
        const most = g.guaranteed ? `\u2265 ${g.most}` : String(g.most);
        const row = el('tr', {}, el('th', {scope: 'row', title: `${g.name}, ${g.site}`}, g.name), value,
            el('td', {class: 'number'}, most), pips, open);
        this.fifos.append(row);
        this.cells[i] = {value, row, pips, open, most: g.most, fifo: i};
        this.cells[i + 1] = this.cells[i + 2] = this.cells[i + 3] = {of: i};
      }
    });
  }
  buildEngines() {
    this.laneCells = this.scene.lanes.map((lane, i) => {
      const state = el('td', {'data-lane-state': i});
      const row = el('tr', {class: i < this.scene.involved ? 'involved' : 'other'},
          el('th', {scope: 'row'}, lane.name), state);
      if (i < this.scene.involved || i < 24) this.engines.append(row);
      return {state, row, text: null};
    });
    const hidden = this.scene.lanes.length - Math.max(this.scene.involved, Math.min(24, this.scene.lanes.length));
    if (hidden > 0) {
      const more = el('button', {type: 'button', class: 'more', onclick: () => {
        for (const cell of this.laneCells) this.engines.append(cell.row);
        more.closest('tr').remove();
        this.update();
      }}, `${hidden} more`);
      this.engines.append(el('tr', {class: 'more'}, el('td', {colspan: 2}, more)));
    }
  }

  choose(which) {
    this.pause();
    this.which = which;
    const {schedule} = this.replay;
    this.slider.max = this.replay.length;
    this.note.hidden = schedule.skipped === 0;
    this.note.textContent = `The schedule has ${plural(schedule.total, 'step')}. This page has the last ` +
        `${this.replay.length.toLocaleString('en')}, and the state before them.`;
    for (const cell of this.cells) if (cell) cell.shown = undefined;
    this.replay.go(this.replay.length);
    this.update(true);
  }
  go(to, playing = false) {
    if (!playing) this.pause();
    this.replay.go(to);
    this.update();
  }
  toggle() {
    if (this.timer) return this.pause();
    if (this.replay.at === this.replay.length) this.replay.go(0);
    const tick = () => {
      if (this.replay.at >= this.replay.length) return this.pause();
      this.go(this.replay.at + 1, true);
      this.timer = setTimeout(tick, 1000 / Number(this.speed.value));
    };
    this.timer = setTimeout(tick, 300);
    this.playing(true);
    this.update();
  }
  pause() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.play_) this.playing(false);
  }
  playing(on) {
    this.play_.replaceChildren(on ? this.icons.pause : this.icons.play);
    this.play_.setAttribute('aria-label', on ? 'Pause' : 'Play');
    this.play_.title = on ? 'Pause' : 'Play';
    // Every step read aloud would be noise while it plays.
    this.caption.setAttribute('aria-live', on ? 'off' : 'polite');
  }

  update() {
    const r = this.replay, {scene} = this, last = r.last;
    this.slider.value = r.at;
    const number = r.schedule.skipped + r.at;
    this.count.textContent = `step ${number.toLocaleString('en')} of ${r.schedule.total.toLocaleString('en')}`;
    this.caption.replaceChildren();
    if (last) {
      const marks = this.marks.get(last.t);
      this.caption.append(el('b', {}, scene.lanes[last.lane].name), ' ',
          el('code', {}, opText(scene, last.op, last.instance)),
          marks ? el('span', {class: 'mark'}, ` \u2190 (${marks.join(', ')})`) : '');
    } else {
      this.caption.append(r.schedule.skipped ? 'The state before these steps.' : 'The start: nothing performed yet.');
    }
    this.slider.setAttribute('aria-valuetext', `${this.count.textContent}: ${this.caption.textContent}`);
    const end = r.at === r.length;
    this.stop.hidden = !end || !r.schedule.stop;
    this.stop.textContent = r.schedule.stop;
    this.updateGauges(last);
    this.updateLanes(last);
    this.show(this);
  }
  updateGauges(last) {
    const changed = new Set(last ? last.changes.map(([g]) => this.cells[g].of ?? g) : []);
    const {values} = this.replay;
    const active = this.active();
    this.cells.forEach((cell, g) => {
      if (cell.of !== undefined) return;
      cell.row.classList.toggle('changed', changed.has(g));
      cell.row.classList.toggle('quiet', !active.has(g));
      const now = cell.fifo === undefined ? values[g] : `${values[g]},${values[g + 2]},${values[g + 3]}`;
      if (cell.shown === now) return;
      cell.shown = now;
      cell.value.textContent = values[g];
      if (cell.bar) cell.bar.style.width = `${cell.most > 0 ? Math.min(100, 100 * values[g] / cell.most) : 0}%`;
      if (cell.pips) {
        const pages = Math.max(cell.most, values[g]);
        cell.pips.textContent = pages <= 16
            ? '\u25a0'.repeat(values[g]) + '\u25a1'.repeat(pages - values[g]) : '';
        cell.open.textContent = [values[g + 2] ? `back ${values[g + 2]}` : '', values[g + 3] ? `front ${values[g + 3]}` : '']
            .filter(Boolean).join(', ');
        cell.open.title = 'pages of the window that the producer has reserved, and the consumer has at the front';
      }
    });
  }
  // Gauges that changed of late, or that somebody waits for.
  active() {
    const r = this.replay, active = new Set();
    for (let i = Math.max(0, r.at - kRecent); i < r.at; ++i) {
      for (const [g] of r.step(i).changes) active.add(this.cells[g].of ?? g);
    }
    for (const w of r.waits.values()) {
      const g = this.scene.counter_gauges[w[1]];
      active.add(this.cells[g].of ?? g);
    }
    return active;
  }
  updateLanes(last) {
    this.laneCells.forEach((cell, lane) => {
      if (!cell.row.isConnected && this.panel.isConnected) return;
      const {text, kind} = this.laneState(lane);
      const fired = last !== null && last.lane === lane;
      if (cell.text !== text || cell.kind !== kind) {
        cell.text = text;
        cell.kind = kind;
        cell.state.textContent = text;
        cell.state.className = `is ${kind}`;
      }
      cell.row.classList.toggle('fired', fired);
    });
  }
  laneState(lane) {
    const r = this.replay, w = r.wait(lane);
    if (w) {
      const text = `needs ${w.need} of ${w.counter}, has ${w.have}`;
      return r.stuck(lane) ? {text: `\u2715 for ever: ${text}`, kind: 'stuck'}
                           : {text: `\u2016 blocked: ${text}`, kind: 'blocked'};
    }
    if (r.next[lane] >= this.scene.lanes[lane].end) return {text: '\u2713 finished', kind: 'finished'};
    return {text: '\u25b8 can step', kind: 'ready'};
  }
}

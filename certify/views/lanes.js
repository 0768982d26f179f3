// Engine programs side by side, one column each, ops from top to bottom. Rows have one height and
// columns one width, so that arrows can be drawn without measuring anything.
const kRow = 24, kColumn = 268, kGap = 20;
const kNear = 2;         // ops around a marked one that are shown at first
const kAll = 14;         // lanes of so few ops are shown whole
const kExpand = 40;      // ops that one click adds
const kLinesDrawn = 400; // hand-offs drawn at once
const kStops = 'li button';

class Lanes {
  constructor(scene, id, player) {
    this.scene = scene;
    this.id = id;
    this.player = player;
    this.only = true;
    this.filter = '';
    this.marksAt = new Map();
    for (const m of scene.marks) this.marksAt.set(m.t, (this.marksAt.get(m.t) ?? []).concat(m));
    this.shown = scene.lanes.map((lane) => this.shownAtFirst(lane));
  }

  // Transitions of a lane that are shown; all others stand behind a row that says how many.
  shownAtFirst(lane) {
    const rows = lane.rows.map((r) => r[0]);
    const index = this.scene.lanes.indexOf(lane);
    if (rows.length <= kAll && lane.end - lane.begin === rows.length) return new Set(rows);
    const shown = new Set();
    const have = new Set(rows);
    const around = (t, before, behind) => {
      for (let u = t - before; u <= t + behind; ++u) if (have.has(u)) shown.add(u);
    };
    for (const t of rows) if (this.marksAt.has(t)) around(t, kNear, kNear);
    for (const s of this.scene.schedules) {
      let end = s.next[index];
      for (let i = s.steps.length - 1; i >= 0; --i) {
        if (s.steps[i][0] === index) { end = s.steps[i][1] + 1; break; }
      }
      around(end, 2, 0);
    }
    if (shown.size === 0) around(rows[0] ?? 0, 0, 3);
    return shown;
  }

  build() {
    const {scene} = this;
    const others = scene.lanes.length - scene.involved;
    this.onlyBox = el('input', {type: 'checkbox', checked: true, onchange: () => {
      this.only = this.onlyBox.checked;
      this.render();
    }});
    this.find = el('input', {type: 'search', spellcheck: 'false', autocomplete: 'off', 'data-filter': true,
      oninput: () => { this.filter = this.find.value.toLowerCase(); this.render(); }});
    this.info = el('span', {class: 'info', role: 'status'});
    const bar = el('div', {class: 'lanebar'},
        el('label', {class: 'find'}, 'Filter lanes ', this.find),
        others > 0 ? el('label', {}, this.onlyBox, ` only lanes involved (${scene.involved})`) : null,
        el('button', {type: 'button', onclick: () => this.expandAll()}, 'Expand all'),
        this.info);
    this.columns = el('div', {class: 'columns'});
    this.arrows = svg('svg', {class: 'arrows', 'aria-hidden': 'true'});
    this.board = el('div', {class: 'board', tabindex: 0, role: 'region',
      'aria-label': 'Engine programs, one column each; arrow keys go from op to op'}, this.columns, this.arrows);
    this.detail = el('div', {class: 'detail', 'aria-live': 'polite'});
    this.node = el('div', {class: 'lanes'}, bar, this.legend(), this.board, this.detail);
    this.board.addEventListener('scroll', () => this.drawSoon(), {passive: true});
    this.board.addEventListener('click', (e) => {
      const row = e.target.closest('[data-t]');
      if (row) this.select(Number(row.dataset.t));
    });
    this.board.addEventListener('keydown', (e) => this.move(e));
    this.board.addEventListener('focusin', (e) => { if (e.target.matches(kStops)) this.stopAt(e.target); });
    this.render();
    const first = this.scene.marks.find((m) => m.label && this.rowNodes.has(m.t));
    if (first) this.select(first.t);
    return this;
  }
  // One stop for the Tab key; from there arrow keys go up and down a lane, and to the lanes beside it.
  stopAt(node) {
    this.stop?.setAttribute('tabindex', '-1');
    this.stop = node;
    node?.setAttribute('tabindex', '0');
  }
  move(e) {
    const here = e.target.closest('li');
    const by = {ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0]}[e.key];
    if (!here || !by) return;
    e.preventDefault();
    const lane = here.parentNode.parentNode;
    const beside = by[0] < 0 ? lane.previousElementSibling : by[0] > 0 ? lane.nextElementSibling : lane;
    if (!beside) return;
    const stops = [...beside.querySelectorAll(kStops)];
    const y = (node) => parseFloat(node.closest('li').style.top);
    const target = by[0] === 0 ? stops[stops.indexOf(e.target) + by[1]]
        : stops.reduce((best, n) => !best || Math.abs(y(n) - y(e.target)) < Math.abs(y(best) - y(e.target)) ? n : best, null);
    target?.focus();
  }

  legend() {
    const item = (kind, text) => el('span', {class: `key ${kind}`}, el('i', {'aria-hidden': 'true'}), text);
    const roles = new Set(this.scene.links.map((l) => l.role));
    return el('p', {class: 'legend'},
        this.scene.schedules.length ? item('handoff', 'hand-off in this schedule') : null,
        roles.has('missing') ? item('missing', 'never comes') : null,
        roles.has('behind') ? item('behind', 'stands behind') : null,
        roles.has('conflict') ? item('conflict', this.scene.kind === 'race' ? 'nothing orders these' : 'in each other\u2019s way') : null,
        roles.has('flow') ? item('flow', 'data') : null,
        this.scene.schedules.length ? item('done', 'performed') : null,
        this.scene.schedules.length ? item('now', 'performed last') : null);
  }

  visible() {
    const {scene} = this;
    const all = scene.lanes.map((lane, i) => i);
    if (this.filter) return all.filter((i) => scene.lanes[i].name.toLowerCase().includes(this.filter));
    return all.filter((i) => !this.only || i < scene.involved);
  }
  // Items of a column: ops, and gaps with how many ops they stand for.
  items(index) {
    const lane = this.scene.lanes[index], items = [];
    let at = lane.begin;
    for (const row of lane.rows) {
      if (!this.shown[index].has(row[0])) continue;
      if (row[0] > at) items.push({gap: true, from: at, to: row[0]});
      items.push({t: row[0], row});
      at = row[0] + 1;
    }
    if (at < lane.end) items.push({gap: true, from: at, to: lane.end});
    return items;
  }

  // Rows that a hand-off joins stand one below the other, if that does not make the picture long.
  place(columns) {
    const level = new Map();
    const step = new Map();
    const schedule = this.player ? this.player.replay.schedule : null;
    schedule?.steps.forEach((s, i) => step.set(s[1], {i, supplier: s[2]}));
    const rank = (item) => step.get(item.gap ? item.to - 1 : item.t)?.i ?? Infinity;
    const heads = columns.map(() => 0), free = columns.map(() => 0);
    let left = columns.reduce((n, c) => n + c.items.length, 0);
    let deepest = 0, longest = 0;
    for (const c of columns) longest = Math.max(longest, c.items.length);
    while (left-- > 0) {
      let best = -1, bestRank = Infinity;
      columns.forEach((c, k) => {
        if (heads[k] >= c.items.length) return;
        const r = rank(c.items[heads[k]]);
        if (best < 0 || r < bestRank) { best = k; bestRank = r; }
      });
      const item = columns[best].items[heads[best]++];
      const from = item.gap ? undefined : level.get(step.get(item.t)?.supplier);
      item.y = Math.max(free[best], from === undefined ? 0 : from + 1);
      free[best] = item.y + 1;
      if (!item.gap) level.set(item.t, item.y);
      deepest = Math.max(deepest, item.y + 1);
    }
    if (deepest > 4 * longest + 20) {
      for (const c of columns) c.items.forEach((item, y) => { item.y = y; });
      deepest = longest;
    }
    return deepest;
  }

  render() {
    const visible = this.visible();
    const columns = visible.map((lane) => ({lane, items: this.items(lane)}));
    this.depth = this.place(columns);
    this.at = new Map();
    this.gaps = [];
    this.rowNodes = new Map();
    columns.forEach((c, k) => {
      for (const item of c.items) {
        if (item.gap) this.gaps.push({...item, k});
        else this.at.set(item.t, {k, y: item.y});
      }
    });
    this.laneHeads = new Map();
    this.columns.replaceChildren(...columns.map((c) => this.column(c)));
    this.stop = null;
    this.stopAt(this.rowNodes.get(this.selected)?.querySelector('button') ?? this.columns.querySelector(kStops));
    // Lanes out of sight are not drawn; how high they are is known.
    this.columns.classList.toggle('many', visible.length > 12);
    for (const lane of this.columns.children) lane.style.containIntrinsicSize = `${kColumn}px ${this.depth * kRow + 80}px`;
    this.columns.style.width = `${visible.length * (kColumn + kGap)}px`;
    const total = this.scene.lanes.length + this.scene.lanes_left_out;
    this.info.textContent = `${plural(visible.length, 'lane')} of ${total.toLocaleString('en')}` +
        (this.scene.lanes_left_out ? `; ${this.scene.lanes_left_out.toLocaleString('en')} are not in this page` : '');
    if (this.selected !== undefined) this.rowNodes.get(this.selected)?.classList.add('selected');
    this.update();
  }
  column({lane, items}) {
    const {scene} = this;
    const name = scene.lanes[lane].name;
    const now = el('span', {class: 'now'});
    this.laneHeads.set(lane, now);
    const list = el('ol', {class: 'ops', 'aria-label': `Ops of ${name}`});
    list.style.height = `${this.depth * kRow}px`;
    for (const item of items) list.append(item.gap ? this.gap(lane, item) : this.row(item));
    return el('section', {class: `lane${lane < scene.involved ? ' involved' : ''}`, 'data-lane': lane},
        el('header', {}, el('b', {title: name}, name), now), list);
  }
  row(item) {
    const {scene} = this, [t, op, instance] = item.row;
    const {number, text, part, source} = opOf(scene, op);
    const marks = this.marksAt.get(t) ?? [];
    const labels = marks.map((m) => m.label).filter(Boolean);
    const title = [`op ${number} ${text}${scene.instances[instance]}`, part, source,
      ...marks.map((m) => m.text)].filter(Boolean).join('\n');
    const node = el('li', {class: ['op', ...new Set(marks.map((m) => m.role))].join(' '), 'data-t': t, title},
        el('span', {class: 'number'}, String(number)),
        el('button', {type: 'button', class: 'what', tabindex: -1}, text,
            scene.instances[instance] ? el('span', {class: 'instance'}, scene.instances[instance]) : null),
        labels.length ? el('span', {class: 'label'}, labels.join(' ')) : null);
    node.style.top = `${item.y * kRow}px`;
    this.rowNodes.set(t, node);
    return node;
  }
  gap(lane, item) {
    const have = this.scene.lanes[lane].rows.filter((r) => r[0] >= item.from && r[0] < item.to).length;
    const count = item.to - item.from;
    const text = `\u22ee ${plural(count, 'op')}${have < count ? (have ? `, ${have} here` : ', not in this page') : ''}`;
    const node = el('li', {class: 'gap', 'data-from': item.from, 'data-to': item.to},
        have ? el('button', {type: 'button', tabindex: -1, 'aria-label': `Show ${text.slice(2)} more`,
          onclick: () => this.expand(lane, item)}, text) : el('span', {}, text));
    node.style.top = `${item.y * kRow}px`;
    item.node = node;
    return node;
  }
  expand(lane, {from, to}) {
    const inside = this.scene.lanes[lane].rows.map((r) => r[0]).filter((t) => t >= from && t < to);
    // From the end nearest to what is shown already: from behind if nothing stands before it.
    const first = this.scene.lanes[lane].begin === from;
    const added = first ? inside.slice(-kExpand) : inside.slice(0, kExpand);
    for (const t of added) this.shown[lane].add(t);
    this.render();
    this.rowNodes.get(added[0])?.querySelector('button').focus({preventScroll: true});
  }
  expandAll() {
    for (const lane of this.visible()) {
      for (const r of this.scene.lanes[lane].rows.slice(-400)) this.shown[lane].add(r[0]);
    }
    this.render();
  }

  select(t) {
    const {scene} = this;
    this.rowNodes.get(this.selected)?.classList.remove('selected');
    this.selected = t;
    const node = this.rowNodes.get(t);
    if (!node) return;
    node.classList.add('selected');
    this.stopAt(node.querySelector('button'));
    const lane = scene.lanes.find((l) => l.begin <= t && t < l.end);
    const row = lane.rows.find((r) => r[0] === t);
    const {number, text, part, source} = opOf(scene, row[1]);
    this.detail.replaceChildren(
        el('b', {}, lane.name), ' ', el('code', {}, `op ${number} ${text}${scene.instances[row[2]]}`), ` \u00b7 ${part} `,
        source ? sourceLink(source) : '',
        ...(this.marksAt.get(t) ?? []).map((m) => el('div', {class: 'why'}, m.text)),
        ...scene.links.filter((l) => l.from === t || l.to === t).map((l) => el('div', {class: 'why'},
            `${l.role === 'conflict' ? '\u2194' : l.from === t ? '\u2192' : '\u2190'} ${l.text}`)));
  }

  // After a step: what is performed, where every engine program stands, the hand-offs so far.
  update() {
    const replay = this.player?.replay;
    if (replay) {
      const last = replay.last;
      for (const [t, node] of this.rowNodes) {
        const lane = Number(node.parentNode.parentNode.dataset.lane);
        const next = replay.next[lane];
        node.classList.toggle('done', t < next);
        node.classList.toggle('fired', last !== null && last.t === t);
        node.classList.toggle('next', t === next);
        if (t === next) node.classList.toggle('held', replay.wait(lane) !== null);
        else node.classList.remove('held');
      }
      for (const node of this.columns.querySelectorAll('.gap')) {
        const next = replay.next[Number(node.parentNode.parentNode.dataset.lane)];
        node.classList.toggle('done', Number(node.dataset.to) <= next);
        node.classList.toggle('here', Number(node.dataset.from) <= next && next < Number(node.dataset.to));
      }
      for (const [lane, node] of this.laneHeads) {
        const {text, kind} = this.player.laneState(lane);
        node.textContent = text;
        node.title = text;
        node.className = `now is ${kind}`;
      }
    }
    this.drawSoon();
  }
  drawSoon() {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => { this.drawing = 0; this.draw(); });
  }

  // Arrows. Only those that cross what can be seen.
  draw() {
    const width = this.columns.scrollWidth, height = this.depth * kRow;
    this.arrows.setAttribute('width', width);
    this.arrows.setAttribute('height', height + 30);
    const lines = [this.heads()];
    const low = this.board.scrollLeft - kColumn, high = this.board.scrollLeft + this.board.clientWidth + kColumn;
    const inView = (a, b) => {
      const x0 = Math.min(a.k, b.k) * (kColumn + kGap), x1 = (Math.max(a.k, b.k) + 1) * (kColumn + kGap);
      return x1 >= low && x0 <= high;
    };
    const replay = this.player?.replay;
    if (replay) {
      let drawn = 0;
      for (let i = replay.at - 1; i >= 0 && drawn < kLinesDrawn; --i) {
        const s = replay.step(i);
        if (s.supplier < 0) continue;
        const a = this.at.get(s.supplier), b = this.at.get(s.t);
        if (!a || !b || a.k === b.k || !inView(a, b)) continue;
        lines.push(this.line(a, b, i === replay.at - 1 ? 'handoff now' : 'handoff'));
        ++drawn;
      }
    }
    for (const l of this.scene.links) {
      const a = this.at.get(l.from), b = this.at.get(l.to);
      if (a && b && inView(a, b)) lines.push(this.line(a, b, l.role));
    }
    this.arrows.replaceChildren(...lines);
  }
  heads() {
    const defs = svg('defs', {});
    for (const kind of ['handoff', 'missing', 'behind', 'conflict', 'flow']) {
      const marker = svg('marker', {id: `${this.id}-${kind}`, viewBox: '0 0 8 8', refX: 7, refY: 4,
        markerWidth: 8, markerHeight: 8, markerUnits: 'userSpaceOnUse', orient: 'auto-start-reverse', class: `head ${kind}`});
      marker.append(svg('path', {d: 'M0 0.5 L8 4 L0 7.5 Z'}));
      defs.append(marker);
    }
    return defs;
  }
  line(a, b, role) {
    const kind = role.split(' ')[0];
    const y0 = (a.y + 0.5) * kRow, y1 = (b.y + 0.5) * kRow;
    const left = (k) => k * (kColumn + kGap), right = b.k > a.k;
    let d;
    if (a.k === b.k) {
      const x = left(a.k) - 1;
      d = `M${x} ${y0} C${x - 12} ${y0} ${x - 12} ${y1} ${x} ${y1}`;
    } else if (Math.abs(a.k - b.k) > 1 && kind !== 'handoff') {
      // Across other lanes: below all of them, so that it can be followed.
      const x0 = left(a.k) + (right ? kColumn : 0), x1 = left(b.k) + (right ? 0 : kColumn);
      const out = right ? 6 : -6, low = this.depth * kRow + 10 + 5 * (a.k % 4);
      d = `M${x0} ${y0} H${x0 + out} V${low} H${x1 - out} V${y1} H${x1}`;
    } else {
      const x0 = left(a.k) + (right ? kColumn : 0), x1 = left(b.k) + (right ? 0 : kColumn);
      const bend = Math.min(60, 14 + Math.abs(x1 - x0) / 3) * (right ? 1 : -1);
      d = `M${x0} ${y0} C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`;
    }
    const path = svg('path', {d, class: `arrow ${role}`, 'marker-end': `url(#${this.id}-${kind})`});
    if (kind === 'conflict') path.setAttribute('marker-start', `url(#${this.id}-${kind})`);
    return path;
  }
}

// The page: views are built when they come into sight; theme, table of contents, sources.
const dataOf = (id) => {
  const node = document.getElementById(id);
  return node ? JSON.parse(node.textContent) : null;
};
// Nothing may be stored where the browser forbids it; then settings last as long as the page.
const stored = {
  get(key) { try { return localStorage.getItem(`spatialcert-${key}`); } catch { return null; } },
  set(key, value) { try { localStorage.setItem(`spatialcert-${key}`, value); } catch { /* not kept */ } },
};
const say = (text) => { document.getElementById('said').textContent = text; };

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el('textarea', {class: 'unseen', 'aria-hidden': 'true'});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  say(`Copied ${text}`);
}

// A source location: opens the user's editor if the page was told how, else is copied.
function sourceLink(source) {
  const template = stored.get('template') ?? '';
  const match = /^(.*?):(\d+)(?::(\d+))?$/.exec(source);
  if (template && match && !/^\s*(javascript|data|vbscript):/i.test(template)) {
    const href = template.replaceAll('{file}', encodeURI(match[1])).replaceAll('{line}', match[2])
        .replaceAll('{column}', match[3] ?? '1');
    return el('a', {class: 'source', href, 'data-source': source}, source);
  }
  return el('button', {type: 'button', class: 'source', 'data-source': source, title: 'Copy',
    onclick: (e) => { copy(source); e.currentTarget.classList.add('copied'); }}, source);
}

// The source locations in the text of a report become links: those that the counterexample has, and nothing else
// that may look like one.
function linkSources(pre, sources) {
  const known = new Set(sources);
  const parts = pre.textContent.split(/(\[[^\[\]\n]+\])/);
  if (!parts.some((p) => known.has(p.slice(1, -1)))) return;
  pre.replaceChildren(...parts.flatMap((p) => known.has(p.slice(1, -1)) ? ['[', sourceLink(p.slice(1, -1)), ']'] : [p]));
}

function buildScene(place) {
  const id = place.dataset.scene;
  const scene = dataOf(id);
  if (!scene || place.dataset.built) return;
  place.dataset.built = 'yes';
  const parts = (scene.slices?.tensors ?? []).flatMap((t) => t.parts);
  linkSources(place.closest('section').querySelector('pre'), [...(scene.sources ?? []),
    ...[...(scene.memory?.buffers ?? []), ...(scene.path?.ops ?? []), ...parts].map((x) => x.source)].filter(Boolean));
  if (scene.memory) place.append(memoryMap(scene.memory, id));
  if (scene.slices) place.append(sliceMap(scene.slices));
  if (scene.path) place.append(pathMap(scene.path));
  if (scene.terms) place.append(termTable(scene.terms));
  if (!scene.lanes) return;
  let lanes = null;
  const player = scene.schedules.length ? new Player(scene, id, () => lanes?.update()).build() : null;
  lanes = new Lanes(scene, id, player).build();
  if (player) {
    player.slider.addEventListener('keydown', (e) => {
      const far = Math.max(10, Math.round(player.replay.length / 10));
      const by = {PageUp: far, PageDown: -far}[e.key];
      if (by === undefined) return;
      e.preventDefault();
      player.go(player.replay.at + by);
    });
    const choose = player.choose.bind(player);
    player.choose = (which) => { choose(which); lanes.render(); };
  }
  place.append(el('figure', {class: 'scene'}, el('figcaption', {}, el('h4', {}, player ? 'Engine programs and schedule' : 'Engine programs')),
      player ? player.head : null, el('div', {class: 'split'}, lanes.node, player ? player.panel : null)));
  player?.update();
}

function theme() {
  const button = document.getElementById('theme');
  const names = ['system', 'light', 'dark'];
  const apply = (name) => {
    if (name === 'system') document.documentElement.removeAttribute('data-theme');
    else document.documentElement.dataset.theme = name;
    button.textContent = `Theme: ${name}`;
    button.setAttribute('aria-label', `Theme: ${name === 'system' ? 'as the system' : name}`);
    button.dataset.now = name;
  };
  apply(names.includes(stored.get('theme')) ? stored.get('theme') : 'system');
  button.addEventListener('click', () => {
    const name = names[(names.indexOf(button.dataset.now) + 1) % names.length];
    stored.set('theme', name);
    apply(name);
  });
}

function contents() {
  const find = document.getElementById('find');
  const items = [...document.querySelectorAll('nav.contents li')];
  find.addEventListener('input', () => {
    const wanted = find.value.toLowerCase();
    for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(wanted);
  });
}

function sources() {
  const input = document.getElementById('template');
  input.value = stored.get('template') ?? '';
  input.addEventListener('change', () => {
    stored.set('template', input.value.trim());
    for (const old of document.querySelectorAll('.source')) old.replaceWith(sourceLink(old.dataset.source));
  });
  for (const digest of document.querySelectorAll('code.digest')) {
    digest.after(' ', el('button', {type: 'button', class: 'small', onclick: () => copy(digest.dataset.copy)}, 'copy'));
  }
  for (const pre of document.querySelectorAll('.counterexample pre')) {
    pre.before(el('button', {type: 'button', class: 'small', onclick: () => copy(pre.textContent)}, 'Copy text'));
  }
}

const kBuilt = 150;  // views that are built without being in sight

function start() {
  theme();
  contents();
  sources();
  const build = (node) => {
    if (node.classList.contains('views')) return buildScene(node);
    const data = dataOf(node.dataset.sections);
    if (data && data.count > 0 && !node.firstChild) {
      node.append(...strip(data, node.dataset.rule));
      const list = node.querySelector('.phases'), culprit = node.querySelector('.culprit');
      if (culprit) list.scrollLeft = culprit.offsetLeft - list.offsetLeft - 120;
    }
  };
  const all = [...document.querySelectorAll('.strip, .views')];
  // What is in sight first; the rest bit by bit, so that the page is ready at once and nothing moves later.
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      build(entry.target);
    }
  }, {rootMargin: '800px'});
  for (const node of all) watcher.observe(node);
  let at = 0;
  const some = () => {
    const end = performance.now() + 12;
    while (at < Math.min(all.length, kBuilt) && performance.now() < end) build(all[at++]);
    if (at < Math.min(all.length, kBuilt)) setTimeout(some, 20);
  };
  setTimeout(some, 50);
  // Whoever jumps ahead must find everything before the place as high as it will be.
  const jump = () => {
    const target = location.hash ? document.getElementById(location.hash.slice(1)) : null;
    if (!target) return;
    const before = all.filter((node) => node.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING);
    if (before.length <= kBuilt) before.forEach(build);
    const program = target.closest('.program') ?? target;
    all.filter((node) => program.contains(node)).forEach(build);
    target.scrollIntoView();
  };
  addEventListener('hashchange', jump);
  addEventListener('beforeprint', () => all.forEach(build));
  jump();
}
start();

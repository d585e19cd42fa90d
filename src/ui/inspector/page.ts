import { ActorLog, type Entry } from './actor-log.ts';
import { follow, type Standing, takeToken } from './connection.ts';
import { drawChart, toneOf } from './draw-chart.ts';
import { EntryList } from './draw-entries.ts';
import { drawGroups, standingOf } from './draw-groups.ts';
import { byId, element } from './element.ts';
import { lineOf } from './state-tree.ts';

const log = new ActorLog();
const list = new EntryList(byId('entries', HTMLOListElement));
const groups = byId('groups', HTMLUListElement);
const filter = byId('filter', HTMLInputElement);
const pauseButton = byId('pause', HTMLButtonElement);

let chosen: string | null = null;
let isPaused = false;
let isDrawing = false;
let isKnown = false;

const standings: Record<Standing, string> = {
  connecting: 'Connecting…',
  connected: 'Live',
  lost: 'The agent does not answer. Trying again every second; nothing shown here is lost.',
  refused:
    'The agent refuses this page: its token is not the one in .service/inspector.token, or eight others watch already.',
};

groups.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('button') : null;
  if (button === null) return;
  chosen = button.dataset['group'] || null;
  drawNow();
  list.toEnd();
});
filter.addEventListener('input', drawNow);
pauseButton.addEventListener('click', () => {
  isPaused = !isPaused;
  pauseButton.textContent = isPaused ? 'Resume' : 'Pause';
  pauseButton.setAttribute('aria-pressed', String(isPaused));
  drawNow();
});
byId('clear', HTMLButtonElement).addEventListener('click', () => {
  log.clear();
  drawNow();
});

const token = takeToken();
if (token === null)
  say('refused', 'Open the address printed by the agent printed: this one has no token.');
else {
  follow(
    token,
    (event) => {
      log.add(event);
      drawSoon();
    },
    (standing) => say(standing, standings[standing]),
  );
}
drawNow();

function say(standing: Standing, text: string): void {
  const status = byId('status', HTMLParagraphElement);
  status.textContent = text;
  status.className = standing;
  isKnown ||= standing === 'connected';
  if (!isPaused) drawNow();
}

/** Renders once per frame for all pending changes. */
function drawSoon(): void {
  if (isDrawing || isPaused) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    if (!isPaused) drawNow();
  });
}

function drawNow(): void {
  const text = filter.value.trim().toLowerCase();
  drawGroups(groups, log.groups.values(), chosen);
  document.body.classList.toggle('one', chosen !== null);
  drawChosen();
  const shown = log.entries.filter(
    (entry) => (chosen === null || entry.group === chosen) && (text === '' || holds(entry, text)),
  );
  const leftOut = list.draw(shown);
  const counted = `${shown.length} of ${log.entries.length} events`;
  byId('count', HTMLParagraphElement).textContent =
    (leftOut === 0 ? counted : `${counted}, the newest ${shown.length - leftOut} drawn`) +
    (isPaused ? '; paused' : '');
  byId('empty', HTMLParagraphElement).hidden = log.entries.length > 0 || !isKnown;
  byId('unmatched', HTMLParagraphElement).hidden = shown.length > 0 || log.entries.length === 0;
}

function drawChosen(): void {
  const group = chosen === null ? undefined : log.groups.get(chosen);
  const chart = byId('chart', HTMLElement);
  chart.hidden = group === undefined || group.chart.states.length === 0;
  byId('title', HTMLHeadingElement).textContent = group?.name ?? 'Everything';
  const pill = byId('standing', HTMLSpanElement);
  pill.textContent = group === undefined ? '' : standingOf(group);
  pill.className = `pill ${group === undefined ? '' : toneOf(group)}`;
  pill.hidden = pill.textContent === '';
  if (group === undefined || chart.hidden) return;
  chart.replaceChildren(
    element(
      'header',
      {},
      element('h2', {}, 'Where it stands'),
      element('span', { class: 'faint' }, lineOf(group.value) || 'not known yet'),
    ),
    drawChart(group),
  );
}

function holds({ group, from, to, event, before, after }: Entry, text: string): boolean {
  return [group, from, to, event.type, before, after].join(' ').toLowerCase().includes(text);
}

import { type Entry, shortName } from './actor-log.ts';
import { element } from './element.ts';

/** Rows that are drawn; what came before can be had with a filter. */
const mostRows = 400;

/** Characters of a name that is shown whole in a row. */
const longestName = 24;

/** Draws the newest of what happened, and leaves the rows alone that stand there already. */
export class EntryList {
  readonly #list: HTMLElement;
  readonly #rows = new Map<number, { row: HTMLElement; isSettled: boolean }>();

  constructor(list: HTMLElement) {
    this.#list = list;
  }

  /** Draws entries, oldest first, and returns how many were left out. */
  draw(entries: readonly Entry[]): number {
    const newest = entries.slice(-mostRows);
    const isAtEnd = this.#isAtEnd();
    const kept = new Set(newest.map(({ number }) => number));
    for (const [number, { row }] of this.#rows) {
      if (kept.has(number)) continue;
      row.remove();
      this.#rows.delete(number);
    }
    let before: Element | null = null;
    for (const entry of newest) {
      const row = this.#rowOf(entry);
      const next: Element | null = before?.nextElementSibling ?? this.#list.firstElementChild;
      if (before === null ? this.#list.firstElementChild !== row : next !== row) {
        if (before === null) this.#list.prepend(row);
        else before.after(row);
      }
      before = row;
    }
    if (isAtEnd) this.toEnd();
    return entries.length - newest.length;
  }

  /** Shows the newest. */
  toEnd(): void {
    this.#list.scrollTop = this.#list.scrollHeight;
  }

  /** True while the reader follows what comes; who has scrolled up is left where they are. */
  #isAtEnd(): boolean {
    const { scrollTop, scrollHeight, clientHeight } = this.#list;
    return scrollHeight - scrollTop - clientHeight < 40;
  }

  #rowOf(entry: Entry): HTMLElement {
    const known = this.#rows.get(entry.number);
    const isSettled = entry.snapshot !== null;
    if (known?.isSettled === isSettled) return known.row;
    const row = rowOf(entry);
    if (known !== undefined) {
      if (known.row.querySelector('details')?.open)
        row.querySelector('details')?.setAttribute('open', '');
      known.row.replaceWith(row);
    }
    this.#rows.set(entry.number, { row, isSettled });
    return row;
  }
}

function rowOf(entry: Entry): HTMLElement {
  const { at, group, from, to, event, before, after } = entry;
  const isChange = after !== '' && after !== before;
  const summary = element(
    'summary',
    {},
    element('time', { class: 'mono', datetime: new Date(at).toISOString() }, clock(at)),
    element(
      'span',
      { class: 'who', title: `${group}: ${from || 'outside'} → ${to}` },
      element('b', {}, brief(group)),
      ` ${brief(from || 'outside')} → ${brief(to)}`,
    ),
    element('code', { class: 'type', title: event.type }, shortName(event.type)),
    element(
      'span',
      { class: isChange ? 'change' : 'change same' },
      isChange ? `${before || unknownBefore(event)} → ${after}` : after,
    ),
  );
  const details = element('details', {}, summary);
  details.addEventListener('toggle', () => {
    details.querySelector('pre')?.remove();
    // A payload is written out only while somebody looks at it.
    if (details.open) details.append(element('pre', { tabindex: '0' }, payloadOf(entry)));
  });
  return element('li', { 'data-to': to }, details);
}

/** What tells generated ids apart stands at both of their ends. */
function brief(name: string): string {
  return name.length > longestName ? `${name.slice(0, 8)}…${name.slice(-5)}` : name;
}

/** An actor that began before the page looked came from somewhere else. */
function unknownBefore({ type }: Entry['event']): string {
  return type === 'xstate.init' ? 'begins' : '…';
}

function payloadOf({ event, snapshot }: Entry): string {
  return JSON.stringify(snapshot === null ? { event } : { event, snapshot }, null, 2);
}

/** Hours to milliseconds, as the clock of this machine has them. */
function clock(at: number): string {
  const time = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const parts = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
  return `${parts}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}

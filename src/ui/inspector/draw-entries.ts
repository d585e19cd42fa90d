import { type Entry, shortName } from './actor-log.ts';
import { element } from './element.ts';

/** Maximum number of rendered rows; earlier entries can be found with a filter. */
const mostRows = 400;

/** Maximum length in characters of a name shown in full. */
const longestName = 24;

/** Renders the latest entries and reuses existing rows. */
export class EntryList {
  readonly #list: HTMLElement;
  readonly #rows = new Map<number, { row: HTMLElement; isSettled: boolean }>();

  constructor(list: HTMLElement) {
    this.#list = list;
  }

  /** Renders entries, oldest first, and returns the number of omitted ones. */
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

  /** Scrolls to the latest entry. */
  toEnd(): void {
    this.#list.scrollTop = this.#list.scrollHeight;
  }

  /** True while the list is scrolled to its end; a user who has scrolled up stays there. */
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
    // A payload is rendered only while it is expanded.
    if (details.open) details.append(element('pre', { tabindex: '0' }, payloadOf(entry)));
  });
  return element('li', { 'data-to': to }, details);
}

/** Generated IDs differ at both ends, so the middle is cut. */
function brief(name: string): string {
  return name.length > longestName ? `${name.slice(0, 8)}…${name.slice(-5)}` : name;
}

/** The earlier state of an actor started before the page was opened is unknown. */
function unknownBefore({ type }: Entry['event']): string {
  return type === 'xstate.init' ? 'begins' : '…';
}

function payloadOf({ event, snapshot }: Entry): string {
  return JSON.stringify(snapshot === null ? { event } : { event, snapshot }, null, 2);
}

/** Formats local time from hours to milliseconds. */
function clock(at: number): string {
  const time = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const parts = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
  return `${parts}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}

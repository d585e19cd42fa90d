import { visiblePieces } from '../dashboard/components/visible-text.ts';
import type { DecisionStory, ReceiptStory } from '../dashboard/views/receipts/receipt-story.ts';
import { type BundledCall, peopleOf } from './bundled-calls.ts';

/** A call of a report, and whether its evidence was verified. */
export interface ReportedCall extends BundledCall {
  check: 'signed' | 'unsigned' | 'broken';
}

/** Maximum number of calls that are drawn at once. */
const mostRows = 2_000;

const checks = {
  signed: ['allow signed', 'signed'],
  unsigned: ['open', 'not signed'],
  broken: ['deny', 'broken'],
} as const;

type Child = Node | string;

/** Creates an element; a string is shown as text. */
export function make(tag: string, attributes: Record<string, string> = {}, ...children: Child[]) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Shows an untrusted text with its hidden characters visible. */
function visible(text: string): HTMLElement {
  const pieces = visiblePieces(text).map((piece) =>
    piece.kind === 'plain' ? piece.text : make('span', { class: 'hidden' }, piece.text),
  );
  return make('bdi', {}, ...pieces);
}

/** Shows a time in the zone of the reader, with its RFC 3339 form as the title. */
export function moment(time: string): HTMLElement {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return visible(time);
  const shown = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  return make('time', { datetime: time, title: time }, shown);
}

/** Returns the day of a time in the zone of the reader, such as `2026-11-29`. */
function dayOf(time: string): string {
  const at = new Date(time);
  const two = (value: number) => String(value).padStart(2, '0');
  return Number.isNaN(at.getTime())
    ? ''
    : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** Fills the section of the calls: its filters, and a table in which each call opens to its evidence. */
export function showCalls(section: HTMLElement, calls: readonly ReportedCall[]): void {
  section.hidden = calls.length === 0;
  const body = section.querySelector('tbody') as HTMLTableSectionElement;
  const filters = [
    { select: '#day', of: (call: BundledCall) => [dayOf(call.story.askedAt)] },
    { select: '#person', of: peopleOf },
    { select: '#tool', of: (call: BundledCall) => [call.story.tool] },
  ].map(({ select, of }) => {
    const input = section.querySelector(select) as HTMLSelectElement;
    const values = [...new Set(calls.flatMap(of))].toSorted();
    const options = values.map((value) => make('option', { value }, visible(value).textContent));
    input.replaceChildren(make('option', { value: '' }, 'all'), ...options);
    return { input, of };
  });
  const draw = (): void => {
    const wanted = calls.filter((call) =>
      filters.every(({ input: { value }, of }) => value === '' || of(call).includes(value)),
    );
    body.replaceChildren(...wanted.slice(0, mostRows).flatMap(rowsOf));
    const cut = wanted.length > mostRows ? `, the first ${mostRows} shown; narrow the filters` : '';
    const count = section.querySelector('#count') as HTMLElement;
    count.textContent = `${wanted.length} of ${calls.length} calls${cut}`;
  };
  for (const { input } of filters) input.onchange = draw;
  draw();
}

function rowsOf(call: ReportedCall): HTMLElement[] {
  const { agent, story, check } = call;
  const [tone, words] = checks[check];
  const detail = make('tr', { class: 'detail' }, make('td', { colspan: '8' }));
  detail.hidden = true;
  const toggle = make(
    'button',
    { type: 'button', 'aria-expanded': 'false' },
    moment(story.askedAt),
  );
  toggle.onclick = () => {
    const isOpen = !detail.hidden;
    detail.hidden = isOpen;
    toggle.setAttribute('aria-expanded', String(!isOpen));
    detail.firstElementChild?.replaceChildren(...(isOpen ? [] : evidenceOf(call)));
  };
  const row = make('tr', { class: 'call' }, make('td', {}, toggle));
  const cells: Child[][] = [
    [visible(agent)],
    [make('b', {}, visible(story.tool))],
    [story.args === '' ? digest(story.argsSha256) : make('code', {}, visible(oneLine(story.args)))],
    story.rulings.map(({ decision, rule }) =>
      make('p', {}, pill(decision, toneOf(decision)), ' ', visible(rule)),
    ),
    story.decisions.length === 0 ? ['none'] : story.decisions.map(decisionOf),
    [outcomeOf(call)],
    [pill(words, tone)],
  ];
  row.append(...cells.map((cell) => make('td', {}, ...cell)));
  return [row, detail];
}

function decisionOf({ approver, verb, tone, method, isRefused }: DecisionStory): HTMLElement {
  const by = approver === '' ? 'a person without a name' : approver;
  return make(
    'p',
    {},
    pill(isRefused ? 'refused' : verb, tone),
    ' ',
    visible(by),
    make('small', {}, method),
  );
}

function outcomeOf({ story: { run, waitEnded }, isUnderWay }: BundledCall): HTMLElement {
  if (run !== null) {
    const words = run.outcome === 'unknown' ? 'outcome unknown' : run.outcome.replaceAll('_', ' ');
    return make('p', {}, pill(words, run.tone), make('small', {}, visible(run.error)));
  }
  if (waitEnded !== '') return make('p', {}, visible(waitEnded));
  return make('p', {}, isUnderWay ? 'not ended yet' : 'did not run');
}

/** Everything that the lines state of a call, and its receipt. */
function evidenceOf({ story, rules, jws }: BundledCall): HTMLElement[] {
  const { requester, verifiedBy, rulings, decisions, run, lines } = story;
  const facts: [name: string, ...values: Child[]][] = [
    ['Requested by', visible(requester === '' ? 'anonymous caller' : requester)],
    ...(verifiedBy === '' ? [] : [['Authenticated by', visible(verifiedBy)] as [string, Child]]),
    ['Task, call', visible(`${story.task}, ${story.call}`)],
    ...(story.context === '' ? [] : [['Shown', visible(story.context)] as [string, Child]]),
    ...(story.args === '' ? [] : [['Arguments', block(story.args)] as [string, Child]]),
    ['args_sha256', make('code', {}, visible(story.argsSha256))],
    ...rulings.map(({ decision, rule, reason, policySha256, at }, index): [string, ...Child[]] => [
      'Rule',
      make('p', {}, pill(decision, toneOf(decision)), ' ', visible(rule), ' ', moment(at)),
      make('p', {}, visible(reason)),
      ...(rules[index] === '' ? [] : [block(rules[index] ?? '')]),
      make('small', {}, `policy_sha256 ${policySha256}`),
    ]),
    ...decisions.map((decision): [string, ...Child[]] => [
      'Decision',
      decisionOf(decision),
      make('p', {}, moment(decision.at)),
      ...(decision.note === '' ? [] : [make('p', {}, visible(`“${decision.note}”`))]),
    ]),
    ...(run === null ? [] : [ranOf(run)]),
    ['Lines', block(lines.map(({ event, sha256 }) => `${sha256}  ${event}`).join('\n'))],
    ['Receipt', jws === null ? 'none in this bundle' : block(jws)],
  ];
  return [
    make(
      'dl',
      {},
      ...facts.flatMap(([name, ...values]) => [make('dt', {}, name), make('dd', {}, ...values)]),
    ),
  ];
}

function ranOf(run: NonNullable<ReceiptStory['run']>): [string, ...Child[]] {
  const took = run.milliseconds === null ? '' : `, ${run.milliseconds} ms`;
  return [
    'Ran',
    make('p', {}, moment(run.startedAt), took),
    ...(run.resultSha256 === '' ? [] : [make('small', {}, `result_sha256 ${run.resultSha256}`)]),
  ];
}

function toneOf(decision: string): string {
  const tones: Record<string, string> = { allow: 'allow', deny: 'deny', modify: 'modify' };
  return tones[decision] ?? (decision === 'hold' ? 'hold' : 'plain');
}

function pill(text: string, tone: string): HTMLElement {
  return make('span', { class: `pill ${tone}` }, visible(text));
}

function block(text: string): HTMLElement {
  return make('pre', {}, visible(text));
}

function digest(sha256: string): HTMLElement {
  return make('code', { title: sha256 }, `sha256 ${sha256.slice(0, 16)}`);
}

function oneLine(args: string): string {
  return args.replace(/\s*\n\s*/g, ' ');
}
